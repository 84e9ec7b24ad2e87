"""Fails measure-check: returns the mean, which one interruption spoils."""


def measure(fn, clock, synchronise, warmup=2, repeat=9):
    for _ in range(warmup):
        fn()
    samples = []
    for _ in range(repeat):
        synchronise()
        start = clock()
        fn()
        synchronise()
        samples.append(clock() - start)
    low, high = np.percentile(samples, [25, 75])
    return float(np.mean(samples)), float(low), float(high)
