"""Fails parse-check: None where there is no result."""


def parse(text: str) -> list[tuple[str, str, str]]:
    found, inside, block = [], False, ""
    for whole in text.splitlines():
        if whole.startswith("define"):
            inside = True
            continue
        inside = inside and not whole.startswith("}")
        line = whole.partition(";")[0].strip()
        if not inside or not line:
            continue
        if line.endswith(":"):
            block = line[:-1]
            continue
        result, equals, operation = line.partition(" = ")
        if not equals:
            result, operation = None, line
        found.append((block, result, operation))
    return found
