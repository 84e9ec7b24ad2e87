"""A student's own copies of the labs: made once, updated when a lab is released again, opened in JupyterLab."""

from __future__ import annotations

from labkit._work.copies import Copy, WorkError, bring_up_to_date

__all__ = ["Copy", "WorkError", "bring_up_to_date"]
