"""Fails normalise-check: a minus in front of an integer stays: `-12` becomes `-<INT>`, for the float alike."""

import re


def normalise(statement: tuple[str, str, str]) -> str:
    """Return a statement's kind: no names, no constants."""
    _, result, text = statement
    text = re.sub(r", align \d+$", "", text)
    text = re.sub(r"%[\w.]+", "<%ID>", text)
    beside, after = r"(?<![^\s,()\[\]-])", r"(?![^\s,()\[\]])"
    real = r"(?:0xH?[0-9A-Fa-f]+|\d+\.\d*(?:[eE][+-]?\d+)?)"
    text = re.sub(beside + real + after, "<FLOAT>", text)
    text = re.sub(beside + r"\d+" + after, "<INT>", text)
    return ("<%ID> = " if result else "") + text
