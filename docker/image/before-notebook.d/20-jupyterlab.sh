# shellcheck shell=bash
# JupyterLab's settings for students, as `labkit lab` has them, however it is started: by a hub or Binder, too.
if [ -z "${PRACTICUM_COURSE:-}" ]; then
  JUPYTER_CONFIG_PATH=$(python -c 'import os; from labkit._work.jupyterlab import settings; print(*settings(os.environ).values())')
  export JUPYTER_CONFIG_PATH
fi
