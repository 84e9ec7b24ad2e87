"""Lab 16's audit on the course's own cards: what each breaks, and what is admitted with its reason.

python -m benchmarks.audit    prints the rules that the cards break
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from autograder.release.source import read_source
from labkit import Card

__all__ = ["admissions", "broken", "rules"]

ROOT = Path(__file__).parents[1]
ADMITTED = "benchmarks/admitted.toml"
_LAB = ROOT / "solutions" / "16_honest_benchmarks"
_CELLS = ("audit-results", "audit-machines", "audit", "report-of")


@cache
def _lab() -> dict[str, Any]:
    """Return what the lab's cells of the audit define: the solution's own functions, so that both cannot differ."""
    names: dict[str, Any] = {"__name__": "audit", "math": math}
    for cell in read_source(_LAB).cells:
        if cell.grade_id in _CELLS:
            exec(compile(cell.source, cell.grade_id, "exec"), names)
    return names


def rules() -> dict[int, str]:
    """Return the name of each rule that a machine can check."""
    named: dict[int, str] = _lab()["RULES"]
    return named


def broken(card: Card) -> list[int]:
    """Return the numbers of the rules that a card breaks, ascending."""
    lab = _lab()
    found: list[int] = lab["audit"](lab["report_of"](asdict(card)))
    return found


def admissions(cards: list[tuple[Path, Card]], root: Path = ROOT) -> dict[Path, str]:
    """Return, for each card that breaks a rule, which ones and the reason that is given.

    Raises SystemExit for a card that breaks a rule that nobody admits, and for an admission of what no card does.
    """
    path = root / ADMITTED
    admitted = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    found = {}
    for card_path, card in cards:
        entry = admitted.get(card.lab, {}).pop(card_path.stem, {})
        breaks, admits = broken(card), entry.get("rules", [])
        if breaks != admits:
            raise SystemExit(
                f"{card_path}: breaks {_named(breaks) or 'no rule'}; admitted: {_named(admits) or 'none'}"
                f"\nhint: mend the card, or admit it in {ADMITTED} with a reason"
            )
        if breaks:
            found[card_path] = f"{_named(breaks)}: {entry['reason']}"
    if left := [f"{lab}.{name}" for lab, entries in admitted.items() for name in entries]:
        raise SystemExit(f"{ADMITTED}: no such card: {', '.join(left)}")
    return found


def _named(numbers: list[int]) -> str:
    return " and ".join(f"rule {number} ({rules()[number]})" for number in numbers)


def _cards(root: Path = ROOT) -> Iterator[tuple[Path, Card]]:
    for path in sorted(root.glob("solutions/*/cards/*.json")):
        yield path, Card.read(path)


def main() -> None:
    cards = [(path, card, broken(card)) for path, card in _cards()]
    for path, card, breaks in cards:
        if breaks:
            print(f"{card.lab[:2]}/{path.stem:20} {_named(breaks)}\n    {card.claim}\n    {card.note}")
    print(f"{sum(bool(breaks) for *_, breaks in cards)} of {len(cards)} cards break a rule")


if __name__ == "__main__":
    main()
