# The programs alone: no shell, no package manager, not root.
#
#   docker build -t mcpgraph .
#   docker run -p 8080:8080 -e ANN_TOKEN -v "$PWD/tools.yaml:/config/tools.yaml:ro" mcpgraph

FROM --platform=$BUILDPLATFORM golang:1.26@sha256:6c2a5538f964f1c82f97ad14988bf05de100d922d159d0e398b54c7b0ca0c6c9 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
# With .git, from which Go takes the version that "mcpgraph version" prints.
COPY . .
ARG TARGETOS TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -tags grpcnotrace -ldflags="-s -w" -o /programs/ ./cmd/...

FROM gcr.io/distroless/static-debian13:nonroot@sha256:f7f8f729987ad0fdf6b05eeeae94b26e6a0f613bdf46feea7fc40f7bd72953e6
# mcpgraph, and mcpgraph-temporal, which it becomes for durable runs.
COPY --from=build /programs/ /
# The user "nonroot" by its number, which Kubernetes needs for runAsNonRoot.
USER 65532:65532
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=6s --start-period=5s --retries=3 \
    CMD ["/mcpgraph", "health", "http://127.0.0.1:8080"]
ENTRYPOINT ["/mcpgraph"]
CMD ["serve", "/config/tools.yaml", "--http", "0.0.0.0:8080"]
