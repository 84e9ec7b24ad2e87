"""Outputs of a student's code, made harmless: those handed in for cells that are not run again, and those of a run.

Formgrader shows notebooks as web pages, in the grader's own session. Whatever a student's notebook or process says that
an output is may hold scripts or fetch things; so every output is rebuilt from text and pictures only, and a drawing
(SVG) is put into an `img`, where a browser runs nothing and fetches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape, unescape
from typing import Any

import nbformat

from autograder.submission.pictures import is_picture, pictured

__all__ = ["MAX_BYTES", "error", "harmless", "plain", "received"]

MAX_BYTES = 2 * 2**20
"""Of one cell's outputs this much is kept, and of a whole notebook ten times as much."""

_MAX_TEXT = 20_000
_MAX_NAME = 200
_MAX_TRACE = 200
_MAX_OUTPUTS = 50
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp")
_RENDERED = ("image/png", "image/jpeg")
"""Those that nbconvert, and so formgrader, shows as they are; the others need an `img`."""
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TITLE = re.compile(r"<title>([^<]{1,1000})</title>")
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


def received(kind: str, content: dict[str, Any], count: int, media_type: str = "") -> nbformat.NotebookNode | None:
    """Return an output as a kernel's message describes it; None if nothing of it is kept.

    count: what the grader itself counts for the cell. media_type: of data that is kept as it is; nothing shows it.
    """
    if kind == "stream":
        name = "stderr" if content.get("name") == "stderr" else "stdout"
        return nbformat.v4.new_output("stream", name=name, text=plain(_overwritten(content.get("text")), None))
    if kind == "error":
        return error(content.get("ename"), content.get("evalue"), content.get("traceback"))
    data = content.get("data")
    shown: dict[str, Any] = dict(_shown(data)) if isinstance(data, dict) else {}
    if kind == "execute_result":
        if media_type and isinstance(data, dict) and media_type in data:
            shown[media_type] = data[media_type]
        return nbformat.v4.new_output("execute_result", shown, execution_count=count)
    return nbformat.v4.new_output("display_data", shown) if shown else None


def error(name: object, value: object, trace: object = None) -> nbformat.NotebookNode:
    """Return an error output of text only; without a trace it shows name and value."""
    name, value = plain(name)[:_MAX_NAME], plain(value)
    lines = [plain(line) for line in trace[:_MAX_TRACE]] if isinstance(trace, list | tuple) else []
    return nbformat.v4.new_output("error", ename=name, evalue=value, traceback=_bounded(lines) or [f"{name}: {value}"])


def plain(value: object, longest: int | None = _MAX_TEXT) -> str:
    """Return a text, or a list of texts, as one that can be stored and printed: without control characters."""
    parts: Iterable[object] = value if isinstance(value, list) else [value]
    text = "".join(part for part in parts if isinstance(part, str))
    return _CONTROL.sub("", text.encode("utf-8", "replace").decode())[:longest]


def _kept(output: dict[str, Any]) -> nbformat.NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream":
        return nbformat.v4.new_output("stream", name="stdout", text=plain(output.get("text")))
    if kind == "error":
        text = f"{plain(output.get('ename'))}: {plain(output.get('evalue'))}\n"
        return nbformat.v4.new_output("stream", name="stdout", text=text)
    if kind in ("display_data", "execute_result", "pyout") and isinstance(data := output.get("data"), dict):
        shown = _shown(data)
        return nbformat.v4.new_output("display_data", shown) if shown else None
    return None


def _shown(data: dict[str, Any]) -> dict[str, str]:
    text = plain(data.get("text/plain"))
    return _picture(data) | ({"text/plain": text} if text else {})


def _picture(data: dict[str, Any]) -> dict[str, str]:
    for media_type in _PICTURES:
        if media_type in data:
            encoded = "".join(plain(data[media_type], None).split())
            if is_picture(media_type, encoded):
                if media_type in _RENDERED:
                    return {media_type: encoded}
                return {"text/html": f'<img alt="figure" src="data:{media_type};base64,{encoded}">'}
    drawing = plain(data.get("image/svg+xml"), None)
    if "<svg" in drawing:
        words = escape(" ".join(unescape(found[1]).split())) if (found := _TITLE.search(drawing)) else ""
        return {"text/html": f'<img alt="{words or "figure"}" src="{pictured(drawing)}">'}
    return {}


def _overwritten(text: object) -> object:
    """Return what a terminal shows in the end where a carriage return begins a line again, as in a progress bar."""
    if not isinstance(text, str) or "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def _bounded(lines: list[str]) -> list[str]:
    """Return the first lines that together are not longer than one text may be."""
    left = _MAX_TEXT
    for number, line in enumerate(lines):
        left -= len(line)
        if left < 0:
            return [*lines[:number], line[:left], "[the rest of the traceback was left out]"]
    return lines
