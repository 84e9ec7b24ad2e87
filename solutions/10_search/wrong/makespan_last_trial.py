"""Fails makespan-check: takes the last trial's end for the end of all."""


def makespan(durations, workers):
    free, plan = [0.0] * workers, []
    end = 0.0
    for duration in durations:
        worker = free.index(min(free))
        plan.append((worker, free[worker]))
        free[worker] += duration
        end = free[worker]
    return end, plan
