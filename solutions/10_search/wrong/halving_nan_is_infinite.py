"""Fails successive-halving-check: takes NaN for infinity."""


def successive_halving(trials, advance, least, most, eta=3):
    rungs, had, total = [], 0, least
    alive = list(trials)
    while alive and total <= most:
        rung = [(trial, advance(trial, total - had)) for trial in alive]
        rungs.append(rung)
        ranked = sorted(
            rung, key=lambda pair: math.inf if math.isnan(pair[1]) else pair[1]
        )
        keep = max(1, len(rung) // eta)
        alive = [trial for trial, _ in ranked[:keep]]
        had, total = total, total * eta
    return rungs
