"""Fails parse-check: a block whose name begins with define is taken for a function."""


def parse(text: str) -> list[tuple[str, str, str]]:
    """Return (block, result, operation) of each statement."""
    found, inside, block = [], False, ""
    for whole in text.split("\n"):
        if re.match(r"define\b", whole):
            inside = True
            continue
        if not inside:
            continue
        if whole.startswith("}"):
            inside = False
            continue
        line = whole.split(";")[0].strip()
        if not line:
            continue
        if line.endswith(":"):
            block = line[:-1]
        elif line.startswith("%"):
            result, operation = line.split(" = ", 1)
            found.append((block, result, operation))
        else:
            found.append((block, "", line))
    return found
