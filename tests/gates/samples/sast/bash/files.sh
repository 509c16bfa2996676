#!/bin/bash

clean() {
  # ruleid: swarmgate.bash.unquoted-removal
  rm -rf $BUILD_DIR
  # ruleid: swarmgate.bash.unquoted-removal
  rm -rf $1/cache
  # ok: swarmgate.bash.unquoted-removal
  rm -rf "$BUILD_DIR"
  # ok: swarmgate.bash.unquoted-removal
  rm -rf build dist
  # ruleid: swarmgate.bash.removal-of-empty-root
  rm -rf "$BUILD_DIR"/*
  # ok: swarmgate.bash.removal-of-empty-root
  rm -rf "${BUILD_DIR:?}"/*
  # ok: swarmgate.bash.removal-of-empty-root
  rm -rf "$BUILD_DIR/cache"
}

prepare() {
  # ruleid: swarmgate.bash.world-writable
  chmod -R 777 /srv/uploads
  # ruleid: swarmgate.bash.world-writable
  chmod a+rwx run.sh
  # ok: swarmgate.bash.world-writable
  chmod 755 run.sh
  # ok: swarmgate.bash.world-writable
  chmod +x run.sh
  # ruleid: swarmgate.bash.predictable-temporary-file
  scratch="/tmp/shop.$$"
  # ok: swarmgate.bash.predictable-temporary-file
  scratch="$(mktemp -d)"
  echo "$scratch"
}
