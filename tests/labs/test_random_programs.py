"""Lab 17's random programs: LLVM accepts them, serial and parallel ones are alike, and a missing llvmlite is named."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.release.source import read_source
from labkit import programs

LAB = Path(__file__).parents[2] / "solutions" / "17_code_embeddings"
OPERATIONS = {
    *("phi", "getelementptr", "load", "store", "br", "ret", "call", "icmp", "fcmp", "sext", "fptosi"),
    *("add", "sub", "mul", "and", "or", "xor", "sdiv", "udiv", "srem", "urem", "fadd", "fsub", "fmul", "fdiv"),
}


def _run() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "lab"}
    for cell in read_source(LAB).cells:
        if cell.cell_type == "code" and not cell.test and (cell.locked or cell.solution):
            exec(compile(cell.source, cell.grade_id, "exec"), names)
    return names


@cache
def _lab() -> dict[str, Any]:
    pytest.importorskip("llvmlite")
    return _run()


def _kinds(serial: bool, number: int) -> Counter[str]:
    """Return how often each kind occurs in a program made serial or parallel; offsets of addresses are left out."""
    lab = _lab()
    plan = programs.plan(np.random.default_rng(number)) | {"serial": serial}
    text = programs.text(plan, np.random.default_rng((number, 0)))
    kinds = Counter(lab["normalise"](statement) for statement in lab["parse"](text))
    del kinds["<%ID> = add i64 <%ID>, <INT>"]
    return kinds


@pytest.mark.parametrize("number", range(12))
def test_a_serial_and_a_parallel_program_consist_of_the_same_statements(number: int) -> None:
    assert _kinds(True, number) == _kinds(False, number)


def test_programs_have_only_statements_that_the_lab_speaks_of() -> None:
    lab = _lab()
    for number in range(40):
        for _, _, operation in lab["parse"](lab["random_program"](number)[0]):
            assert operation.split()[0] in OPERATIONS


def test_a_program_follows_from_its_seed_and_its_versions_share_a_label() -> None:
    program = _lab()["random_program"]
    assert program(3) == program(3)
    versions = [program(3, version) for version in range(4)]
    assert len({text for text, _ in versions}) == 4
    assert len({label for _, label in versions}) == 1


def test_a_missing_llvmlite_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    importlib.reload(programs)
    try:
        names = _run()
        assert "%pip install 'llvmlite" in capsys.readouterr().out
        with pytest.raises(ModuleNotFoundError, match="%pip install 'llvmlite"):
            names["random_program"](0)
        assert names["parse"]("define void @f() {\na:\n  ret void\n}\n") == [("a", "", "ret void")]
    finally:
        monkeypatch.undo()
        importlib.reload(programs)
