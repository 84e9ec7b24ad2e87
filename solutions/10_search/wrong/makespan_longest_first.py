"""Fails makespan-check: sorts the trials."""


def makespan(durations, workers):
    free, plan = [0.0] * workers, []
    for duration in sorted(durations, reverse=True):
        worker = free.index(min(free))
        plan.append((worker, free[worker]))
        free[worker] += duration
    return max(free), plan
