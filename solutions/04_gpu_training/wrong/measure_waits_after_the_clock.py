"""Fails measure-check: waits, but looks at the clock before."""


def measure(fn, clock, synchronise, warmup=2, repeat=9):
    for _ in range(warmup):
        fn()
    samples = []
    for _ in range(repeat):
        synchronise()
        start = clock()
        fn()
        samples.append(clock() - start)
        synchronise()
    low, middle, high = np.percentile(samples, [25, 50, 75])
    return float(middle), float(low), float(high)
