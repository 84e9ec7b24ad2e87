"""Fails parse-check: cuts the text from the first "define" to the next "}" and stops."""


def parse(text: str) -> list[tuple[str, str, str]]:
    """Return (block, result, operation) of each statement."""
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("define")]
    if not starts:
        return []
    found, block = [], ""
    for whole in lines[starts[0] + 1 :]:
        if whole.startswith("}"):
            break
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
