"""A student's prose, made harmless: markdown in which no renderer finds anything that acts or is fetched.

Formgrader renders written answers as web pages, in the grader's own session, and loads MathJax there. Markdown lets
HTML through, and decodes entities and escapes only then; so what is taken apart here is what every live thing needs at
last: a `<` right before a name, a `]` right before an address, a backslash right before one of MathJax's commands that
make links, attributes or styles. One space does it, which changes nothing in prose, tables, code or formulas.
"""

from __future__ import annotations

import html.entities
import re
from collections.abc import Collection
from functools import partial
from urllib.parse import unquote

import nbformat

from autograder.notebook import students_own

__all__ = ["MAX_TEXT", "bounded_code", "harmless_text", "make_harmless", "picture_name"]

MAX_TEXT = 20_000
"""Of a cell of prose this many characters are kept: what a person reads. Renderers take the square of it in time."""

_MAX_IN_ALL = 10 * MAX_TEXT
_COMMANDS = (
    # links, classes, ids, styles and data: the extensions HTML and texhtml
    "href", "url", "hyperref", "class", "cssId", "style", "data",
    # attributes of elements, fonts and images: MathML, bbox, unicode, enclose, mhchem's and the rest
    "mml", "bbox", "unicode", "Unicode", "enclose", "includegraphics", "fontfamily", "definecolor",
    # what reacts to the mouse: action
    "toggle", "endtoggle", "mathtip", "texttip",
    # what loads and configures
    "require", "setOptions", "Newextarrow", "csname", "input", "include", "special",
)  # fmt: skip
_DROPPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u2424\ufeff\ufff9-\uffff]")
"""Browsers and renderers leave some of these out: what stood on both sides of one would stand side by side."""
_LIVE = re.compile(
    r"!\[(?P<alt>[^\[\]\n]{0,200})\]"
    r"\(<?attachment:(?P<picture>(?:[^\n<>()\"]|\([^\n<>()\"]{0,50}\)){1,200}?)>?(?:[ \t]+\"[^\"\n]{0,200}\")?\)"
    r"|(?P<tag><)(?=[A-Za-z/!?\\&])"
    r"|(?P<link>\])(?=[(:\[])"
    rf"|(?P<command>\\)(?={'|'.join(_COMMANDS)})"
    r"|&(?:(?P<number>(?=#))|(?P<entity>[A-Za-z][A-Za-z0-9]{0,40};))"
    r"|(?P<scheme>:)(?=//)"
    r"|(?P<host>\b[wW]{3}\.)(?=\w)"
    r"|(?P<mail>(?<=\w)@)(?=[\w-]{1,63}\.\w)"
    r"|(?P<diagram>(?<!`)`{3,}+|(?<!~)~{3,}+)(?=[^\S\n]*[mM]ermaid)"
)
_LONG_LINE = re.compile(r"([^\n]{400})(?=[^\n])")
_MUCH_SPACE = re.compile(r"\s{100,}")
_BOUNDED = "# [shown in part: what was handed in has longer lines, more blanks or more code]"
_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_ASCII_ENTITIES = {"<", ">", "&", '"', "'"}


def make_harmless(notebook: nbformat.NotebookNode, trusted: Collection[str]) -> None:
    """Make the prose of a notebook harmless, and bound its code, in place.

    Cells with one of the trusted texts stay as they are, and code that is not the student's.
    """
    left, left_of_code = _MAX_IN_ALL, _MAX_IN_ALL
    for cell in notebook.cells:
        if cell.cell_type == "code":
            if students_own(cell):
                cell.source = bounded_code(cell.source, min(left_of_code, MAX_TEXT))
                left_of_code -= min(len(cell.source), left_of_code)
            continue
        if cell.source in trusted and "attachment:" not in cell.source:
            continue
        cell.source = harmless_text(cell.source, cell.get("attachments", {}), min(left, MAX_TEXT))
        left -= min(len(cell.source), left)


def bounded_code(source: str, longest: int = MAX_TEXT) -> str:
    """Return code as a page shows it: lexers take the square of a line's length in time, and of a run of blanks."""
    text = _LONG_LINE.sub(r"\1\n", _MUCH_SPACE.sub("\n\n", source))
    if len(text) > longest:
        text = f"{text[:longest]}\n# [{len(text) - longest:,} more characters were left out]"
    return source if text == source else f"{_BOUNDED}\n{text}"


def harmless_text(source: str, pictures: Collection[str] = (), longest: int = MAX_TEXT) -> str:
    """Return text that reads as before, and in which only these pictures, attachments of the cell, are shown."""
    text = _DROPPED.sub("", source.replace("\r\n", "\n").replace("\r", "\n"))
    if len(text) > longest:
        text = f"{text[:longest]}\n\n[{len(text) - longest:,} more characters were left out]"
    return _LIVE.sub(partial(_apart, pictures=pictures), text)


def picture_name(name: str) -> str:
    """Return the name under which an attachment is kept: one that needs no escaping anywhere."""
    return _PLAIN.sub("_", unquote(name))[:100]


def _apart(found: re.Match[str], pictures: Collection[str]) -> str:
    if found["picture"] is not None:
        return _picture(found, pictures)
    if found["entity"] is not None:
        return found[0] if _is_plain(found["entity"]) else f"& {found['entity']}"
    if found["diagram"] is not None:  # rendered as it is, unescaped
        return f"{found[0]}text "
    return f"{found[0]} "


def _picture(found: re.Match[str], pictures: Collection[str]) -> str:
    name = picture_name(found["picture"])
    if name not in pictures:
        return f"[picture: {_PLAIN.sub(' ', found['picture']).strip()}]"
    escaped = found.string[max(0, found.start() - 1) : found.start()] == "\\"
    before = " " if escaped else ""  # else it would be a link
    return f"{before}![{_PLAIN.sub(' ', found['alt']).strip()}](attachment:{name})"


def _is_plain(entity: str) -> bool:
    """Whether an entity stands for a character that no markup and no command is written with, or for an escaped one."""
    characters = html.entities.html5.get(entity, "")
    return characters in _ASCII_ENTITIES or all(ord(character) >= 0xA0 for character in characters)
