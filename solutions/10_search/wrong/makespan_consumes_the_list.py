"""Fails makespan-check: takes the trials out of the caller's list."""


def makespan(durations, workers):
    free, plan = [0.0] * workers, []
    while durations:
        duration = durations.pop(0)
        worker = free.index(min(free))
        plan.append((worker, free[worker]))
        free[worker] += duration
    return max(free), plan
