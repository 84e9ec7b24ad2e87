"""Fails train-epoch-check: sync is true in every pass, so ranks with fewer passes send less often than the others."""


def train_epoch(ddp, optimizer, x, y, pieces, accumulate=1):
    parts, step = [], 0
    while True:
        group = pieces[step * accumulate : (step + 1) * accumulate] or [[]]
        n = ddp.wire.total(sum(len(piece) for piece in group))
        if n == 0:
            return parts
        optimizer.zero_grad()
        part = 0.0
        for number, piece in enumerate(group):
            ddp.sync = True
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
        parts.append(part)
        step += 1
