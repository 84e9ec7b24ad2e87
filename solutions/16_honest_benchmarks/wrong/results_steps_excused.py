"""Fails audit-results-check: only trainings are asked for an accuracy."""


def audit_results(report: dict) -> list[int]:
    said = {key: value for key, value in report.items() if value is not None}
    fast, good = "speed_up" in said, "accuracy" in said
    safe = said.get("part") != "training" or said.get("exact") is True
    options = [said.get(f"{of}_options") for of in ("speed", "accuracy")]
    shown, spread = said.get("shown"), "spread" in said
    broken = {
        1: fast and not good and not safe,
        2: good and said.get("split") != "test",
        3: shown is not None
        and (said.get("runs", math.inf) > shown or not spread),
        8: None not in options and options[0] != options[1],
        12: good and fast != ("baseline_accuracy" in said),
    }
    return [rule for rule, holds in broken.items() if holds]
