"""Fails time-to-accuracy-check: returns the whole time if the target is never reached."""


def time_to_accuracy(run: dict, target: float) -> float:
    passed = run["setup"]
    for seconds, accuracy in zip(run["epochs"], run["accuracy"], strict=True):
        passed += seconds
        if accuracy >= target:
            return passed
    return passed
