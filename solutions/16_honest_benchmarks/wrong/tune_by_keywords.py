"""Fails tune-check: calls train by keywords."""


def tune(train, rates, seeds) -> dict[str, float]:
    """Return the best rate, its test accuracy, and what finding it cost."""
    found = {
        rate: [train(rate=rate, seed=seed) for seed in seeds] for rate in rates
    }
    means = {r: np.mean([v for v, _, _ in runs]) for r, runs in found.items()}
    best = max(means, key=means.get)
    test = [t for _, t, _ in found[best]]
    everything = [run for runs in found.values() for run in runs]
    return {
        "rate": best,
        "test": float(np.mean(test)),
        "spread": float(np.std(test)),
        "runs": len(everything),
        "seconds": sum(s for _, _, s in everything),
    }
