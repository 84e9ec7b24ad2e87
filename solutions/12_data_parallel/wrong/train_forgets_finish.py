"""Fails train-epoch-check: never waits for the sums."""


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
            ddp.sync = number == len(group) - 1
            loss = (
                nn.functional.cross_entropy(
                    ddp.model(x[piece]), y[piece], reduction="sum"
                )
                / n
            )
            loss.backward()
            part += loss.item()
        optimizer.step()
        parts.append(part)
        step += 1
