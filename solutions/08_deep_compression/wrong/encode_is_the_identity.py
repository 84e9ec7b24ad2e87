"""Fails encode-check, format-check: hands the symbols over as they are, and back."""


def encode(symbols, code):
    return symbols


def decode(data, code, count):
    return list(data)[:count]
