"""Fails time-to-accuracy-check: the last epoch that is good enough, not the first."""


def time_to_accuracy(run, target):
    passed, found = run["setup"], math.inf
    for seconds, accuracy in zip(run["epochs"], run["accuracy"], strict=True):
        passed += seconds
        if accuracy >= target:
            found = passed
    return found
