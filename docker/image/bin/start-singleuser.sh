#!/bin/bash
# What a JupyterHub starts; nbgrader reads the course's settings where the server starts.
set -e
cd "${PRACTICUM_COURSE:-$HOME}"
exec jupyterhub-singleuser "$@"
