# ok: swarmgate.dockerfile.floating-base-image
FROM golang:1.23.4-bookworm AS build
# ok: swarmgate.dockerfile.last-user-root
USER root
RUN apt-get update
USER 1000
RUN go build -o /shop ./cmd/shop

# ok: swarmgate.dockerfile.floating-base-image
FROM build AS test
USER 1000
RUN go test ./...

# ok: swarmgate.dockerfile.floating-base-image
FROM gcr.io/distroless/static-debian12@sha256:0000000000000000000000000000000000000000000000000000000000000000
COPY --from=build /shop /shop
USER nonroot
# ok: swarmgate.dockerfile.no-user
ENTRYPOINT ["/shop"]
