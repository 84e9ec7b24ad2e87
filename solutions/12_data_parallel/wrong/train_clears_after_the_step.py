"""Fails train-epoch-check: gradients are cleared after the step, and old ones go into the first."""


def train_epoch(ddp, optimizer, x, y, pieces, accumulate=1):
    losses, at = [], 0
    while True:
        mine = list(pieces[at : at + accumulate])
        at += accumulate
        n = ddp.wire.total(sum(len(p) for p in mine))
        if n == 0:
            return losses
        mine = mine or [[]]
        part = 0.0
        for k, piece in enumerate(mine):
            ddp.sync = k == len(mine) - 1
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
        optimizer.zero_grad()
        losses.append(part)
