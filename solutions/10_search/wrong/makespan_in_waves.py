"""Fails makespan-check: waits until all are done before it goes on."""


def makespan(durations, workers):
    now, plan = 0.0, []
    for k in range(0, len(durations), workers):
        wave = durations[k : k + workers]
        plan += [(w, now) for w in range(len(wave))]
        now += max(wave)
    return now, plan
