"""What the labs write in italics is a term with its sentence, or said to be stressed only; they spell alike."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from docs import make_glossary
from docs.make_glossary import _Said

ROOT = Path(__file__).parents[2]
SAID = [
    _Said("01_a", "A *ring* is round.", ("ring",)),
    _Said("02_b", "*Ring* again, and *very* much.", ("Ring", "very")),
]


def _page(monkeypatch: pytest.MonkeyPatch, root: Path, said: list[_Said], **terms: Any) -> str:
    (root / "solutions/01_a").mkdir(parents=True)
    (root / "solutions/01_a/lab.toml").touch()
    monkeypatch.setattr(make_glossary, "_sentences", lambda folder: iter(said))
    return make_glossary.page({"terms": [], "stressed": [], "spelling": {}, **terms}, root)


def test_the_page_is_generated() -> None:
    text = make_glossary.page(tomllib.loads((ROOT / "docs/glossary.toml").read_text()))
    assert (ROOT / "docs/glossary.md").read_text() == text, "run: python docs/make_glossary.py"


def test_a_term_stands_with_the_first_sentence_that_has_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = _page(monkeypatch, tmp_path, SAID, terms=["Ring"], stressed=["very"])
    assert text.endswith("\n* **Ring** ([01](../labs/01_a/01_a.ipynb)): A *ring* is round.\n")


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"terms": ["ring"]}, r"02_b: \*very\* in"),
        ({"terms": ["ring", "very"], "stressed": ["very"]}, "both a term and stressed only: very"),
        ({"terms": ["ring", "tree"], "stressed": ["very"]}, "no lab has in italics: tree"),
        ({"terms": ["ring"], "stressed": ["very"], "spelling": {"rounds?": "circular"}}, "all labs write 'circular'"),
    ],
)
def test_what_is_not_classified_or_spelt_otherwise_is_refused(
    terms: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match=said):
        _page(monkeypatch, tmp_path, SAID, **terms)
