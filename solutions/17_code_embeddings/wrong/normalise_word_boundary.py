"""Fails normalise-check: uses \\b, so that `#1`, `!12`, `@f.2` lose their numbers too."""

import re


def normalise(statement: tuple[str, str, str]) -> str:
    """Return a statement's kind: no names, no constants."""
    _, result, text = statement
    text = re.sub(r", align \d+$", "", text)
    text = re.sub(r"%[\w.]+", "<%ID>", text)
    text = re.sub(
        r"-?\b(0xH?[0-9A-Fa-f]+|\d+\.\d*(e[+-]?\d+)?)\b", "<FLOAT>", text
    )
    text = re.sub(r"-?\b\d+\b", "<INT>", text)
    return ("<%ID> = " if result else "") + text
