"""Fails normalise-check: replaces digits within words."""


def normalise(statement: tuple[str, str, str]) -> str:
    _, result, text = statement
    text = re.sub(r", align \d+$", "", text)
    text = re.sub(r"%[\w.]+", "<%ID>", text)
    word = r"({})"
    real = r"-?\d+\.\d*(e[+-]?\d+)?|0x\w+"
    text = re.sub(word.format(real), "<FLOAT>", text)
    text = re.sub(word.format(r"-?\d+"), "<INT>", text)
    return f"<%ID> = {text}" if result else text
