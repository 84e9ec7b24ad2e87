"""Fails parse-check: takes a label with a comment for a statement."""


def parse(text: str) -> list[tuple[str, str, str]]:
    found, inside, block = [], False, ""
    for whole in text.splitlines():
        if whole.startswith("define"):
            inside = True
            continue
        inside = inside and not whole.startswith("}")
        line = whole.strip()
        if not inside or not line:
            continue
        code = line.partition(";")[0].strip()
        if line.endswith(":"):
            block = line[:-1]
            continue
        result, equals, operation = code.partition(" = ")
        if not equals:
            result, operation = "", code
        found.append((block, result, operation))
    return found
