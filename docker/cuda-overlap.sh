#!/usr/bin/env bash
# Counts the files of cuDNN and NCCL that PyTorch's and tensorflow's CUDA packages both bring, and those that differ.
# usage: docker/cuda-overlap.sh   (after docker/build.sh student cuda and docker/build.sh tf-cuda)
set -euo pipefail

docker=$("$(dirname "$0")/client.sh")
sums() {
  "$docker" run --rm --network none --entrypoint bash "dl-scale-practicum:$1" -c \
    'cd /opt/kit/lib/python3*/site-packages/nvidia && find cudnn nccl -type f ! -name "*.pyc" -exec sha256sum {} +' |
    awk '{print $2, $1}' | sort
}
join <(sums cuda) <(sums tf-cuda) | awk '
  { split($1, part, "/"); both[part[1]]++; if ($2 != $3) differ[part[1]]++ }
  END { for (name in both) printf "%s: %d files in both, %d of them differ\n", name, both[name], differ[name] }' | sort
