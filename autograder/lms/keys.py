"""By what names, ids and addresses are compared, whoever has typed them."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

__all__ = ["domain", "fold", "keys", "name_key", "together", "unique", "user"]

_T = TypeVar("_T")


def name_key(name: str) -> str:
    """Return a name without case, accents, order or punctuation: "Lovelace, Ada" and "ada lovelace" are one."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    words = re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c)).replace("_", " "))
    return " ".join(sorted(words))


def keys(names: Iterable[str]) -> list[str]:
    """Return what names are compared by; in Canvas's file names "Lovelace, Ada" is "lovelaceada"."""
    keys = [key for name in names for key in (name_key(name), _joined(name))]
    return [key for key in dict.fromkeys(keys) if key]


def _joined(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", name).casefold() if c.isalnum())


def fold(value: str) -> str:
    return unicodedata.normalize("NFC", value.strip()).casefold()


def user(email: str) -> str:
    return fold(email).split("@")[0]


def domain(email: str) -> str:
    return fold(email).rpartition("@")[2]


def together(pairs: Iterable[tuple[str, _T]]) -> dict[str, list[_T]]:
    """Return all that a key stands for, each once."""
    found: defaultdict[str, dict[_T, None]] = defaultdict(dict)
    for key, value in pairs:
        found[key][value] = None
    return {key: list(values) for key, values in found.items()}


def unique(pairs: Iterable[tuple[str, _T]]) -> dict[str, _T]:
    """Return the keys that stand for one thing only."""
    return {key: values[0] for key, values in together(pairs).items() if len(values) == 1}
