#!/opt/kit/bin/python
"""Exit 0 if the Jupyter server of this container answers."""

import json
import sys
import urllib.request
from pathlib import Path

from jupyter_core.paths import jupyter_runtime_dir


def main() -> int:
    """Ask the server that started last for its version, which needs no token."""
    notes = sorted(Path(jupyter_runtime_dir()).glob("jpserver-*.json"), key=lambda note: note.stat().st_mtime)
    if not notes:
        print("no Jupyter server has started")
        return 1
    url = json.loads(notes[-1].read_text(encoding="utf-8"))["url"]
    with urllib.request.urlopen(f"{url}api", timeout=2) as answer:
        print(answer.read().decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
