"""What a probe reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "Status"]

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `fail`: labs will not work; `warn`: some part may not; `fix`: what to do."""

    status: Status
    what: str
    detail: str
    fix: str = ""
