"""Exceptions of libraries that are of their own class at the other end, too: `except decimal.InvalidOperation`.

A list, for the other end says which class it was: one of unittest's or of IPython's would end a test as passed over.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["attributes_of", "known", "names_of"]

_MODULES = {
    "argparse", "binascii", "calendar", "configparser", "copy", "_csv", "csv", "dataclasses", "decimal",
    "email.errors", "getopt", "graphlib", "http.client", "ipaddress", "json.decoder", "locale", "lzma", "_lzma",
    "_pickle", "pickle", "pyexpat", "_queue", "queue", "re", "shutil", "sqlite3", "sre_constants", "statistics",
    "struct", "subprocess", "tarfile", "tomllib", "urllib.error", "wave", "xml.etree.ElementTree",
    "xml.parsers.expat", "zipfile", "zlib", "zoneinfo", "zoneinfo._common",
    "networkx.exception", "numpy", "numpy.exceptions", "numpy.linalg", "numpy.linalg._linalg", "pandas.errors",
    "requests.exceptions", "scipy.linalg", "scipy.linalg._misc", "sklearn.exceptions", "torch", "torch.linalg",
    "yaml.error",
}  # fmt: skip
_MOST = 20
_VALUES = {bool, float, int, str, type(None)}
_LONGEST = 2000


def names_of(kind: type) -> list[list[str]]:
    """Return module and name of each of these classes that an exception's class is or is derived from."""
    found = [[base.__module__, base.__qualname__] for base in kind.__mro__[:_MOST] if _is_listed(base.__module__)]
    return [names for names in found if all(type(name) is str for name in names)]


def attributes_of(error: BaseException) -> dict[str, Any]:
    """Return the plain values that such an exception has under public names: the line of a JSONDecodeError."""
    if not names_of(type(error)):
        return {}
    own = [(name, value) for name, value in vars(error).items() if type(name) is str and name[:1] not in {"", "_"}]
    short = [(name, value) for name, value in own if type(value) is not str or len(value) <= _LONGEST]
    return {name: value for name, value in short[:_MOST] if type(value) in _VALUES}


def known(names: Any) -> list[type[Exception]]:
    """Return those of these classes that are loaded here."""
    return [kind for each in (names if isinstance(names, list) else [])[:_MOST] if (kind := _found(each)) is not None]


def _found(names: Any) -> type[Exception] | None:
    if not isinstance(names, list) or len(names) != 2 or not _is_listed(names[0]) or type(names[1]) is not str:
        return None
    kind = vars(sys.modules[names[0]]).get(names[1]) if names[0] in sys.modules else None
    if type(kind) is not type or not issubclass(kind, Exception) or kind.__module__ != names[0]:
        return None
    # One that looks up attributes itself does so in what only its own constructor has made: urllib's HTTPError.
    return None if any("__getattr__" in vars(base) for base in kind.__mro__) else kind


def _is_listed(module: object) -> bool:
    return type(module) is str and module in _MODULES
