"""Fails audit-results-check: rule 3 also where fewer runs are said than shown."""


def audit_results(report):
    get = report.get
    said = lambda key: get(key) is not None
    broken = []
    if (
        said("speed_up")
        and not said("accuracy")
        and get("part") != "kernel"
        and get("exact") is not True
    ):
        broken.append(1)
    if said("accuracy") and get("split") != "test":
        broken.append(2)
    if said("shown") and (get("runs") != get("shown") or not said("spread")):
        broken.append(3)
    if (
        said("speed_options")
        and said("accuracy_options")
        and get("speed_options") != get("accuracy_options")
    ):
        broken.append(8)
    if said("accuracy") and said("speed_up") != said("baseline_accuracy"):
        broken.append(12)
    return broken
