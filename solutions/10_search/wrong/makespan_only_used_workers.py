"""Fails makespan-check: has no answer without trials."""


def makespan(durations, workers):
    free, plan = [0.0] * workers, []
    for duration in durations:
        worker = free.index(min(free))
        plan.append((worker, free[worker]))
        free[worker] += duration
    return max(start + d for (_, start), d in zip(plan, durations)), plan
