"""Fails tune-check: all rates of a seed, before the next seed."""


def tune(train, rates, seeds) -> dict[str, float]:
    found = {rate: [] for rate in rates}
    for seed in seeds:
        for rate in rates:
            found[rate].append(train(rate, seed))
    best = max(rates, key=lambda rate: np.mean([run[0] for run in found[rate]]))
    test = [run[1] for run in found[best]]
    return {
        "rate": best,
        "test": float(np.mean(test)),
        "spread": float(np.std(test)),
        "runs": len(rates) * len(seeds),
        "seconds": sum(run[2] for runs in found.values() for run in runs),
    }
