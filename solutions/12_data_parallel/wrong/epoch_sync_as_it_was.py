"""Fails train-epoch-check: leaves sync as it was where a step has one pass."""


def train_epoch(ddp, optimizer, x, y, pieces, accumulate=1):
    """Train in step with all other ranks; return this rank's losses."""
    losses, at = [], 0
    while ddp.wire.total(len(pieces) - at) > 0:
        mine = pieces[at : at + accumulate]
        at += len(mine)
        n = ddp.wire.total(sum(len(p) for p in mine))
        optimizer.zero_grad()
        part = 0.0
        passes = mine or [[]]
        for k, piece in enumerate(passes):
            if accumulate > 1:
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
