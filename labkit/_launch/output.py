"""What ranks print, as a person reads it."""

from __future__ import annotations

__all__ = ["line_of", "numbered"]


def line_of(data: bytes) -> str:
    """Return a line that a rank has written; of one that a progress bar has overwritten, its last state."""
    return data.rstrip(b"\r").rsplit(b"\r", 1)[-1].decode(errors="replace")


def numbered(number: int, line: str) -> None:
    """Print a line with the number of its rank."""
    print(f"[rank {number}] {line}")
