"""Write docker/hub/requirements.txt: exact versions of the hub's packages, the students' image's where it has them.

Usage: python docker/hub/lock.py, with Python 3.11 as in the image. Asks pip for a solution without installing it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
LOCK = HERE / "requirements.txt"
SHARED = HERE.parent / "requirements.txt"
PACKAGES = (
    "jupyterhub",
    "dockerspawner>=14,<15",
    "jupyterhub-nativeauthenticator>=1.3,<2",
    "jupyterhub-idle-culler>=2,<3",
)


def resolve() -> dict[str, str]:
    """Return the version of each package that pip would install into an empty environment."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    command += ["--constraint", str(SHARED), *PACKAGES]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found = (item["metadata"] for item in json.loads(done.stdout)["install"])
    return {re.sub(r"[-_.]+", "-", item["name"]).lower(): item["version"] for item in found}


if __name__ == "__main__":
    lines = [f"{name}=={version}\n" for name, version in sorted(resolve().items())]
    LOCK.write_text("# Written by `python docker/hub/lock.py`.\n" + "".join(lines), encoding="utf-8")
