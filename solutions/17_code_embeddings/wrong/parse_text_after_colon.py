"""Fails parse-check: a colon ends a block's name wherever it stands."""


def parse(text: str) -> list[tuple[str, str, str]]:
    """Return (block, result, operation) of each statement."""
    found, inside, block = [], False, ""
    for whole in text.split("\n"):
        if not inside:
            inside = re.match(r"define\b", whole) is not None
            continue
        if whole.startswith("}"):
            inside = False
            continue
        line = whole.split(";")[0].strip()
        if not line:
            continue
        if re.match(r"[\w.]+:", line):
            block = line.split(":")[0]
        elif line.startswith("%"):
            result, operation = line.split(" = ", 1)
            found.append((block, result, operation))
        else:
            found.append((block, "", line))
    return found
