#!/bin/bash
# What a JupyterHub starts.
exec jupyterhub-singleuser "$@"
