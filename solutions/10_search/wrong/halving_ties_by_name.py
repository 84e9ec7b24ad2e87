"""Fails successive-halving-check: breaks ties by name."""


def successive_halving(trials, advance, least, most, eta=3):
    rungs, had, total = [], 0, least
    alive = list(trials)
    while alive and total <= most:
        rung = [(trial, advance(trial, total - had)) for trial in alive]
        rungs.append(rung)
        ranked = sorted(
            rung, key=lambda pair: (math.isnan(pair[1]), pair[1], pair[0])
        )
        keep = max(1, len(rung) // eta)
        alive = [trial for trial, _ in ranked[:keep]]
        had, total = total, total * eta
    return rungs
