"""Fails parse-check: takes every line with " = " or "=" for a result: `call void @f() "a"="b"` loses its first half."""


def parse(text: str) -> list[tuple[str, str, str]]:
    """Return (block, result, operation) of each statement."""
    found, inside, block = [], False, ""
    for whole in text.split("\n"):
        if whole.startswith("define"):
            inside = True
            continue
        if whole.startswith("}"):
            inside = False
        line = whole.split(";")[0].strip()
        if not inside or not line:
            continue
        if line.endswith(":"):
            block = line[:-1]
        elif "=" in line:
            result, operation = line.split("=", 1)
            found.append((block, result.strip(), operation.strip()))
        else:
            found.append((block, "", line))
    return found
