"""Fails train-epoch-check: asks whether all are done only after one more step, in which momentum moves the weights."""


def train_epoch(ddp, optimizer, x, y, pieces, accumulate=1):
    parts, step = [], 0
    while True:
        group = pieces[step * accumulate : (step + 1) * accumulate] or [[]]
        n = ddp.wire.total(sum(len(piece) for piece in group))
        optimizer.zero_grad()
        part = 0.0
        for number, piece in enumerate(group):
            ddp.sync = number == len(group) - 1
            loss = nn.functional.cross_entropy(
                ddp.model(x[piece]), y[piece], reduction="sum"
            ) / max(n, 1)
            loss.backward()
            part += loss.item()
        ddp.finish()
        optimizer.step()
        if n == 0:
            return parts
        parts.append(part)
        step += 1
