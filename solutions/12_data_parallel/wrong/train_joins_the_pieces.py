"""Fails train-epoch-check: runs one pass over all pieces of a step, more than fits into memory."""


def train_epoch(ddp, optimizer, x, y, pieces, accumulate=1):
    parts = []
    while True:
        at = len(parts) * accumulate
        mine = np.concatenate(
            [np.array([], dtype=int), *pieces[at : at + accumulate]]
        )
        n = ddp.wire.total(len(mine))
        if n == 0:
            return parts
        optimizer.zero_grad()
        loss = (
            nn.functional.cross_entropy(
                ddp.model(x[mine]), y[mine], reduction="sum"
            )
            / n
        )
        loss.backward()
        ddp.finish()
        optimizer.step()
        parts.append(loss.item())
