"""Fails makespan-check: one plan for all calls."""


def makespan(durations, workers, plan=[]):
    free = [0.0] * workers
    plan.clear()
    for duration in durations:
        worker = free.index(min(free))
        plan.append((worker, free[worker]))
        free[worker] += duration
    return max(free), plan
