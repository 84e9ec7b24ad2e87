"""Fails successive-halving-check: a sort that keeps equal losses in order on short rungs only."""


def successive_halving(trials, advance, least: int, most: int, eta: int = 3):
    rungs, now, had, total = [], list(trials), 0, least
    while now and total <= most:
        rung = [(trial, advance(trial, total - had)) for trial in now]
        rungs.append(rung)
        order = np.argsort([loss for _, loss in rung])  # NaN goes last
        now = [rung[i][0] for i in order[: max(1, len(rung) // eta)]]
        had, total = total, total * eta
    return rungs
