"""Fails measure-check: times all calls together, so that nothing is left to take a median of."""


def measure(fn, clock, synchronise, warmup=2, repeat=9):
    for _ in range(warmup):
        fn()
    synchronise()
    start = clock()
    for _ in range(repeat):
        fn()
    synchronise()
    mean = (clock() - start) / repeat
    return mean, mean, mean
