"""Fails time-to-accuracy-check: asks the accuracy to stay above the target."""


def time_to_accuracy(run, target):
    passed, found = run["setup"], math.inf
    for seconds, accuracy in zip(run["epochs"], run["accuracy"], strict=True):
        passed += seconds
        if accuracy < target:
            found = math.inf
        elif math.isinf(found):
            found = passed
    return found
