"""Fails prefetch-check: hands the items on without reading ahead."""


def prefetch(source, depth=2):
    yield from source
