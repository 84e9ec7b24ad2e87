"""Fails audit-machines-check: a newer baseline is convicted."""


def audit_machines(report: dict) -> list[int]:
    said = {key: value for key, value in report.items() if value is not None}
    fast, part = "speed_up" in said, said.get("part")
    many = said.get("devices", 1) > 1
    batches = said.get("batches", {})
    same = {
        "strong": len(set(batches.values())) <= 1,
        "weak": len({images / p for p, images in batches.items()}) <= 1,
    }
    years = [said.get(key) for key in ("year", "baseline_year")]
    ops = said.get("unit", "").lower().endswith("op/s")
    broken = {
        4: None not in years and abs(years[0] - years[1]) > 2,
        5: many and part == "kernel",
        6: fast and part == "training" and said.get("io") is not True,
        7: ops and "seconds" not in said,
        10: many and said.get("stop") == "seconds",
        11: many and fast and not same.get(said.get("scaling")),
    }
    return [rule for rule, holds in broken.items() if holds]
