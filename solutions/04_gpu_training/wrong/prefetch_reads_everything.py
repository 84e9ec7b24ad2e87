"""Fails prefetch-check: reads the whole source before it yields the first item."""


def prefetch(source, depth=2):
    items = []
    reader = threading.Thread(target=lambda: items.extend(source), daemon=True)
    reader.start()
    reader.join()
    yield from items
