"""Earns nothing of ddp-check: every rank keeps what it has, and nothing is sent."""


class DDP:
    def __init__(self, model, wire, limit=25 * 2**20):
        self.model, self.wire, self.sync = model, wire, True

    def ready(self, p):
        return None

    def finish(self):
        return None
