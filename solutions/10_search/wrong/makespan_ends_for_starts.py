"""Fails makespan-check: records when a trial ends."""


def makespan(durations, workers):
    free, plan = [0.0] * workers, []
    for duration in durations:
        worker = free.index(min(free))
        free[worker] += duration
        plan.append((worker, free[worker]))
    return max(free), plan
