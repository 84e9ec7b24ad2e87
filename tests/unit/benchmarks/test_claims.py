"""The page of claims: a row a card, and an honest sentence wherever a source is quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.claims import page
from labkit import result_card


def write(root: Path, name: str, **options: object) -> None:
    folder = root / "solutions" / "02_frameworks" / "cards"
    folder.mkdir(parents=True, exist_ok=True)
    result_card("a graph is faster", 1.5, path=folder / f"{name}.json", lab="02_frameworks", **options)  # type: ignore[arg-type]


def test_a_card_is_a_row_with_its_note_below(tmp_path: Path) -> None:
    write(tmp_path, "speed", unit="x", n=3, spread=0.25, source="C: 2x", seed_value=2, note="Only on large batches.")
    lines = page(tmp_path).splitlines()
    assert any(line.startswith("| a graph is faster | C: 2x | 2 x | 1.5 ± 0.25 x | 3 |") for line in lines)
    assert "* a graph is faster: Only on large batches." in lines


def test_a_source_without_a_note_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "speed", source="C: 2x")
    with pytest.raises(SystemExit, match="a claim of C without a note"):
        page(tmp_path)
