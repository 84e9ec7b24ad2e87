"""Fails time-to-accuracy-check: the setup is left out."""


def time_to_accuracy(run: dict, target: float) -> float:
    passed = 0
    for seconds, accuracy in zip(run["epochs"], run["accuracy"], strict=True):
        passed += seconds
        if accuracy >= target:
            return passed
    return math.inf
