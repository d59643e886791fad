# syntax=docker/dockerfile:1

# A release replaces the tag with the digest that its build saw: docker buildx imagetools inspect.
FROM python:3.13-slim-trixie AS build
ENV UV_COMPILE_BYTECODE=1 \
    UV_NO_CACHE=1 \
    UV_LINK_MODE=copy \
    UV_PROJECT_ENVIRONMENT=/opt/video-research \
    UV_PYTHON_DOWNLOADS=never
RUN pip install --no-cache-dir "uv==0.13.8"
WORKDIR /source
COPY . .
RUN uv sync --no-progress --no-editable --no-default-groups --extra local

FROM python:3.13-slim-trixie
LABEL org.opencontainers.image.title="video-research" \
      org.opencontainers.image.description="Watch videos and search what was learned: an MCP server" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      io.modelcontextprotocol.server.name="io.github.video-research/video-research"
RUN useradd --system --uid 10001 --create-home vr \
    && install --directory --owner vr --group vr /data /videos
COPY --from=build /opt/video-research /opt/video-research
ENV PATH=/opt/video-research/bin:$PATH \
    VR_ALLOWED_ROOTS=/videos \
    VR_CACHE_DIR=/data/cache \
    VR_CONFIG_DIR=/data/config \
    VR_STATE_DIR=/data/state
USER 10001
WORKDIR /videos
VOLUME ["/data"]
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8765/health', timeout=4)"]
CMD ["vr", "serve", "--http", "0.0.0.0:8765"]
