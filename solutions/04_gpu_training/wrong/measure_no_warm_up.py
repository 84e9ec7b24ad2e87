"""Fails measure-check: makes no warm-up calls."""


def measure(fn, clock, synchronise, warmup=2, repeat=9):
    samples = []
    for _ in range(repeat):
        synchronise()
        start = clock()
        fn()
        synchronise()
        samples.append(clock() - start)
    low, middle, high = np.percentile(samples, [25, 50, 75])
    return float(middle), float(low), float(high)
