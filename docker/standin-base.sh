#!/usr/bin/env bash
# Makes a base image from Debian's packages where no container registry is reachable.
# usage: docker/standin-base.sh [TAG]   (default dl-scale-practicum-base:bookworm); needs root, mmdebstrap and a Docker engine
set -euo pipefail

tag=${1:-dl-scale-practicum-base:bookworm}
docker=$("$(dirname "$0")/client.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mmdebstrap --quiet --variant=minbase --include=ca-certificates,python3,python3-dev,python3-venv,tini,curl bookworm "$work/base.tar"
"$docker" import --change 'ENV LANG=C.UTF-8' "$work/base.tar" "$tag"
