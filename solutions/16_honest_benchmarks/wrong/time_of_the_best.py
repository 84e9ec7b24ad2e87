"""Fails time-to-accuracy-check: the epoch of the best accuracy."""


def time_to_accuracy(run, target):
    if not run["accuracy"] or max(run["accuracy"]) < target:
        return math.inf
    best = run["accuracy"].index(max(run["accuracy"]))
    return run["setup"] + sum(run["epochs"][: best + 1])
