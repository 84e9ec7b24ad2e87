"""Fails measure-check: reads the clock when the host has already spent its time on the call."""


def measure(fn, clock, synchronise, warmup=2, repeat=9):
    for _ in range(warmup):
        fn()
    samples = []
    for _ in range(repeat):
        synchronise()
        fn()
        start = clock()
        synchronise()
        samples.append(clock() - start)
    low, middle, high = np.percentile(samples, [25, 50, 75])
    return float(middle), float(low), float(high)
