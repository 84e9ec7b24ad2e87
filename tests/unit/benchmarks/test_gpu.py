"""What was recorded on a GPU is what pages, notebooks and prose say of it, and cells that time one have it alone."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.release.source import read_source
from benchmarks.common import folder
from benchmarks.gpu import page, run
from benchmarks.gpu.play import says_what_it_skips, times_a_gpu
from labkit import Card, recorded

KEPT: dict[str, Any] = json.loads(run.KEPT.read_text(encoding="utf-8"))
LABS = sorted(path.parent.name for path in folder("").glob("*/lab.toml"))
BEYOND = [lab for lab in LABS if lab != "00_orientation"]


def test_the_page_and_what_notebooks_show_are_what_was_kept() -> None:
    assert page.main(check=True) == 0


def test_a_page_that_is_out_of_date_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page, "_ROOT", tmp_path)
    monkeypatch.setattr(page, "_PAGE", tmp_path / "gpu.md")
    assert page.main(check=True) == 1
    assert capsys.readouterr().err == "gpu.md is out of date: python -m benchmarks.gpu page\n"


def test_every_lab_was_run_to_its_end_with_all_checks_passed() -> None:
    assert sorted(KEPT["labs"]) == LABS
    for found in KEPT["labs"].values():
        passed, checks = found["checks"]
        assert passed == checks > 0


@pytest.mark.parametrize("lab", BEYOND)
def test_the_gpu_cell_of_a_lab_shows_what_it_printed_on_one(lab: str) -> None:
    cells = [cell for cell in read_source(folder(lab)).cells if times_a_gpu(cell) and says_what_it_skips(cell)]
    assert len(cells) == 1
    assert f'print(recorded("{lab}"))' in cells[0].source
    text = recorded(lab)
    assert text.startswith(f"On one {KEPT['hardware']['gpu']} this cell printed ({KEPT['date']}):\n\n")
    assert len(text.splitlines()) > 2


def test_a_lab_of_which_nothing_was_recorded_is_named_with_the_others() -> None:
    with pytest.raises(ValueError, match=r"nothing of a lab named '99'\nhint: one of 01_numpy_mlp, "):
        recorded("99")


def test_lab_04_draws_what_was_measured() -> None:
    drawn = next(cell for cell in read_source(folder("04_gpu_training")).cells if "H100_16_CORES =" in cell.source)
    line = next(text for text in drawn.source.splitlines() if text.startswith("H100, H100_16_CORES = "))
    measured, over_all = ast.literal_eval(line.partition(" = ")[2])
    assert list(map(float, measured)) == list(KEPT["crossover"].values())
    cards = folder("04_gpu_training") / "cards"
    assert Card.read(cards / "gpu_speedup_all_cores.json").value == pytest.approx(over_all, abs=0.005)
    assert Card.read(cards / "gpu_speedup_measured.json").value == pytest.approx(measured[-1], abs=0.005)
    assert over_all < 10 < measured[-1]  # "misses the lecture's ten"
    assert measured[0] < 1  # "lose against a core"


def test_no_winograd_nor_fft_was_chosen_on_the_gpu() -> None:
    said = "\n".join(KEPT["labs"]["05_convolution"]["printed"]).lower()
    assert "winograd" not in said
    assert "fft" not in said


def test_fewer_channels_were_once_slower() -> None:
    rows = [line.split() for line in KEPT["labs"]["09_small_models"]["printed"][0].splitlines()[1:]]
    assert any(float(row[-4].rstrip("x")) > 1 for row in rows)


PLAYER = """
import os, sys, time
ask, answer, log = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for _ in range(2):
    os.write(ask, b"?"); os.read(answer, 1)
    with open(log, "a") as file: file.write("begin\\n")
    time.sleep(0.05)
    with open(log, "a") as file: file.write("end\\n")
"""


def test_one_gpu_cell_runs_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, log = tmp_path / "player.py", tmp_path / "log"
    program.write_text(PLAYER)
    real = subprocess.Popen

    def instead(command: list[str], **options: Any) -> Any:
        return real([sys.executable, str(program), *command[-2:], str(log)], **options)

    monkeypatch.setattr(subprocess, "Popen", instead)
    monkeypatch.setattr(run, "keep", lambda path, labs: path.write_text(json.dumps(labs)))
    assert run.main(["00_orientation", "01_numpy_mlp", "02_frameworks"], 60, str(tmp_path / "kept.json")) == 0
    assert log.read_text() == "begin\nend\n" * 6


def test_a_lab_that_does_not_end_is_ended_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.Popen
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(subprocess, "Popen", lambda _command, **options: real(sleep, **options))
    monkeypatch.setattr(run, "keep", lambda path, labs: path.write_text(json.dumps(labs)))
    into = tmp_path / "kept.json"
    assert run.main(["00_orientation"], 0.2, str(into)) == 1
    assert json.loads(into.read_text())["00_orientation"]["raised"] == ["the time was up"]


def test_an_unknown_lab_is_named() -> None:
    with pytest.raises(SystemExit, match="nowhere: no such lab"):
        run.main(["nowhere"], 1, "unused")


def test_another_gpus_record_is_not_mixed_with_this_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    into = tmp_path / "kept.json"
    for number, gpu in enumerate(("A", "A", "B")):
        monkeypatch.setattr(run, "_machine", lambda gpu=gpu: {"hardware": {"gpu": gpu}})
        run.keep(into, {str(number): {}})
    assert list(json.loads(into.read_text())["labs"]) == ["2"]
