# The gateway as an image: built from the locks in two stages, run without build tools or root in the last.
# The pages are the same on every architecture, so they are built on that of the builder.
FROM --platform=$BUILDPLATFORM node:22-slim AS web
WORKDIR /src
COPY scripts ./scripts
COPY web ./web
# With CI set a build without GraphiQL is a failure.
RUN CI=1 scripts/web.sh

FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml hatch_build.py requirements.lock README.md CHANGELOG.md LICENSE ./
COPY scripts ./scripts
COPY ugs ./ugs
COPY backends ./backends
COPY schema ./schema
COPY gateway ./gateway
COPY conformance ./conformance
COPY --from=web /src/gateway/ugs_gateway/static ./gateway/ugs_gateway/static
RUN scripts/install_app.sh /app requirements.lock

FROM python:3.13-slim
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin ugs \
    && install --directory --owner=ugs --group=ugs /data
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH \
    PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8000/readyz', timeout=3)"]
# A container listens on all of its own addresses, so it asks for a login (UGS_STORE_KEYS, UGS_TOKEN_FILE, UGS_JWT_KEY_FILE
# or UGS_JWT_KEYS_URL). To serve without one, say so in the command: add --allow-open, and --allowed-hosts for names.
CMD ["ugs", "serve", "--store", "file:/data", "--host", "0.0.0.0", "--port", "8000"]
