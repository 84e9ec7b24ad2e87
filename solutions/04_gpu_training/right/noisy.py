"""Prints and warns on the way, a class in place of a generator, inference mode: none of it costs anything."""

import warnings


def roofline(peak, bandwidth, flops, moved):
    warnings.warn("no cache is modelled", stacklevel=2)
    return max((flops / peak, "compute"), (moved / bandwidth, "a memory"))[0], (
        "memory" if moved / bandwidth > flops / peak else "compute"
    )


def measure(fn, clock, synchronise, warmup=2, repeat=9):
    samples = np.zeros(repeat)
    for _ in range(warmup):
        print("warming up")
        fn()
        synchronise()
    for place in range(repeat):
        synchronise()
        samples[place] = -clock()
        fn()
        synchronise()
        samples[place] += clock()
    return np.median(samples), *np.percentile(samples, (25, 75))


class _Ahead:
    def __init__(self, source, depth):
        self.ready, self.stop = queue.Queue(depth), threading.Event()
        self.reader = threading.Thread(
            target=self.read, args=(source,), daemon=True
        )
        self.reader.start()
        self.over = False

    def put(self, pair):
        while not self.stop.is_set():
            try:
                self.ready.put(pair, timeout=0.01)
                break
            except queue.Full:
                continue

    def read(self, source):
        try:
            for item in source:
                if self.stop.is_set():
                    return
                self.put(("item", item))
        except BaseException as error:
            self.put(("error", error))
        else:
            self.put(("end", None))

    def __iter__(self):
        return self

    def __next__(self):
        if self.over:
            raise StopIteration
        kind, value = self.ready.get()
        if kind == "item":
            return value
        self.close()
        raise value if kind == "error" else StopIteration

    def close(self):
        self.over = True
        self.stop.set()
        self.reader.join()


def prefetch(source, depth=2):
    return _Ahead(source, depth)


def train_epoch(model, optimizer, batches, device):
    model.train()
    total = seen = 0
    for number, (images, labels) in enumerate(batches):
        if number % 10 == 0:
            print("batch", number)
        optimizer.zero_grad(set_to_none=False)
        target = labels.to(device)
        loss = nn.CrossEntropyLoss()(
            model(images.to(device, non_blocking=True)), target
        )
        loss.backward()
        optimizer.step()
        total = total + loss.detach() * len(target)
        seen += len(target)
    return (total / seen).to(torch.float32)


def fast_training(
    model, optimizer, images, labels, device, *,
    epochs, batch_size, seed=0, prepare=prepare_images, capture=capture_model,
):  # fmt: skip
    draw = torch.Generator()
    draw.manual_seed(seed)
    n, history = len(images), {"loss": [], "accuracy": []}
    x, y, network = (
        prepare(images).to(device),
        labels.to(device),
        capture(model),
    )
    for epoch in range(epochs):
        print("epoch", epoch)
        order, total = torch.randperm(n, generator=draw).to(device), 0
        for start in range(0, n, batch_size):
            batch = order[start : start + batch_size]
            loss = nn.functional.cross_entropy(network(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total = total + loss.detach() * len(batch)
        with torch.inference_mode():
            hits = network(x).argmax(1).eq(y).sum()
            history["loss"].append(float(total) / n)
            history["accuracy"].append(np.float64(hits.item() / n))
    return history


def predictions():
    guess = {}
    for name in ("slow loop", "narrow", "wide"):
        guess[name] = 2
    return guess
