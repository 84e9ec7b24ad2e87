"""Fails audit-results-check: missing options differ from those that are said."""


def audit_results(report: dict) -> list[int]:
    said = {key: value for key, value in report.items() if value is not None}
    fast, good = "speed_up" in said, "accuracy" in said
    safe = said.get("part") == "kernel" or said.get("exact") is True
    options = [said.get(f"{of}_options") for of in ("speed", "accuracy")]
    shown, spread = said.get("shown"), "spread" in said
    broken = {
        1: fast and not good and not safe,
        2: good and said.get("split") != "test",
        3: shown is not None
        and (said.get("runs", math.inf) > shown or not spread),
        8: options[0] != options[1],
        12: good and fast != ("baseline_accuracy" in said),
    }
    return [rule for rule, holds in broken.items() if holds]
