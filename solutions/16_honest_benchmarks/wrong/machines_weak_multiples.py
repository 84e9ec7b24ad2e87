"""Fails audit-machines-check: weak scaling only where each number of devices is a multiple of the least."""


def audit_machines(report: dict) -> list[int]:
    """Return which of rules 4, 5, 6, 7, 10 and 11 a report breaks."""
    get = report.get
    devices = 1 if get("devices") is None else get("devices")
    speed = get("speed_up") is not None
    year, old, scaling = get("year"), get("baseline_year"), get("scaling")
    batches = get("batches") or {}
    least = min(batches, default=1)
    per = {
        "strong": set(batches.values()),
        "weak": {images / (p // least) for p, images in batches.items()},
    }
    rules = {
        4: year is not None and old is not None and year - old > 2,
        5: devices > 1 and get("part") == "kernel",
        6: speed and get("part") == "training" and get("io") is not True,
        7: str(get("unit") or "").lower().endswith("op/s")
        and get("seconds") is None,
        10: devices > 1 and get("stop") == "seconds",
        11: devices > 1
        and speed
        and (scaling not in per or len(per[scaling]) > 1),
    }
    return [rule for rule, broken in rules.items() if broken]
