# The runtime image of the function: only the binary. It opens no connections, so it
# needs no CA certificates, and it writes no files.
#
# `make xpkg` builds the same image from this file, without Docker: files, user and
# entrypoint are those of the last stage, and releases are built with the Go version
# of the first. `make runtime` builds the binary.
FROM --platform=$BUILDPLATFORM docker.io/library/golang:1.26.11 AS build
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make runtime GOARCH=$TARGETARCH OUT=/function-markdownview

FROM scratch
COPY --from=build --chmod=0555 /function-markdownview /function-markdownview
# gRPC, and HTTP for metrics and probes.
EXPOSE 9443 8080
# Any user works; by default Crossplane sets 2000. With a number "runAsNonRoot" works
# in pods that set no user.
USER 65532:65532
LABEL org.opencontainers.image.title="function-markdownview" \
      org.opencontainers.image.description="Crossplane composition function that serves the Markdown of a MarkdownView as a web book" \
      org.opencontainers.image.source="https://github.com/crossplane-contrib/function-markdownview" \
      org.opencontainers.image.licenses="Apache-2.0"
ENTRYPOINT ["/function-markdownview"]
