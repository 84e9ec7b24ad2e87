"""Fails ddp-check: counts of buckets that finish has started stay."""


class DDP:
    """Sums gradients over all ranks by buckets, while backward goes on."""

    def __init__(self, model, wire, limit: int = 25 * 2**20) -> None:
        self.model, self.wire, self.sync = model, wire, True
        for tensor in [*model.parameters(), *model.buffers()]:
            wire.broadcast(tensor)
        learning = [p for p in model.parameters() if p.requires_grad]
        plan = buckets([p.nbytes for p in learning], limit)
        self.plan = [[learning[i] for i in bucket] for bucket in plan]
        self.bucket_of = {p: k for k, b in enumerate(self.plan) for p in b}
        self.left = [len(b) for b in self.plan]
        self.works = []
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
        self.left[self.bucket_of[p]] -= 1
        while (k := len(self.works)) < len(self.plan) and self.left[k] <= 0:
            self.start()
            self.left[k] = len(self.plan[k])

    def finish(self) -> None:
        """Start the rest, wait for all sums, write them into the gradients."""
        while len(self.works) < len(self.plan):
            self.start()
        for work, row, bucket in self.works:
            work.wait()
            unpack(row, bucket)
        self.works = []
