"""Fails successive-halving-check: trains for all epochs again on each rung."""


def successive_halving(trials, advance, least, most, eta=3):
    rungs, total = [], least
    alive = list(trials)
    while alive and total <= most:
        rung = [(trial, advance(trial, total)) for trial in alive]
        rungs.append(rung)
        ranked = sorted(rung, key=lambda pair: (math.isnan(pair[1]), pair[1]))
        keep = max(1, len(rung) // eta)
        alive = [trial for trial, _ in ranked[:keep]]
        total = total * eta
    return rungs
