"""The page of claims: a row a card, and an honest sentence wherever a source is quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.claims import page
from labkit import result_card


def write(root: Path, name: str, **options: object) -> None:
    folder = root / "solutions" / "02_frameworks" / "cards"
    folder.mkdir(parents=True, exist_ok=True)
    result_card("a graph is smaller", 1.5, path=folder / f"{name}.json", lab="02_frameworks", **options)  # type: ignore[arg-type]


def test_a_card_is_a_row_with_its_note_below(tmp_path: Path) -> None:
    write(tmp_path, "speed", unit="x", n=3, spread=0.25, source="C: 2x", seed_value=2, note="Only on large batches.")
    lines = page(tmp_path).splitlines()
    assert any(line.startswith("| a graph is smaller | C: 2x | 2 x | 1.5 ± 0.25 x | 3 |") for line in lines)
    assert "* a graph is smaller: Only on large batches." in lines


def test_a_source_without_a_note_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "speed", source="C: 2x")
    with pytest.raises(SystemExit, match="a claim of C without a note"):
        page(tmp_path)


def test_what_a_card_breaks_stands_below_the_table_with_its_reason(tmp_path: Path) -> None:
    write(tmp_path, "speed", n=1, note="One run.")
    with pytest.raises(SystemExit, match="breaks rule 3"):
        page(tmp_path)
    admitted = tmp_path / "benchmarks" / "admitted.toml"
    admitted.parent.mkdir()
    admitted.write_text('[02_frameworks]\nspeed = { rules = [3], reason = "one run is all there is" }\n')
    lines = page(tmp_path).splitlines()
    assert "* a graph is smaller: *admitted*, rule 3 (not all runs, or no spread): one run is all there is" in lines
