"""Fails time-to-accuracy-check: all epochs are taken to be as long as the mean."""


def time_to_accuracy(run, target):
    for epoch, accuracy in enumerate(run["accuracy"], 1):
        if accuracy >= target:
            mean = sum(run["epochs"]) / len(run["epochs"])
            return run["setup"] + epoch * mean
    return math.inf
