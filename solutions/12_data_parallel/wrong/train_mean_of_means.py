"""Fails train-epoch-check: a mean on each rank, averaged over the ranks that have images."""


def train_epoch(ddp, optimizer, x, y, pieces, accumulate=1):
    parts, step = [], 0
    while True:
        group = pieces[step * accumulate : (step + 1) * accumulate] or [[]]
        n = ddp.wire.total(float(len(group[0]) > 0))
        if n == 0:
            return parts
        optimizer.zero_grad()
        part = 0.0
        for number, piece in enumerate(group):
            ddp.sync = number == len(group) - 1
            loss = (
                nn.functional.cross_entropy(
                    ddp.model(x[piece]), y[piece], reduction="sum"
                )
                / n
                / max(1, len(piece))
            )
            loss.backward()
            part += loss.item()
        ddp.finish()
        optimizer.step()
        parts.append(part)
        step += 1
