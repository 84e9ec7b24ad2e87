"""Fails time-to-accuracy-check: the whole run, if the target is reached at all."""


def time_to_accuracy(run, target):
    if any(accuracy >= target for accuracy in run["accuracy"]):
        return run["setup"] + sum(run["epochs"])
    return math.inf
