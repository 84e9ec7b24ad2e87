"""Fails ddp-check: each gradient starts one bucket at most, others that are due wait for finish."""


class DDP:
    def __init__(self, model, wire, limit: int = 25 * 2**20) -> None:
        self.model, self.wire, self.sync = model, wire, True
        for tensor in [*model.parameters(), *model.buffers()]:
            wire.broadcast(tensor)
        learning = [p for p in model.parameters() if p.requires_grad]
        plan = buckets([p.nbytes for p in learning], limit)
        self.groups = [
            [learning[number] for number in bucket] for bucket in plan
        ]
        for p in learning:
            p.register_post_accumulate_grad_hook(self.ready)
        self.complete, self.started = set(), []

    def ready(self, p) -> None:
        if not self.sync:
            return
        self.complete.add(p)
        turn = len(self.started)
        if turn < len(self.groups) and self.complete.issuperset(
            self.groups[turn]
        ):
            self.start(turn)

    def finish(self) -> None:
        for turn in range(len(self.started), len(self.groups)):
            self.start(turn)
        for group, (row, work) in zip(self.groups, self.started, strict=True):
            work.wait()
            unpack(row, group)
        self.complete, self.started = set(), []

    def start(self, turn):
        row = pack(self.groups[turn])
        self.started.append((row, self.wire.all_reduce(row)))
