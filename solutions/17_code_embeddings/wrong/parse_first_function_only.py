"""Fails parse-check: stops after the first function."""


def parse(text: str) -> list[tuple[str, str, str]]:
    found, inside, block = [], False, ""
    for whole in text.splitlines():
        if whole.startswith("define"):
            inside = True
            continue
        if inside and whole.startswith("}"):
            break
        line = whole.partition(";")[0].strip()
        if not inside or not line:
            continue
        if line.endswith(":"):
            block = line[:-1]
            continue
        result, equals, operation = line.partition(" = ")
        if not equals:
            result, operation = "", line
        found.append((block, result, operation))
    return found
