"""Fails tune-check: trains the winner once more."""


def tune(train, rates, seeds) -> dict[str, float]:
    found = {rate: [train(rate, seed) for seed in seeds] for rate in rates}
    best = max(rates, key=lambda rate: np.mean([run[0] for run in found[rate]]))
    test = [train(best, seed)[1] for seed in seeds]
    return {
        "rate": best,
        "test": float(np.mean(test)),
        "spread": float(np.std(test)),
        "runs": len(rates) * len(seeds),
        "seconds": sum(run[2] for runs in found.values() for run in runs),
    }
