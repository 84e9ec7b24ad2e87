"""Fails buckets-check, ddp-check: one bucket whatever the limit is, and its sum begins when backward is over."""


def buckets(sizes, limit):
    return [list(reversed(range(len(sizes))))] if sizes else []


class DDP:
    def __init__(self, model, wire, limit=25 * 2**20):
        self.model, self.wire, self.sync = model, wire, True
        for tensor in [*model.parameters(), *model.buffers()]:
            wire.broadcast(tensor)
        self.learning = [p for p in model.parameters() if p.requires_grad][::-1]

    def ready(self, p):
        return None

    def finish(self):
        row = pack(self.learning)
        self.wire.all_reduce(row).wait()
        unpack(row, self.learning)
