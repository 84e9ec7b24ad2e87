#!/bin/bash
# JupyterLab, or under a JupyterHub its single-user server; further arguments are the server's.
set -e
# nbgrader reads the course's settings where the server starts.
cd "${PRACTICUM_COURSE:-$HOME}"
if [ -n "${JUPYTERHUB_API_TOKEN:-}" ]; then
  exec jupyterhub-singleuser "$@"
fi
exec jupyter lab "$@"
