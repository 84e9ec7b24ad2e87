"""Fails measure-check: returns the extremes in place of the quartiles."""


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
    low, middle, high = np.percentile(samples, [0, 50, 100])
    return float(middle), float(low), float(high)
