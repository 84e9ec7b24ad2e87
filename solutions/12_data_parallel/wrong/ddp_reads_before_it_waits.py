"""Fails ddp-check: writes a copy of the row back before the sum is in it."""


class DDP:
    def __init__(self, model, wire, limit=25 * 2**20):
        self.model, self.wire, self.sync = model, wire, True
        for tensor in [*model.parameters(), *model.buffers()]:
            wire.broadcast(tensor)
        self.prepare([p for p in model.parameters() if p.requires_grad], limit)

    def prepare(self, learning, limit):
        self.groups = [
            [learning[i] for i in b]
            for b in buckets([p.nbytes for p in learning], limit)
        ]
        for p in learning:
            p.register_post_accumulate_grad_hook(self.ready)
        self.reset()

    def reset(self):
        self.complete, self.under_way, self.turn = set(), [], 0

    def full(self, turn):
        return all(id(p) in self.complete for p in self.groups[turn])

    def ready(self, p):
        if self.sync:
            self.complete.add(id(p))
            while self.turn < len(self.groups) and self.full(self.turn):
                self.start(self.turn)

    def start(self, turn):
        group = self.groups[turn]
        row = pack(group)
        self.under_way.append((group, row, self.wire.all_reduce(row)))
        self.turn += 1

    def finish(self):
        while self.turn < len(self.groups):
            self.start(self.turn)
        for group, row, work in self.under_way:
            unpack(row.clone(), group)
            work.wait()
        self.reset()
