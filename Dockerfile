# The gateway as an image: built from the locks in two stages, run without build tools or root in the last.
FROM node:22-slim AS web
WORKDIR /src
COPY scripts ./scripts
COPY web ./web
# With CI set a build without GraphiQL is a failure.
RUN CI=1 scripts/web.sh

FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml requirements.lock README.md CHANGELOG.md LICENSE ./
COPY scripts ./scripts
COPY ugs ./ugs
COPY backends ./backends
COPY schema ./schema
COPY gateway ./gateway
COPY conformance ./conformance
COPY --from=web /src/gateway/static ./gateway/static
RUN scripts/install_app.sh /app requirements.lock

FROM python:3.13-slim
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin ugs \
    && install --directory --owner=ugs --group=ugs /data
COPY --from=build /app /app
# A container listens on all of its own addresses; what reaches it is decided by how its port is published.
ENV PATH=/app/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    UGS_ALLOW_OPEN=on
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8000/readyz', timeout=3)"]
CMD ["ugs", "serve", "--store", "file:/data", "--host", "0.0.0.0", "--port", "8000"]
