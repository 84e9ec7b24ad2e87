"""Refuses a notebook that takes far more memory when it is read than it does on disk, before it is read."""

from __future__ import annotations

import re

from autograder.errors import SubmissionError

__all__ = ["check_size"]

_MAX_VALUES, _MAX_NESTED = 3_000_000, 300_000
"""Values, and of these lists and objects, in a file: read, each takes up to two hundred bytes however short it is."""
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_PIECE = re.compile(rb'(?:[^"]++|"(?:[^"\\]++|\\.)*+"?){1,20000}+', re.DOTALL)


def check_size(content: bytes, name: str) -> None:
    """Raise SubmissionError for a file that takes far more memory when it is read than it does on disk."""
    if content.count(b",") <= _MAX_VALUES and content.count(b"[") + content.count(b"{") <= _MAX_NESTED:
        return
    values = nested = 0
    for piece in _PIECE.finditer(content):
        outside = _STRING.sub(b"", piece[0])
        values += outside.count(b",")
        nested += outside.count(b"[") + outside.count(b"{")
        if values > _MAX_VALUES or nested > _MAX_NESTED:
            raise SubmissionError(f"{name}: too many values", hint="clear the outputs and hand it in again")
