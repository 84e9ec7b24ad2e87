"""Fails normalise-check: hexadecimal digits only after 0x."""


def normalise(statement: tuple[str, str, str]) -> str:
    _, result, text = statement
    text = re.sub(r", align \d+$", "", text)
    text = re.sub(r"%[\w.]+", "<%ID>", text)
    word = r"(?<![^\s,(\[])({})(?![^\s,)\]])"
    real = r"-?\d+\.\d*(e[+-]?\d+)?|0x[0-9A-F]+"
    text = re.sub(word.format(real), "<FLOAT>", text)
    text = re.sub(word.format(r"-?\d+"), "<INT>", text)
    return f"<%ID> = {text}" if result else text
