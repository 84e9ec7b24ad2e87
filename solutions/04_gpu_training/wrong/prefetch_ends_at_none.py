"""Fails prefetch-check: takes an item that is None for the end."""


def prefetch(source, depth=2):
    ready, stop = queue.Queue(maxsize=depth), threading.Event()

    def offer(kind, value):
        while not stop.is_set():
            try:
                ready.put((kind, value), timeout=0.02)
                return
            except queue.Full:
                pass

    def read():
        try:
            for item in source:
                offer("item", item)
                if stop.is_set():
                    return
            offer("end", None)
        except Exception as error:
            offer("error", error)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        while True:
            kind, value = ready.get()
            if value is None:
                return
            if kind == "error":
                raise value
            yield value
    finally:
        stop.set()
        reader.join()
