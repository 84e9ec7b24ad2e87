"""Fails train-epoch-check: makes a wire of its own."""


def train_epoch(ddp, optimizer, x, y, pieces, accumulate=1):
    """Train in step with all other ranks; return this rank's losses."""
    losses, at, wire = [], 0, Wire()
    while wire.total(len(pieces) - at) > 0:
        mine = pieces[at : at + accumulate]
        at += len(mine)
        n = wire.total(sum(len(p) for p in mine))
        optimizer.zero_grad()
        part = 0.0
        passes = mine or [[]]
        for k, piece in enumerate(passes):
            ddp.sync = k == len(passes) - 1
            loss = (
                nn.functional.cross_entropy(
                    ddp.model(x[piece]), y[piece], reduction="sum"
                )
                / n
            )
            loss.backward()
            part += loss.item()
        ddp.finish()
        optimizer.step()
        losses.append(part)
    return losses
