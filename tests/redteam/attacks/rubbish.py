"""Files that are no notebooks, or notebooks that no program has written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from autograder.model import Status
from tests.redteam.redlab import HONEST, Attack

_UNREADABLE = (Status.UNREADABLE,)
_ANY = (Status.GRADED, Status.PARTLY_GRADED, Status.TAMPERED, Status.UNREADABLE)


def _bytes(says: str, content: bytes) -> Attack:
    return Attack(says=says, content=lambda text: content, honest=0, status=_UNREADABLE)


def _altered(says: str, change: Callable[[dict[str, Any]], object], honest: float = HONEST) -> Attack:
    return Attack(says=says, change=change, honest=honest, status=_ANY)


def _replaced(says: str, *pairs: tuple[str, str]) -> Attack:
    """Return an attack on the text of the file; the first of each pair stands in it."""

    def change(text: str) -> bytes:
        for old, new in pairs:
            if old not in text:
                raise ValueError(f"{old!r} is not in the notebook")
            text = text.replace(old, new, 1)
        return text.encode()

    return Attack(says=says, content=change, status=_ANY)


def _many_cells(notebook: dict[str, Any]) -> None:
    cell: dict[str, Any] = {"cell_type": "code", "source": "", "metadata": {}, "outputs": [], "execution_count": None}
    notebook["cells"] += [cell] * 100_000


ATTACKS = {
    "empty": _bytes("Is a file without content.", b""),
    "binary": _bytes("Is a picture.", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 100),
    "archive": _bytes("Is an archive.", b"PK\x03\x04" + bytes(1000)),
    "pickle": _bytes("Is a pickle that runs a command.", b"cos\nsystem\n(S'touch /tmp/redteam'\ntR."),
    "python": _bytes("Is a Python file.", b"#!/usr/bin/env python\nprint('hello')\n"),
    "utf_16": Attack(says="Is encoded otherwise.", content=lambda t: t.encode("utf-16"), honest=0, status=_UNREADABLE),
    "deep_lists": _bytes("Nests lists a million deep.", b"[" * 1_000_000 + b"]" * 1_000_000),
    "deep_tables": _bytes("Nests tables, closed properly.", b'{"cells":' * 50_000 + b"1" + b"}" * 50_000),
    "many_tables": Attack(
        says="Has four million small tables in its metadata.",
        content=lambda text: text.replace(
            '"metadata": {', '"metadata": {"x": [' + "{}," * 4_000_000 + "{}], ", 1
        ).encode(),
        honest=HONEST,
        status=_ANY,
    ),
    "huge_number": _replaced(
        "Has a number of a million digits.", ('"nbformat_minor": 5', '"nbformat_minor": ' + "9" * 10**6)
    ),
    "huge_version": _replaced(
        "Is of a version of five thousand digits.", ('"nbformat": 4', '"nbformat": 4' + "0" * 5000)
    ),
    "not_a_number": _replaced(
        "Has NaN and infinities where numbers belong.",
        ('"execution_count": null', '"execution_count": NaN'),
        ('"points": 2', '"points": -Infinity'),
        ('"points": 3', '"points": NaN'),
    ),
    "doubled_keys": _replaced(
        "Names its cells twice, and their metadata.", ('"nbformat": 4', '"cells": [], "metadata": {}, "nbformat": 4')
    ),
    "lone_surrogates": _replaced(
        "Has half characters in code and text.", ("I have no idea.", "\\ud800 idea \\udfff\\u0000")
    ),
    "null_bytes": _replaced("Has null bytes in code.", ("# Red", "\\u0000\\u0001 Red")),
    "many_cells": _altered("Has a hundred thousand cells.", _many_cells, 0),
    "long_cell": _altered(
        "Has a cell of a megabyte.",
        lambda nb: nb["cells"].append({"cell_type": "markdown", "source": "x" * (1 << 20), "metadata": {}, "id": "l"}),
    ),
    "no_cells": Attack(
        says="Has no list of cells.", change=lambda nb: nb.update(cells="x"), honest=0, status=_UNREADABLE
    ),
    "cells_of_cells": _altered(
        "Has cells that are numbers, lists and null.", lambda nb: nb["cells"].extend([1, [], None, {}])
    ),
    "old_format": Attack(
        says="Claims to be of an old format that it is not.",
        change=lambda nb: nb.update(nbformat=3, worksheets=[{"cells": [5]}]),
        honest=0,
        status=_ANY,
    ),
    "odd_cell_types": _altered(
        "Has cells of types that are not known, and heading cells.",
        lambda nb: nb["cells"].extend(
            {"cell_type": kind, "source": "x", "metadata": {}, "level": 10**9}
            for kind in ("heading", "evil", "", None, 5)
        ),
    ),
    "too_large": Attack(
        says="Is larger than what anybody writes.",
        content=lambda text: json.dumps({**json.loads(text), "x": "y" * (25 << 20)}).encode(),
        honest=0,
        status=_UNREADABLE,
    ),
}
