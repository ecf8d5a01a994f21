# The runtime image of the function: the binary, and nothing else. It opens no
# connection but those it is asked to answer, so it needs no CA certificates, and
# it writes no file.
#
# `make xpkg` builds the same image without Docker, from this file: its last
# stage is the one place for files, user and entrypoint, its first the one for the
# Go release that releases are built with. How the binary is built is said by
# `make runtime` alone.
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
# Crossplane runs functions as 2000 unless told otherwise; any user will do. The
# number makes "runAsNonRoot" work with no user named in the pod.
USER 65532:65532
LABEL org.opencontainers.image.title="function-markdownview" \
      org.opencontainers.image.description="Composes a MarkdownView into the ConfigMap, Deployment and Service of an mdBook viewer" \
      org.opencontainers.image.source="https://github.com/crossplane-contrib/function-markdownview" \
      org.opencontainers.image.licenses="Apache-2.0"
ENTRYPOINT ["/function-markdownview"]
