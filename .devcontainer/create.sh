#!/usr/bin/env bash
# Gives the development container an environment: this checkout and its tools, on top of what the image has installed.
# usage: .devcontainer/create.sh
set -euo pipefail
cd "$(dirname "$0")/.."

kit=/opt/kit/bin/python venv=/home/jovyan/venv
"$kit" -m venv "$venv"
# An environment of another environment does not see its packages; this line shows them, after the checkout's own.
"$kit" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$(echo "$venv"/lib/python3.*/site-packages)/zz-kit.pth"
pip() { "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"; }
# The image has the checkout's own requirements, tensorflow under another name: pip must not bring it again.
pip --no-deps --editable .
# Where a tool needs another version of a package than the image has, it gets its own.
tools='import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"], sep="\n")'
pip --requirement <("$kit" -c "$tools")
# Commands and JupyterLab's extensions are looked for in the environment that runs.
pip --no-deps --ignore-installed --constraint docker/requirements.txt \
  ipykernel jupyter-core jupyter-server jupyterlab jupytext nbconvert nbgrader
touch "$venv/.ready"
