#!/bin/bash
# JupyterLab, or under a JupyterHub its single-user server; further arguments are the server's.
set -e
if [ -n "${JUPYTERHUB_API_TOKEN:-}" ]; then
  exec start-singleuser.sh "$@"
fi
# nbgrader reads the course's settings where the server starts.
cd "${PRACTICUM_COURSE:-$HOME}"
exec jupyter lab "$@"
