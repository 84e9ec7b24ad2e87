"""Fails normalise-check: small hexadecimal digits and a capital E count, too."""


def normalise(statement: tuple[str, str, str]) -> str:
    """Return a statement's kind: no names, no constants."""
    _, result, op = statement
    op = re.sub(r", align \d+$", "", op)
    op = re.sub(r"%[A-Za-z0-9._]+", "<%ID>", op)
    left, right = r"(?:(?<=[ ,\[\]()])|^)", r"(?=[ ,\[\]()]|$)"
    number = r"(?:-?\d+\.\d+(?:e[+-]?\d+)?|0xH?[0-9A-F]+)"
    op = re.sub(left + number + right, "<FLOAT>", op, flags=re.I)
    op = re.sub(left + r"-?\d+" + right, "<INT>", op)
    return ("<%ID> = " if result else "") + op
