#!/bin/bash
# Ends the building of an image: whether all packages fit together, and a list of them.
set -euo pipefail

# tensorflow-cpu is tensorflow under another name.
if { pip check || true; } | grep -v -e 'requires tensorflow, which is not installed' -e 'No broken requirements'; then
  echo "installed.sh: these packages do not fit together" >&2
  exit 1
fi
pip list --format=freeze > /opt/kit/versions.txt
