"""Fails measure-check: returns the quartiles in their order, and not the median first."""


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
    low, middle, high = np.percentile(samples, [25, 50, 75])
    return float(low), float(middle), float(high)
