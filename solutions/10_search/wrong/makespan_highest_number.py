"""Fails makespan-check: among free workers the highest number."""


def makespan(durations, workers):
    free, plan = [0.0] * workers, []
    for duration in durations:
        worker = max(range(workers), key=lambda w: (-free[w], w))
        plan.append((worker, free[worker]))
        free[worker] += duration
    return max(free), plan
