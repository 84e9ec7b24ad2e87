"""Fails normalise-check: %7 is no name."""


def normalise(statement: tuple[str, str, str]) -> str:
    _, result, text = statement
    text = re.sub(r", align \d+$", "", text)
    text = re.sub(r"%[a-zA-Z._][\w.]*", "<%ID>", text)
    word = r"(?<![^\s,(\[])({})(?![^\s,)\]])"
    real = r"-?\d+\.\d*(e[+-]?\d+)?|0x\w+"
    text = re.sub(word.format(real), "<FLOAT>", text)
    text = re.sub(word.format(r"-?\d+"), "<INT>", text)
    return f"<%ID> = {text}" if result else text
