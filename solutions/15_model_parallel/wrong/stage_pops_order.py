"""Fails run-stage-check: takes the operations out of the list."""


def run_stage(pipe, stage, order, xs, targets) -> None:
    """Execute the operations of one stage, in this order."""
    first, last = pipe.rank == 0, pipe.rank == pipe.size - 1
    outputs = {}
    while order:
        what, m = order.pop(0)
        if what == "F":
            x = xs[m] if first else pipe.recv(pipe.rank - 1)
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
