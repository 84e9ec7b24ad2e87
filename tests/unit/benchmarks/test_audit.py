"""The course's own cards pass lab 16's audit, or are admitted with a reason; others are refused."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.audit import ADMITTED, admissions, broken, rules
from labkit import Card

ROOT = Path(__file__).parents[3]
CARDS = [(path, Card.read(path)) for path in sorted(ROOT.glob("solutions/*/cards/*.json"))]
FAST = Card("training is twice as fast", 2.0, "x", n=5, spread=0.1, lab="02_frameworks")


def admitting(root: Path, text: str) -> Path:
    path = root / ADMITTED
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return root


def test_every_card_that_breaks_a_rule_is_admitted_with_a_reason() -> None:
    found = admissions(CARDS)
    assert set(found) == {path for path, card in CARDS if broken(card)}
    entries = tomllib.loads((ROOT / ADMITTED).read_text(encoding="utf-8"))
    assert all(len(entry["reason"]) > 20 for lab in entries.values() for entry in lab.values())


def test_the_audit_is_that_of_the_lab_and_reads_all_kinds_of_cards() -> None:
    assert rules()[1] == "accuracy ignored"
    assert broken(FAST) == [1, 6]
    assert broken(replace(FAST, n=1, spread=None)) == [1, 3, 6]
    assert broken(replace(FAST, claim="a training step is twice as fast", note="Equal to the last bit.")) == []
    assert broken(replace(FAST, claim="two ranks send fewer messages (time)")) == [5, 11]
    assert broken(replace(FAST, claim="accuracy gained", unit="points")) == [2]
    assert broken(replace(FAST, claim="accuracy gained", unit="points", note="Test images.")) == []
    assert broken(replace(FAST, claim="products", unit="Tflop/s", kind="counted")) == [7]


def test_a_new_card_that_breaks_a_rule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"new.json: breaks rule 1 \(accuracy ignored\) and rule 6 .*; admitted: none"):
        admissions([(tmp_path / "new.json", FAST)], tmp_path)


def test_an_admission_names_exactly_what_the_card_breaks(tmp_path: Path) -> None:
    some = [(tmp_path / "new.json", FAST)]
    good = '[02_frameworks]\nnew = { rules = [1, 6], reason = "a model" }\n'
    found = admissions(some, admitting(tmp_path, good))
    assert list(found.values()) == ["rule 1 (accuracy ignored) and rule 6 (no input): a model"]
    with pytest.raises(SystemExit, match="admitted: rule 1"):
        admissions(some, admitting(tmp_path, good.replace("[1, 6]", "[1]")))


def test_an_admission_of_a_card_that_is_mended_or_gone_is_refused(tmp_path: Path) -> None:
    admitting(tmp_path, '[02_frameworks]\nnew = { rules = [1], reason = "a model" }\n')
    honest = replace(FAST, claim="a training step is twice as fast", note="Exactly the same numbers.")
    with pytest.raises(SystemExit, match="breaks no rule; admitted: rule 1"):
        admissions([(tmp_path / "new.json", replace(honest, note="The same to the last bit."))], tmp_path)
    with pytest.raises(SystemExit, match=r"no such card: 02_frameworks\.new"):
        admissions([], tmp_path)
