"""Fails measure-check: does not wait before it starts the clock."""


def measure(fn, clock, synchronise, warmup=2, repeat=9):
    for _ in range(warmup):
        fn()
    samples = []
    for _ in range(repeat):
        start = clock()
        fn()
        synchronise()
        samples.append(clock() - start)
    low, middle, high = np.percentile(samples, [25, 50, 75])
    return float(middle), float(low), float(high)
