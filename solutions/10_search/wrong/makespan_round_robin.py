"""Fails makespan-check: deals trials out in turn, whoever is free."""


def makespan(durations, workers):
    free, plan = [0.0] * workers, []
    for k, duration in enumerate(durations):
        plan.append((k % workers, free[k % workers]))
        free[k % workers] += duration
    return max(free), plan
