"""Fails audit-results-check: options that are an empty dictionary count as not said."""


def audit_results(report):
    said = lambda *keys: all(report.get(key) is not None for key in keys)
    broken = []
    if said("speed_up") and not (
        said("accuracy")
        or report.get("part") == "kernel"
        or report.get("exact") is True
    ):
        broken.append(1)
    if said("accuracy") and report.get("split") != "test":
        broken.append(2)
    if said("shown") and not (
        said("runs", "spread") and report["runs"] <= report["shown"]
    ):
        broken.append(3)
    a, b = report.get("speed_options"), report.get("accuracy_options")
    if a and b and a != b:
        broken.append(8)
    if said("accuracy") and said("speed_up") + said("baseline_accuracy") == 1:
        broken.append(12)
    return broken
