"""The capstone's programs: what a training cost, what its report must answer, and the example made with them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.capstone import cost
from docs.capstone.example import make

CAPSTONE = Path(__file__).parents[2] / "docs" / "capstone"


def record(name: str, seed: int, seconds: float, *, met: bool = True, **settings: Any) -> dict[str, Any]:
    about = {"name": name, "seed": seed, "batch": 64, "ranks": 2, "machines": 2, "machine": "small", **settings}
    curve = [{"step": 100 + seed, "accuracy": 0.96 if met else 0.9}]
    return {"settings": about, "target": 0.95, "seconds": seconds, "curve": curve, "test": 0.95, "ended": True}


def runs(folder: Path, *records: dict[str, Any], **prices: float) -> list[cost.Runs]:
    for number, one in enumerate(records):
        (folder / f"{number}.json").write_text(json.dumps(one))
    return cost.read(folder, prices)


def test_runs_that_failed_are_paid_for_by_those_that_did_not(tmp_path: Path) -> None:
    failed = record("wild", 2, 60, met=False)
    wild, never = runs(tmp_path, record("wild", 0, 10), record("wild", 1, 20), failed, record("never", 0, 5, met=False))
    assert (wild.name, wild.cost, wild.expected) == ("wild", 180, 90)
    assert (never.name, never.expected) == ("never", None)
    text = cost.table([wild, never], "s")
    assert "| wild | 64 | 2 | 2 x small | 2 of 3 | 100 (100 to 101) | 90 | 40 (20 to 120) | 95.0 ± 0.0 |" in text
    assert "| 0 of 1 | - | never | 10 (10 to 10) | 95.0 |" in text


def test_each_kind_of_machine_has_its_price(tmp_path: Path) -> None:
    small, large = record("a", 0, 36), record("b", 0, 36, machine="large", machines=1)
    assert [one.cost for one in runs(tmp_path, small, large, small=0.5, large=2.5)] == [1, 2.5]
    assert cost.price_of("large=2.5") == ("large", 2.5)
    assert cost.price_of("0.5") == ("", 0.5)
    with pytest.raises(SystemExit, match="no price for the machine 'large'"):
        cost.read(tmp_path, {"small": 1.0})


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "large=", "large"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        cost.price_of(text)


def test_the_search_is_paid_back_by_what_it_saves(tmp_path: Path) -> None:
    every = [record("baseline", s, 30) for s in range(5)] + [record("final", s, 20) for s in range(10, 15)]
    found = runs(tmp_path, *every, record("tried", 5, 45))
    assert cost.balance(found, "s") == (
        "All 11 runs together: 590 s. A training with the final setting saves 20 s; "
        "the search for it is paid back after 5 trainings."
    )
    assert cost.questions(found) == []


def test_a_saving_within_the_spread_is_called_so(tmp_path: Path) -> None:
    every = [record("baseline", s, 30 + s) for s in range(5)] + [record("final", s, 18 + s) for s in range(10, 15)]
    assert "within the spread" in cost.balance(runs(tmp_path, *every), "s")


def test_what_saves_nothing_or_never_arrived_is_said(tmp_path: Path) -> None:
    dearer = [record("final" if i < 5 else "baseline", i, 30 - i) for i in range(10)]
    assert cost.balance(runs(tmp_path, *dearer), "s").endswith("more than the baseline.")
    failed = [*dearer, *(one | {"curve": []} for one in dearer[:5])][5:]
    for old in tmp_path.iterdir():
        old.unlink()
    assert "cannot be compared" in cost.balance(runs(tmp_path, *failed), "s")


@pytest.mark.parametrize(
    ("records", "asked"),
    [
        ([record("final", 0, 1)], "baseline: 0 seeds; 5 at least"),
        ([record("final", 0, 1), record("final", 0, 1)], "final: 1 seeds; 5 at least"),
        (
            [record("final", 3, 1), record("baseline", 3, 1)],
            "final: with seeds [3] it was chosen; new ones say what it costs",
        ),
        ([record("a", 0, 1), record("a", 10**8, 1)], "a: 99999999 seeds between 0 and 100000000 are not there: why?"),
        ([record("a", 0, 1), record("a", 0, 2)], "a: seeds [0] ran more than once: why?"),
        ([record("a", 0, 1), record("a", 1, 1, batch=32)], "a: its runs differ in batch"),
        ([record("a", 0, 1, met=False)], "a: 1 of 1 runs did not meet the target: why?"),
        ([record("a", 0, 1) | {"ended": False}], "a: 1 of 1 runs were broken off: why?"),
        ([record("a", 0, 1, data="x"), record("b", 0, 1, data="y")], "all: the runs have several data sets, x, y"),
    ],
)
def test_what_a_report_must_answer(tmp_path: Path, records: list[dict[str, Any]], asked: str) -> None:
    assert asked in cost.questions(runs(tmp_path, *records))


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", '{"settings": {}}', '{"settings": {"name": "a", "machines": 1}}'),
        json.dumps(record("a", 0, float("nan"))),
        json.dumps(record("a", 0, 1, machines=0)),
        json.dumps(record("a", 0, 1, batch="64")),
        json.dumps(record("a", 0, 1) | {"seconds": "20"}),
        json.dumps(record("a", 0, 1) | {"test": "good"}),
        json.dumps(record("a", 0, 1) | {"curve": [{"step": 1, "accuracy": None}]}),
    ],
)
def test_what_is_no_record_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(SystemExit, match=r"x\.json: not a record of train\.py"):
        cost.read(tmp_path)


def test_a_folder_without_runs_or_in_place_of_one_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no runs\nhint: "):
        cost.read(tmp_path)
    (tmp_path / "x.json").mkdir()
    with pytest.raises(SystemExit, match="not a record"):
        cost.read(tmp_path)


def test_the_example_is_what_its_runs_say() -> None:
    every = cost.read(CAPSTONE / "example" / "runs", {"": make.PRICE})
    assert (CAPSTONE / "example" / "report.md").read_text(encoding="utf-8") == make.report(every)
    assert (CAPSTONE / "example" / "cost.svg").read_text(encoding="utf-8") == make.figure()
    assert {one.name: one.seeds for one in every} == {name: [*seeds] for name, (_, _, seeds) in make.SETTINGS.items()}


def test_the_files_that_the_pages_name_are_there() -> None:
    for page in (CAPSTONE / "README.md", CAPSTONE / "example" / "report.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), target


@pytest.mark.slow
@pytest.mark.frameworks
def test_two_ranks_train_and_no_record_is_written_over(tmp_path: Path) -> None:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        given = ["--name", "tried", "--seed", "7", "--epochs", "1", "--runs", str(tmp_path), *options]
        command = [*launcher, str(CAPSTONE / "train.py"), *given]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)

    for _ in range(2):
        done = run("--batch", "600")
        assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tried-seed7-2.json", "tried-seed7.json"]
    first, second = (json.loads(path.read_text()) for path in sorted(tmp_path.iterdir()))
    assert [look["images"] for look in first["curve"]] == [3600, 7200, 10800, 14400]
    assert [look["accuracy"] for look in first["curve"]] == [look["accuracy"] for look in second["curve"]]
    assert (first["settings"]["ranks"], first["settings"]["machines"], first["ended"]) == (2, 1, True)
    (tried,) = cost.read(tmp_path)
    assert (tried.met, tried.seeds) == (0, [7, 7])
    assert "--batch 63: 2 ranks cannot share it equally\nhint: --batch 62" in run("--batch", "63").stderr
    assert "--batch must be from 1 to 3600" in run("--batch", "7200").stderr
