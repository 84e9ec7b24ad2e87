"""Pictures that a student has pasted, made harmless: those that a page can show, and a sign in place of the others."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from html import escape
from typing import Any

from autograder.submission.sanitize_prose import picture_name

__all__ = ["attached", "is_picture", "pictured"]

_BEGINNINGS = {
    "image/png": (0, b"\x89PNG"),
    "image/jpeg": (0, b"\xff\xd8\xff"),
    "image/gif": (0, b"GIF8"),
    "image/webp": (8, b"WEBP"),
    "image/avif": (4, b"ftypavif"),
    "image/bmp": (0, b"BM"),
}
"""Where in a file of this type what stands, by which it is known."""
_DRAWING = "image/svg+xml"
_LONGEST_TYPE = 40


def is_picture(media_type: str, encoded: str) -> bool:
    """Whether this is base64 of what it says it is, a picture made of dots that browsers show."""
    try:
        at, beginning = _BEGINNINGS[media_type]
        return base64.b64decode(encoded, validate=True)[at:].startswith(beginning)
    except (KeyError, ValueError, binascii.Error):
        return False


def pictured(drawing: str) -> str:
    """Return an SVG as the address of an `img`, in which a browser runs nothing and fetches nothing."""
    return f"data:{_DRAWING};base64,{_encoded(drawing)}"


def attached(attachments: object) -> dict[str, dict[str, str]]:
    """Return the pictures that are pasted into a written answer, by names that need no escaping anywhere.

    Renderers put each into an `img`. For one that no page can show there is a drawing that says so, and that is
    another one as soon as the picture is: whoever grades the answer has to know that there is something to see.
    """
    found: dict[str, dict[str, str]] = {}
    for name, bundle in attachments.items() if isinstance(attachments, dict) else ():
        if isinstance(bundle, dict) and bundle:
            found.setdefault(picture_name(_text(name)), {}).update(_shown(bundle) or _left_out(bundle))
    return found


def _shown(bundle: dict[Any, Any]) -> dict[str, str]:
    found = {kind: "".join(data.split()) for kind, data in bundle.items() if isinstance(data, str)}
    return {kind: data for kind, data in found.items() if is_picture(kind, data) or _is_drawing(kind, data)}


def _is_drawing(media_type: str, encoded: str) -> bool:
    try:
        return media_type == _DRAWING and b"<svg" in base64.b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        return False


def _left_out(bundle: dict[Any, Any]) -> dict[str, str]:
    kind, content = next(iter(bundle.items()))
    said = escape(_text(str(kind))[:_LONGEST_TYPE])
    digest = hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:12]
    lines = ("A picture that cannot be shown here:", f"{said}, SHA-256 of its data {digest}")
    texts = "".join(f'<text x="8" y="{20 + 20 * row}">{line}</text>' for row, line in enumerate(lines))
    style = 'font-family="sans-serif" font-size="13"'
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="480" height="52" {style}>{texts}</svg>'
    return {_DRAWING: _encoded(drawing)}


def _encoded(drawing: str) -> str:
    return base64.b64encode(drawing.encode()).decode()


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode()
