"""Make the students' wheel of the instructor's: the same without the autograder and its command.

Usage: python without_grader.py WHEEL FOLDER
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main(wheel: str, folder: str) -> None:
    """Unpack the wheel, take the grader out, and pack it again with a record of what is left."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", scratch, wheel], check=True)
        (unpacked,) = Path(scratch).iterdir()
        shutil.rmtree(unpacked / "autograder")
        (commands,) = unpacked.glob("*.dist-info/entry_points.txt")
        lines = commands.read_text(encoding="utf-8").splitlines(keepends=True)
        commands.write_text("".join(line for line in lines if not line.startswith("autograder ")), encoding="utf-8")
        Path(folder).mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, str(unpacked)], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
