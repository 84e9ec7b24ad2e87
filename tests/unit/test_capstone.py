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
    about = {"name": name, "seed": seed, "batch": 64, "ranks": 2, "machines": 2, "machine": "CPU", **settings}
    return {"settings": about, "met": met, "seconds": seconds, "curve": [{"step": 100 + seed}], "test": 0.95}


def runs(folder: Path, *records: dict[str, Any]) -> list[cost.Runs]:
    for number, one in enumerate(records):
        (folder / f"{number}.json").write_text(json.dumps(one))
    return cost.read(folder)


def test_runs_that_failed_are_paid_for_by_those_that_did_not(tmp_path: Path) -> None:
    failed = record("wild", 2, 60, met=False)
    wild, never = runs(tmp_path, record("wild", 0, 10), record("wild", 1, 20), failed, record("never", 0, 5, met=False))
    assert (wild.name, wild.machine_seconds, wild.expected) == ("wild", 180, 90)
    assert (never.name, never.expected) == ("never", None)
    assert "| wild | 64 | 2 | 2 | 2 of 3 | 100 (100 to 101) | 9 | 95.0 ± 0.0 % |" in cost.table([wild, never], 3.6)
    assert "| 0 of 1 | - | never | 95.0 % |" in cost.table([never], None)


def test_the_search_is_paid_back_by_what_it_saves(tmp_path: Path) -> None:
    every = [record("baseline", s, 30) for s in range(5)] + [record("final", s, 20) for s in range(10, 15)]
    found = runs(tmp_path, *every, record("tried", 5, 45))
    assert cost.balance(found, None) == (
        "All 11 runs together: 590 machine seconds. A training with the final setting saves 20 machine seconds; "
        "the search for it is paid back after 5 trainings."
    )
    assert cost.questions(found) == []
    dearer = runs(tmp_path, *(record("final" if i < 5 else "baseline", i, 30 - i) for i in range(10)))
    assert cost.balance(dearer, 1).endswith("more than the baseline.")


@pytest.mark.parametrize(
    ("records", "asked"),
    [
        ([record("final", 0, 1)], "baseline: 0 runs; 5 seeds at least"),
        ([record("final", 0, 1)], "final: 1 runs; 5 seeds at least"),
        (
            [record("final", 3, 1), record("tried", 3, 1)],
            "final: with seeds [3] it was chosen; new ones say what it costs",
        ),
        ([record("a", 0, 1), record("a", 2, 1)], "a: where are seeds [1]?"),
        ([record("a", 0, 1), record("a", 0, 2)], "a: seeds [0] ran more than once: why?"),
        ([record("a", 0, 1), record("a", 1, 1, batch=32)], "a: its runs differ in batch"),
        ([record("a", 0, 1, met=False)], "a: 1 of 1 runs did not meet the target: why?"),
    ],
)
def test_what_a_report_must_answer(tmp_path: Path, records: list[dict[str, Any]], asked: str) -> None:
    assert asked in cost.questions(runs(tmp_path, *records))


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"settings": {}}', '{"settings": {"name": "a", "machines": 1}, "met": 1}']
)
def test_what_is_no_record_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(SystemExit, match=r"x\.json: not a record of train\.py"):
        cost.read(tmp_path)


def test_a_folder_without_runs_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no runs\nhint: "):
        cost.read(tmp_path)


def test_the_example_is_what_its_runs_say() -> None:
    every = cost.read(CAPSTONE / "example" / "runs")
    assert (CAPSTONE / "example" / "report.md").read_text(encoding="utf-8") == make.report(every)
    assert (CAPSTONE / "example" / "cost.svg").read_text(encoding="utf-8") == make.figure({r.name: r for r in every})
    assert {one.name: one.seeds() for one in every} == {name: [*seeds] for name, (_, _, seeds) in make.SETTINGS.items()}


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
    assert (first["settings"]["ranks"], first["settings"]["machines"], first["met"]) == (2, 1, False)
    assert "--batch 63: 2 ranks cannot share it equally" in run("--batch", "63").stderr
