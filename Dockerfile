# The team server, with what its agents need: git, and bubblewrap for the sandbox of their commands.
#
#   docker build --tag swarmgate .
#   docker run --rm --volume swarmgate:/data swarmgate server accounts add ada --role admin
#   docker run --publish 127.0.0.1:8642:8642 --volume swarmgate:/data swarmgate
#
# The second line prints a login link. A reverse proxy in front of it does TLS; docs/server.md has one.
FROM python:3.12-slim-bookworm AS build

WORKDIR /source
COPY . .
RUN python -m venv /opt/swarmgate \
    && /opt/swarmgate/bin/pip install --no-cache-dir '.[server]'

FROM python:3.12-slim-bookworm

# Versions are those of Debian's stable release: a pinned one is gone with its next security fix.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --no-install-recommends --yes bubblewrap ca-certificates git openssh-client \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 swarmgate \
    && install --directory --owner swarmgate --mode 0700 /data

COPY --from=build /opt/swarmgate /opt/swarmgate
ENV PATH=/opt/swarmgate/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SWARM_SERVER__HOME=/data \
    SWARM_SERVER__HOST=0.0.0.0 \
    SWARM_SERVER__BEHIND_PROXY=true

USER 10001
WORKDIR /home/swarmgate
VOLUME /data
EXPOSE 8642
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8642/readyz', timeout=4)"]
ENTRYPOINT ["swarm"]
CMD ["serve"]
