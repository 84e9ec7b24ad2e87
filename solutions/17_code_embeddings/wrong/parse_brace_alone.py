"""Fails parse-check: only a line that is exactly "}" ends a function, not "} ; end"."""


def parse(text: str) -> list[tuple[str, str, str]]:
    """Return (block, result, operation) of each statement."""
    found, inside, block = [], False, ""
    for whole in text.split("\n"):
        if whole.startswith("define"):
            inside = True
            continue
        if whole == "}":
            inside = False
        line = whole.split(";")[0].strip()
        if not inside or not line:
            continue
        if line.endswith(":"):
            block = line[:-1]
        elif line.startswith("%"):
            result, operation = line.split(" = ", 1)
            found.append((block, result, operation))
        else:
            found.append((block, "", line))
    return found
