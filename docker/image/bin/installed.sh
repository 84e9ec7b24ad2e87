#!/bin/bash
# Ends the building of an image: whether all packages fit together, and lists of them.
set -euo pipefail

# tensorflow-cpu is tensorflow under another name.
if { pip check || true; } | grep -v -e 'requires tensorflow, which is not installed' -e 'No broken requirements'; then
  echo "installed.sh: these packages do not fit together" >&2
  exit 1
fi
{
  pip list --format=freeze
  dpkg-query --show --showformat '${Package}=${Version}\n'
} > /opt/kit/versions.txt
/opt/tools/bin/cyclonedx-py environment --output-reproducible --output-file /opt/kit/sbom.cdx.json /opt/kit/bin/python
