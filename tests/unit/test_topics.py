"""Every topic of the sources has a place in the course, and what docs/topics.md says of it is so."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docs import make_topics

ROOT = Path(__file__).parents[2]
README = """
| [01_first](labs/01_first) | what? | | 2 | 20 |
| [02_next](labs/02_next) | how? | 01 | 3.5 | 20 |
| 03_later | why? | 01, 02 | 4 | 20 | planned |
"""
SOURCES = {"01_first": "# ## Gradients (2 points)\n#\n# A chain rule.\n", "02_next": "import chain\n"}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text(README)
    for name, text in SOURCES.items():
        folder = tmp_path / "solutions" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(text)
    return tmp_path


def _topics(*topics: dict[str, str], labs: list[str] | None = None) -> dict[str, Any]:
    paths = [{"name": "Short", "who": "a day", "labs": labs or ["01_first"]}]
    return {"path": paths, "A": {"title": "a lecture", "topics": list(topics)}}


CHAIN = {"topic": "the chain rule", "place": "01_first", "at": "chain"}


def test_the_page_is_generated() -> None:
    text = make_topics.page(tomllib.loads((ROOT / "docs/topics.toml").read_text()))
    assert (ROOT / "docs/topics.md").read_text() == text, "run: python docs/make_topics.py"


def test_a_topic_stands_with_its_lab_its_heading_and_its_state(course: Path) -> None:
    topics = [CHAIN, {**CHAIN, "at": "Gradients"}, {"topic": "later", "place": "03_later", "at": "any"}]
    text = make_topics.page(_topics(*topics, {"topic": "news", "left": "nothing to compute"}), course)
    assert "| the chain rule | [01_first](../labs/01_first/01_first.ipynb) | ready |" in text
    assert "| the chain rule | [01_first](../labs/01_first/01_first.ipynb), Gradients | ready |" in text
    assert "| later | 03_later | planned |\n| news | not taught: nothing to compute | left |" in text
    assert "2 of 4 topics are there." in text


def test_a_path_says_its_hours_and_what_it_leaves_out(course: Path) -> None:
    text = make_topics.page(_topics(CHAIN, labs=["01_first", "02_next"]), course)
    assert "**Short**, 5.5 hours" in text
    assert "* left out: 03_later\n* topics of the sources: A 1 of 1" in text
    assert "still planned: 03_later" in make_topics.page(_topics(CHAIN, labs=["*"]), course)


WRONG: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "no place": (lambda: _topics({"topic": "lost"}), "A: lost: expected a place"),
    "both": (lambda: _topics({**CHAIN, "left": "why"}), "expected a place"),
    "no such lab": (lambda: _topics({**CHAIN, "place": "09_none"}), "there is no 09_none"),
    "words that do not stand there": (lambda: _topics({**CHAIN, "at": "entropy"}), "no line with 'entropy'"),
    "words in code alone": (lambda: _topics({**CHAIN, "place": "02_next"}), "no line with 'chain'"),
    "a path with a gap": (lambda: _topics(CHAIN, labs=["02_next"]), "path Short: 02_next comes after 01"),
}


@pytest.mark.parametrize("how", WRONG)
def test_what_is_not_so_is_not_written(how: str, course: Path) -> None:
    topics, said = WRONG[how]
    with pytest.raises(SystemExit, match=said):
        make_topics.page(topics(), course)


def test_each_lab_asks_for_the_labs_that_come_before_it_in_the_readme() -> None:
    labs = make_topics._labs((ROOT / "README.md").read_text())

    def before(number: str) -> set[str]:
        return {number}.union(*(before(one) for one in labs[number].after))

    for number, lab in labs.items():
        text = (ROOT / "solutions" / lab.name / f"{lab.name}.py").read_text()
        row = re.search(r"\| Prerequisites \| (.*) \|", text)
        assert row
        asked = [part for part in row[1].split(";") if "help" not in part]
        named = {one for part in asked for one in re.findall(r"\b\d\d\b", part)}
        assert {*lab.after} <= named <= before(number) - {number}, f"{lab.name}: {row[1]}"
