"""The layer rule of DESIGN.md and the rules of STYLE.md that a program can check."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from autograder.score import MIME as READ
from labkit._report import MIME as WRITTEN

ROOT = Path(__file__).parents[2]
LAYERS = (
    ("boundary", "closing", "errors", "files"),
    ("model", "outputs", "sandbox", "stub"),
    ("course", "source", "store", "variant"),
    ("lint", "lms", "report", "score", "submission", "verify"),
    ("alike", "class_report", "collect", "command", "execute", "handin", "release"),
    ("modes", "publish"),
    ("attempt",),
    ("runner",),
    ("grade",),
    ("table",),
    ("records", "session"),
    ("demo", "records_cli"),
    ("cli",),
)
"""Each module or package of autograder imports only what stands above it."""

FRAMEWORKS = {"IPython", "keras", "matplotlib", "sklearn", "tensorflow", "torch"}
OURS = {"autograder", "benchmarks", "datasets", "docker", "labkit", "labs", "solutions", "tests"}
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("autograder", "benchmarks", "datasets", "labkit")
    for path in (ROOT / folder).rglob("*.py")
)
PACKAGES = [name for name in MODULES if name.startswith(("autograder/", "labkit/"))]


@cache
def tree(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text(encoding="utf-8"))


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the full name of everything that is imported in this part of a module."""
    for child in ast.walk(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"line {child.lineno}: a relative import"
            yield from (f"{child.module}.{alias.name}" for alias in child.names)


def at_import(module: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that run when the module is imported, and not only for the type checker."""
    for statement in module.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            continue
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement


def tops(names: Iterator[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


# ----------------------------------------------------------------------------------------------------- who imports whom
def test_every_module_of_autograder_has_its_layer() -> None:
    there = {Path(name).parts[1].removesuffix(".py") for name in MODULES if name.startswith("autograder/")}
    assert there - {"__init__"} == {name for layer in LAYERS for name in layer}


@pytest.mark.parametrize("layer", range(len(LAYERS)), ids=lambda number: "-".join(LAYERS[number]))
def test_arrows_inside_autograder_run_one_way(layer: int) -> None:
    below = {name for names in LAYERS[:layer] for name in names}
    for own in LAYERS[layer]:
        for name in MODULES:
            if Path(name).parts[:2] in {("autograder", own), ("autograder", f"{own}.py")}:
                used = {found.split(".")[1] for found in imported(tree(name)) if found.startswith("autograder.")}
                assert used - {own} <= below, f"{name} imports {sorted(used - {own} - below)}"


@pytest.mark.parametrize("package", ["autograder", "labkit"])
def test_neither_package_imports_anything_else_of_ours(package: str) -> None:
    for name in MODULES:
        if name.startswith(f"{package}/"):
            others = {found for found in imported(tree(name)) if found.split(".")[0] in OURS - {package}}
            # The trusted process runs test cells: the check protocol is the one thing that both packages share.
            allowed = {"labkit.check"} if name == "autograder/boundary/cells.py" else set()
            assert others <= allowed, name


def test_only_the_course_package_imports_nbgrader() -> None:
    users = {str(Path(name).parent) for name in MODULES if "nbgrader" in tops(imported(tree(name)))}
    assert users == {"autograder/course"}


def test_the_check_protocol_is_the_one_thing_that_both_sides_know() -> None:
    assert WRITTEN == READ


def test_notebooks_import_labkit_only() -> None:
    for path in (ROOT / "solutions").rglob("*.py"):
        assert tops(imported(ast.parse(path.read_text(encoding="utf-8")))) & OURS <= {"labkit"}, path


@pytest.mark.parametrize("folder", ["labs", "solutions", "datasets", "docker"])
def test_data_folders_are_no_packages(folder: str) -> None:
    assert list((ROOT / folder).rglob("__init__.py")) == []


# -------------------------------------------------------------------------------------------------------- every module
def test_a_module_begins_with_a_sentence() -> None:
    for name in MODULES:
        sentence = (ast.get_docstring(tree(name)) or "").split("\n\n")[0]
        assert re.fullmatch(r"\S.*[.:]", sentence, re.DOTALL), f"{name}: {sentence!r}"
        assert ". " not in sentence.replace("\n", " "), f"{name}: two sentences: {sentence!r}"


def test_a_module_has_at_most_300_lines() -> None:
    lengths = {name: (ROOT / name).read_text(encoding="utf-8").count("\n") for name in MODULES}
    assert {name: length for name, length in lengths.items() if length > 300} == {}


def test_a_function_has_at_most_40_lines() -> None:
    lengths = {
        f"{name}: {node.name}": (node.end_lineno or 0) - node.body[0].lineno + 1
        for name in MODULES
        for node in ast.walk(tree(name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {function: length for function, length in lengths.items() if length > 40} == {}


def test_public_names_are_listed_in_order_and_there() -> None:
    for name in PACKAGES:
        module = tree(name)
        for node in module.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names = ast.literal_eval(node.value)
                # constants, classes, functions: the order that ruff writes
                assert names == sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n)), name
                lazy = name == "labkit/__init__.py"  # loads its names when they are used; test_labkit.py tries each
                assert lazy or set(names) <= _defined(module), name


def test_a_public_module_lists_its_public_names() -> None:
    for name in PACKAGES:
        module = tree(name)
        stem = Path(name).stem
        private = stem.startswith("_") and stem != "__init__"
        program = "program" in stem or any(
            isinstance(node, ast.If) and "__main__" in ast.unparse(node) for node in module.body
        )
        empty = not any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in module.body)
        assert private or program or empty or "__all__" in _defined(module), name


def _defined(module: ast.Module) -> set[str]:
    names = {found.split(".")[-1] for found in imported(module)}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias) and node.asname:
            names.add(node.asname)
    return names


def test_frameworks_are_imported_where_they_are_used() -> None:
    for name in PACKAGES:
        loaded = {found for statement in at_import(tree(name)) for found in tops(imported(statement))}
        assert loaded & FRAMEWORKS == set(), name


def test_nothing_global_is_changed_behind_the_reader_s_back() -> None:
    for name in MODULES:
        for node in ast.walk(tree(name)):
            where = f"{name}:{getattr(node, 'lineno', 0)}"
            assert not isinstance(node, ast.Global), f"{where}: global"
            assert not (isinstance(node, ast.ImportFrom) and node.names[0].name == "*"), f"{where}: a star import"
            # A course's nbgrader_config.py may import what stands beside it: nbgrader's own command has it on its path.
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "/course/" not in name:
                assert ast.unparse(node.func.value) != "sys.path", f"{where}: sys.path is edited"


def test_the_command_line_starts_at_once() -> None:
    code = (
        "import json, sys, time; start = time.perf_counter(); import autograder.cli\n"
        "print(json.dumps([time.perf_counter() - start, sorted({name.split('.')[0] for name in sys.modules})]))"
    )
    seconds = []
    for _ in range(3):  # the fastest: others use this machine, too
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        taken, loaded = json.loads(done.stdout)
        assert set(loaded) & (FRAMEWORKS | {"jupytext", "nbclient", "nbformat", "nbgrader", "numpy"}) == set()
        seconds.append(taken)
    assert min(seconds) < 0.3
