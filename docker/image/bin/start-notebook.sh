#!/bin/bash
# JupyterLab, or under a JupyterHub its single-user server; further arguments are the server's.
set -e
if [ -n "${JUPYTERHUB_API_TOKEN:-}" ]; then
  exec start-singleuser.sh "$@"
fi
if [ -z "${PRACTICUM_COURSE:-}" ]; then
  # As `labkit lab` does: without an exchange nbgrader's list of assignments would show errors.
  JUPYTER_CONFIG_PATH=$(python -c 'import os; from labkit._work.jupyterlab import settings; print(*settings(os.environ).values())')
  export JUPYTER_CONFIG_PATH
fi
# nbgrader reads the course's settings where the server starts.
cd "${PRACTICUM_COURSE:-$HOME}"
exec jupyter lab "$@"
