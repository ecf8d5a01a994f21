# The runtime image of the function contains only the binary. The function opens no
# connections, so it needs no CA certificates, and it writes no files.
#
# `make xpkg` builds the same image without Docker, and `make test-packages` compares them.
# `make runtime` builds the binary. The Go version of releases is the one here.
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
# The function runs as any user. Crossplane sets 2000 by default. A numeric user is
# required for runAsNonRoot in pods without runAsUser.
USER 65532:65532
LABEL org.opencontainers.image.title="function-markdownview" \
      org.opencontainers.image.description="Crossplane composition function that serves the Markdown of a MarkdownView as a web book" \
      org.opencontainers.image.source="https://github.com/crossplane-contrib/function-markdownview" \
      org.opencontainers.image.licenses="Apache-2.0"
ENTRYPOINT ["/function-markdownview"]
