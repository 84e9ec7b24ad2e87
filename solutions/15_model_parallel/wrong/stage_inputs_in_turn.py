"""Fails run-stage-check: the first stage takes the next of xs, not xs[m]."""


def run_stage(pipe, stage, order, xs, targets) -> None:
    """Execute the operations of one stage, in this order."""
    first, last = pipe.rank == 0, pipe.rank == pipe.size - 1
    inputs = iter(xs) if first else None
    outputs = {}
    for what, m in order:
        if what == "F":
            x = next(inputs) if first else pipe.recv(pipe.rank - 1)
            y = stage.forward(m, x)
            if last:
                outputs[m] = y
            else:
                pipe.send(y, pipe.rank + 1)
        else:
            dy = (
                outputs.pop(m) - targets[m]
                if last
                else pipe.recv(pipe.rank + 1)
            )
            dx = stage.backward(m, dy)
            if not first:
                pipe.send(dx, pipe.rank - 1)
