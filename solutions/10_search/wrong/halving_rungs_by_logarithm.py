"""Fails successive-halving-check: counts rungs by a logarithm, which is just below a whole number."""


def successive_halving(trials, advance, least: int, most: int, eta: int = 3):
    if not trials or least > most:
        return []
    rungs, now, had = [], list(trials), 0
    for k in range(int(math.log(most / least, eta)) + 1):
        total = least * eta**k
        rung = [(trial, advance(trial, total - had)) for trial in now]
        rungs.append(rung)
        ranked = sorted(rung, key=lambda p: (math.isnan(p[1]), p[1]))
        now = [trial for trial, _ in ranked[: max(1, len(rung) // eta)]]
        had = total
    return rungs
