"""Fails makespan-check: starts where the last call ended."""

FREE = {}


def makespan(durations, workers):
    free, plan = FREE.setdefault(workers, [0.0] * workers), []
    for duration in durations:
        worker = free.index(min(free))
        plan.append((worker, free[worker]))
        free[worker] += duration
    return max(free), plan
