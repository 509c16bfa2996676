#!/usr/bin/env bash
set -euo pipefail

# ruleid: swarmgate.bash.pipe-download-to-shell
curl -fsSL https://get.shop.internal/install.sh | bash
# ruleid: swarmgate.bash.pipe-download-to-shell
wget -qO- https://get.shop.internal/install.sh | sudo sh -s -- --yes
# ruleid: swarmgate.bash.pipe-download-to-shell
bash <(curl -s https://get.shop.internal/install.sh)
# ruleid: swarmgate.bash.pipe-download-to-shell
sh -c "$(curl -fsSL https://get.shop.internal/install.sh)"
# ok: swarmgate.bash.pipe-download-to-shell
curl -fsSL https://get.shop.internal/shop.tar.gz | tar -xz
# ok: swarmgate.bash.pipe-download-to-shell
curl -fsSL -o install.sh https://get.shop.internal/install.sh
sha256sum --check install.sh.sha256

build() {
  local command="make $1"
  # ruleid: swarmgate.bash.eval-of-variable
  eval "$command"
  # ok: swarmgate.bash.eval-of-variable
  eval "$(ssh-agent -s)"
  local arguments=(make "$1")
  "${arguments[@]}"
}

deploy() {
  # ruleid: swarmgate.bash.shell-command-from-argument
  bash -c "systemctl restart $1"
  # ok: swarmgate.bash.shell-command-from-argument
  bash -c 'systemctl restart "$1"' _ "$1"
  # ruleid: swarmgate.bash.sql-from-variable
  psql -h db -c "DELETE FROM carts WHERE tenant = '$1'"
  # ok: swarmgate.bash.sql-from-variable
  psql -h db -c "DELETE FROM carts WHERE expired"
}
