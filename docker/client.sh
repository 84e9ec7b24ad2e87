#!/usr/bin/env bash
# Prints the Docker client: Debian's before one that another package put on the PATH, for only it speaks with Debian's engine.
if [ -x /usr/bin/docker ]; then
  echo /usr/bin/docker
elif ! command -v docker; then
  echo "no Docker client on this machine: apt-get install docker.io" >&2
  exit 1
fi
