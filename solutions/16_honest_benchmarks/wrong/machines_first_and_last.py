"""Fails audit-machines-check: compares the batches of the fewest and the most devices only."""


def audit_machines(report):
    get = report.get
    said = lambda key: get(key) is not None
    many = said("devices") and get("devices") > 1
    batches = get("batches") or {}
    strong_bad = len(set(batches.values())) > 1
    weak_bad = bool(batches) and batches[max(batches)] * min(
        batches
    ) != batches[min(batches)] * max(batches)
    rules = {
        4: said("year")
        and said("baseline_year")
        and get("year") - get("baseline_year") > 2,
        5: many and get("part") == "kernel",
        6: said("speed_up")
        and get("part") == "training"
        and get("io") is not True,
        7: (get("unit") or "").lower().endswith("op/s") and not said("seconds"),
        10: many and get("stop") == "seconds",
        11: many
        and said("speed_up")
        and {"strong": strong_bad, "weak": weak_bad}.get(get("scaling"), True),
    }
    return [rule for rule, broken in rules.items() if broken]
