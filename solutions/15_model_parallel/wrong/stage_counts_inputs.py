"""Fails run-stage-check: xs by turns and not by their number."""


def run_stage(pipe, stage, order, xs, targets):
    first, last = (pipe.rank == 0, pipe.rank == pipe.size - 1)
    outputs, turn = ({}, 0)
    for what, m in [op for op in order if op[0] == "F"] + [
        op for op in order if op[0] == "B"
    ]:
        if what == "F":
            x = xs[turn % len(xs)] if first else pipe.recv(pipe.rank - 1)
            turn += 1
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
