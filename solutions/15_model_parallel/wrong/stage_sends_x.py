"""Fails run-stage-check: sends its input on."""


def run_stage(pipe, stage, order, xs, targets):
    first, last = (pipe.rank == 0, pipe.rank == pipe.size - 1)
    outputs = {}
    for what, m in order:
        if what == "F":
            x = xs[m] if first else pipe.recv(pipe.rank - 1)
            y = stage.forward(m, x)
            if last:
                outputs[m] = y
            else:
                pipe.send(x, pipe.rank + 1)
        else:
            dy = (
                outputs.pop(m) - targets[m]
                if last
                else pipe.recv(pipe.rank + 1)
            )
            dx = stage.backward(m, dy)
            if not first:
                pipe.send(dx, pipe.rank - 1)
