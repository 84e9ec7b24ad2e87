#!/bin/bash
# Prepares the user's home, runs the hooks and becomes the command. As root it first takes NB_UID and NB_GID on.
set -e

hooks() {
  local hook
  for hook in "/usr/local/bin/$1.d"/*; do
    case $hook in
      *.sh) source "$hook" ;;
      *) if [ -x "$hook" ] && [ -f "$hook" ]; then "$hook"; fi ;;
    esac
  done
}

[ $# -gt 0 ] || set -- bash

if [ "$(id -u)" = 0 ]; then
  hooks start-notebook
  if [ "$(id -g "$NB_USER")" != "$NB_GID" ]; then
    getent group "$NB_GID" >/dev/null || groupadd --gid "$NB_GID" "$NB_USER"
    usermod --gid "$NB_GID" "$NB_USER"
  fi
  [ "$(id -u "$NB_USER")" = "$NB_UID" ] || usermod --non-unique --uid "$NB_UID" "$NB_USER" 2>/dev/null
  export HOME="/home/$NB_USER"
  mkdir -p "$HOME"
  [ "$(stat -c %u:%g "$HOME")" = "$NB_UID:$NB_GID" ] || chown "$NB_UID:$NB_GID" "$HOME"
  if [ "${CHOWN_HOME:-}" = yes ]; then chown -R "$NB_UID:$NB_GID" "$HOME"; fi
  cd "$HOME"
  exec setpriv --reuid "$NB_UID" --regid "$NB_GID" --init-groups "$0" "$@"
fi

if [ ! -w "$HOME" ]; then
  echo "start.sh: user $(id -u) cannot write to $HOME" >&2
  echo "hint: give the volume to this user (chown $(id -u):$(id -g)), or start with --user root -e NB_UID=$(id -u) -e NB_GID=$(id -g)" >&2
  exit 1
fi
if [ ! -w /tmp ]; then
  # A read-only container without a tmpfs for it: ranks and kernels need somewhere to write.
  export TMPDIR="$HOME/.tmp"
  mkdir -p "$TMPDIR"
fi
hooks before-notebook
exec "$@"
