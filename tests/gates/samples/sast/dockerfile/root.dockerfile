# ruleid: swarmgate.dockerfile.floating-base-image
FROM ubuntu:latest
# ruleid: swarmgate.dockerfile.secret-in-environment
ENV DB_PASSWORD=example
# ok: swarmgate.dockerfile.secret-in-environment
ENV DB_PASSWORD_FILE=/run/secrets/db
# ok: swarmgate.dockerfile.secret-in-environment
ENV MODE=production
# ruleid: swarmgate.dockerfile.add-from-url
ADD https://get.shop.internal/shop.tar.gz /opt/
# ok: swarmgate.dockerfile.add-from-url
ADD shop.tar.gz /opt/
# ruleid: swarmgate.dockerfile.pipe-download-to-shell
RUN curl -fsSL https://get.shop.internal/install.sh | bash -s -- --yes
# ok: swarmgate.dockerfile.pipe-download-to-shell
RUN curl -fsSL https://get.shop.internal/shop.tar.gz | tar -xz -C /opt
# ruleid: swarmgate.dockerfile.tls-verification-off
RUN apt-get update && \
    wget --no-check-certificate https://get.shop.internal/shop.tar.gz
# ok: swarmgate.dockerfile.tls-verification-off
RUN pip install --no-cache-dir shop==1.2
# ruleid: swarmgate.dockerfile.world-writable
RUN mkdir /data && chmod -R 777 /data
# ok: swarmgate.dockerfile.world-writable
RUN chmod 755 /opt/run.sh
# ruleid: swarmgate.dockerfile.sudo-in-run
RUN sudo apt-get install -y git
# ok: swarmgate.dockerfile.sudo-in-run
RUN apt-get install -y --no-install-recommends git
# ruleid: swarmgate.dockerfile.copy-of-secret-file
COPY .env /app/.env
# ok: swarmgate.dockerfile.copy-of-secret-file
COPY .env.example /app/.env
# ruleid: swarmgate.dockerfile.ssh-port
EXPOSE 22
# ok: swarmgate.dockerfile.ssh-port
EXPOSE 8080
# ruleid: swarmgate.dockerfile.last-user-root
USER root
CMD ["/opt/run.sh"]
