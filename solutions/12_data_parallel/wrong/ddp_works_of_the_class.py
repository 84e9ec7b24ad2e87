"""Fails ddp-check: the list of works belongs to the class."""


class DDP:
    """Sums gradients over all ranks by buckets, while backward goes on."""

    works = []  # noqa: RUF012

    def __init__(self, model, wire, limit: int = 25 * 2**20) -> None:
        self.model, self.wire, self.sync = model, wire, True
        for tensor in [*model.parameters(), *model.buffers()]:
            wire.broadcast(tensor)
        learning = [p for p in model.parameters() if p.requires_grad]
        plan = buckets([p.nbytes for p in learning], limit)
        self.plan = [[learning[i] for i in bucket] for bucket in plan]
        self.complete = set()
        for p in learning:
            p.register_post_accumulate_grad_hook(self.ready)

    def start(self) -> None:
        bucket = self.plan[len(self.works)]
        row = pack(bucket)
        self.works.append((self.wire.all_reduce(row), row, bucket))

    def ready(self, p) -> None:
        """Note that p.grad is complete; start buckets whose turn it is."""
        if not self.sync:
            return
        self.complete.add(id(p))
        while len(self.works) < len(self.plan) and all(
            id(q) in self.complete for q in self.plan[len(self.works)]
        ):
            self.start()

    def finish(self) -> None:
        """Start the rest, wait for all sums, write them into the gradients."""
        while len(self.works) < len(self.plan):
            self.start()
        for work, row, bucket in self.works:
            work.wait()
            unpack(row, bucket)
        self.works.clear()
        self.complete.clear()
