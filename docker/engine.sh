#!/usr/bin/env bash
# Exits 0 if a Docker engine answers; starts one if this is root and there is one to start. Otherwise says why not.
set -euo pipefail

client=$("$(dirname "$0")/client.sh")
if "$client" info >/dev/null 2>&1; then exit 0; fi
if ! command -v dockerd >/dev/null; then
  echo "no Docker engine answers, and dockerd is not installed: apt-get install docker.io" >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "no Docker engine answers, and only root can start one" >&2
  exit 1
fi
log=$(mktemp --suffix=.dockerd.log)
nohup dockerd --mtu 1400 >"$log" 2>&1 </dev/null &
for _ in $(seq 60); do
  if "$client" info >/dev/null 2>&1; then exit 0; fi
  sleep 0.5
done
echo "dockerd does not start: $(grep -o 'msg=.*' "$log" | tail -1)" >&2
exit 1
