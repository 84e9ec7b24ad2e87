"""Fails parse-check: a block whose name begins with define is taken for a function."""

def parse(text: str) -> list[tuple[str, str, str]]:
    """Return (block, result, operation) of each statement."""
    found, inside, block = [], False, ""
    for line in text.split("\n"):
        if re.match(r"define\b", line):
            inside = True
            continue
        if not inside:
            continue
        if line.startswith("}"):
            inside = False
            continue
        line = line.split(";")[0].strip()
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
