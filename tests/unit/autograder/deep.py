"""Folders as deep as no program expects."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def deep_folder(top: Path, depth: int = 1100, *, moved: Path | None = None) -> Iterator[Path]:
    """Make a file below so many folders in `top`, deeper than Python calls itself; yield its path, remove all after.

    moved: remove this, too, below which the folders may have been moved meanwhile.
    """
    path = top / "a"
    for _ in range(depth):
        path.mkdir()
        path /= "a"
    path.write_text("x")
    try:
        yield path
    finally:  # pytest could not
        subprocess.run(["rm", "-rf", top / "a", *filter(None, [moved])], check=True)
