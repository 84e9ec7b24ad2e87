"""Fails tune-check: no rate at all if nothing is ever right."""


def tune(train, rates, seeds) -> dict[str, float]:
    """Return the best rate, its test accuracy, and what finding it cost."""
    best, best_rate, test, runs, seconds = 0, None, [0], 0, 0
    for rate in rates:
        results = [train(rate, seed) for seed in seeds]
        runs += len(results)
        seconds += sum(r[2] for r in results)
        mean = np.mean([r[0] for r in results])
        if mean > best:
            best, best_rate, test = mean, rate, [r[1] for r in results]
    return {
        "rate": best_rate,
        "test": float(np.mean(test)),
        "spread": float(np.std(test)),
        "runs": runs,
        "seconds": seconds,
    }
