"""Fails measure-check: stops the clock when the work is queued."""


def measure(fn, clock, synchronise, warmup=2, repeat=9):
    for _ in range(warmup):
        fn()
    samples = []
    for _ in range(repeat):
        synchronise()
        start = clock()
        fn()
        samples.append(clock() - start)
    low, middle, high = np.percentile(samples, [25, 50, 75])
    return float(middle), float(low), float(high)
