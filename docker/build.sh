#!/usr/bin/env bash
# Builds one image of this checkout.
# usage: docker/build.sh [student|instructor|tf-cuda|hub] [cpu|cuda]
# TAG: its name. BASE_IMAGE: another base; where no registry answers, one is made from Debian's packages.
# WHEELS: a folder of further wheels for pip. CA: a certificate that the build needs; by default the host's, if pip is told of one.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:-student} torch=${2:-cpu}
docker=$(docker/client.sh)
case $target in
  student) name=$torch ;;
  instructor) name=$torch-$target ;;
  *) name=$target ;;
esac
tag=${TAG:-dl-scale-practicum:$name}
base=${BASE_IMAGE:-$(sed -n 's/^ARG BASE_IMAGE=//p' docker/Dockerfile)}
standin=dl-scale-practicum-base:bookworm
options=()

if [ -z "${BASE_IMAGE:-}" ] && ! "$docker" image inspect "$base" >/dev/null 2>&1; then
  if "$docker" image inspect "$standin" >/dev/null 2>&1; then
    base=$standin
  elif ! timeout 120 "$docker" pull --quiet "$base" >/dev/null 2>&1; then
    echo "build.sh: no registry answers for $base; making a base from Debian's packages" >&2
    docker/standin-base.sh "$standin" >/dev/null
    base=$standin
  fi
fi
wheels=${WHEELS:-${PIP_FIND_LINKS:-}}
if [ -n "$wheels" ] && [ -d "$wheels" ]; then
  # Each import makes an image of the folder's size: once is enough, until other wheels lie in it.
  image=dl-scale-practicum-wheels:$(cd "$wheels" && find . -type f -printf '%P %s\n' | sort | sha256sum | cut -c 1-12)
  if ! "$docker" image inspect "$image" >/dev/null 2>&1; then
    tar -C "$wheels" --sort=name --mtime=@0 -c . | "$docker" import - "$image" >/dev/null
  fi
  options+=(--build-arg "WHEELS_IMAGE=$image")
fi
ca=${CA:-${PIP_CERT:-}}
if [ -n "$ca" ]; then options+=(--secret "id=ca,src=$ca"); fi
if [ -n "${TORCH_INDEX_URL:-}" ]; then options+=(--build-arg "TORCH_INDEX_URL=$TORCH_INDEX_URL"); fi

label=org.opencontainers.image
options+=(--label "$label.version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)")
if revision=$(git rev-parse HEAD 2>/dev/null); then
  options+=(--label "$label.revision=$revision$(git diff --quiet HEAD || echo -modified)")
  options+=(--label "$label.created=$(git show --no-patch --format=%cI HEAD)")
fi

DOCKER_BUILDKIT=1 "$docker" build --network=host --progress=plain -f docker/Dockerfile --target "$target" \
  --build-arg "BASE_IMAGE=$base" --build-arg "TORCH=$torch" "${options[@]}" --tag "$tag" .
