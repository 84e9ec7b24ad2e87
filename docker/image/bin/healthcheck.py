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
    note = json.loads(notes[-1].read_text(encoding="utf-8"))
    # The note's own address has the container's name, which without a network nobody resolves.
    host = "127.0.0.1" if note["hostname"] in ("0.0.0.0", "") else note["hostname"]
    url = f"http{'s' if note['secure'] else ''}://{host}:{note['port']}{note['base_url']}api"
    with urllib.request.urlopen(url, timeout=2) as answer:
        print(answer.read().decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
