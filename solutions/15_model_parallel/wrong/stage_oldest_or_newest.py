"""Fails run-stage-check: the last stage takes the newest output, or else the oldest."""


def run_stage(pipe, stage, order, xs, targets) -> None:
    """Execute the operations of one stage, in this order."""
    first, last = pipe.rank == 0, pipe.rank == pipe.size - 1
    waiting, newest = [], []  # outputs of the last stage, and their numbers
    for what, m in order:
        if what == "F":
            x = xs[m] if first else pipe.recv(pipe.rank - 1)
            y = stage.forward(m, x)
            if last:
                waiting.append(y)
                newest.append(m)
            else:
                pipe.send(y, pipe.rank + 1)
        else:
            if last:
                at = -1 if m == newest[-1] else 0
                newest.pop(at)
                dy = waiting.pop(at) - targets[m]
            else:
                dy = pipe.recv(pipe.rank + 1)
            dx = stage.backward(m, dy)
            if not first:
                pipe.send(dx, pipe.rank - 1)
