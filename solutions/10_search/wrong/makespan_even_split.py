"""Fails makespan-check: divides the sum by the number of workers."""


def makespan(durations, workers):
    free, plan = [0.0] * workers, []
    for duration in durations:
        worker = free.index(min(free))
        plan.append((worker, free[worker]))
        free[worker] += duration
    return sum(durations) / workers, plan
