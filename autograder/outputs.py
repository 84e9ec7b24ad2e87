"""The student's own outputs of cells that are not run again: kept for whoever grades the answers, made harmless.

Formgrader shows notebooks as web pages, in the grader's own session. What a student's notebook says its outputs are may
hold scripts or fetch things; so only text and pictures are kept, and a drawing (SVG) is put into an `img`, where a
browser runs nothing and fetches nothing.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Any

import nbformat

__all__ = ["MAX_BYTES", "harmless"]

MAX_BYTES = 2 * 2**20
"""Of one cell's outputs this much is kept, and of a whole notebook ten times as much."""

_MAX_TEXT = 20_000
_MAX_OUTPUTS = 50
_PICTURES = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8"}
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
_LEFT_OUT = "[more outputs were handed in than are kept]\n"


def harmless(outputs: object, left_bytes: int = MAX_BYTES) -> list[nbformat.NotebookNode]:
    """Return text and pictures of outputs of any form, together not larger than left_bytes."""
    kept: list[nbformat.NotebookNode] = []
    for output in outputs if isinstance(outputs, list) else ():
        node = _kept(output) if isinstance(output, dict) else None
        if node is None:
            continue
        left_bytes -= len(str(node))
        if left_bytes < 0 or len(kept) == _MAX_OUTPUTS:
            return [*kept, nbformat.v4.new_output("stream", name="stdout", text=_LEFT_OUT)]
        kept.append(node)
    return kept


def _kept(output: dict[str, Any]) -> nbformat.NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream":
        return nbformat.v4.new_output("stream", name="stdout", text=_text(output.get("text")))
    if kind == "error":
        text = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}\n"
        return nbformat.v4.new_output("stream", name="stdout", text=text)
    if kind in ("display_data", "execute_result", "pyout") and isinstance(data := output.get("data"), dict):
        shown = _picture(data)
        if text := _text(data.get("text/plain")):
            shown["text/plain"] = text
        return nbformat.v4.new_output("display_data", shown) if shown else None
    return None


def _picture(data: dict[str, Any]) -> dict[str, str]:
    for mime, magic in _PICTURES.items():
        if mime in data:
            encoded = "".join(_text(data[mime], None).split())
            try:
                if base64.b64decode(encoded, validate=True).startswith(magic):
                    return {mime: encoded}
            except (ValueError, binascii.Error):
                pass
    drawing = _text(data.get("image/svg+xml"), None)
    if "<svg" in drawing:
        encoded = base64.b64encode(drawing.encode()).decode()
        return {"text/html": f'<img alt="figure" src="data:image/svg+xml;base64,{encoded}">'}
    return {}


def _text(value: object, longest: int | None = _MAX_TEXT) -> str:
    parts: Iterable[object] = value if isinstance(value, list) else [value]
    text = "".join(part for part in parts if isinstance(part, str))
    return _CONTROL.sub("", text.encode("utf-8", "replace").decode())[:longest]
