"""The layer rule of DESIGN.md and the rules of STYLE.md that a program can check."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from autograder.protocol import MIME as READ
from labkit._check_report import MIME as WRITTEN

ROOT = Path(__file__).parents[2]
_LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")
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
def test_rooms_import_only_what_stands_below_them() -> None:
    done = subprocess.run(
        [_LINT_IMPORTS, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_runs_inside_the_walls_imports_the_standard_library_and_what_stands_beside_it() -> None:
    guests = sorted((ROOT / "autograder/sandbox/guest").glob("*.py"))
    known = sys.stdlib_module_names | {path.stem for path in guests} | {"IPython", "ipykernel", "zmq"}
    for path in guests:
        # A type of a module that stands beside this one has that module's full name for the type checker.
        names = imported(ast.parse(path.read_text(encoding="utf-8")))
        used = tops(name.removeprefix("autograder.sandbox.guest.") for name in names)
        assert used <= known, f"{path}: {used - known}"


_RANKS = {
    "network": {
        *(f"labkit._launch.deadlock.{name}" for name in ("EXCHANGE", "RECEIVE", "SEND", "Wait")),
        "labkit._launch.patience.MOST",
        "labkit._system.busy",
    },
    "ranks": {
        *(f"labkit._collective.{name}" for name in ("Job", "by_job", "play")),
        "labkit._launch.errors.RankError",
        "labkit._launch.fresh_process.as_process_error",
    },
    "rank_failures": {
        *(f"labkit._launch.errors.{name}" for name in ("Hung", "blame", "reported")),
        "labkit._launch.rank.Report",
    },
    "rank_host": {
        *(f"labkit._launch.launcher.{name}" for name in ("Run", "variables")),
        "labkit._launch.pack.pack",
        "labkit._launch.patience.MOST",
        *(f"labkit._launch.server.{name}" for name in ("Server", "warm_server")),
    },
    "replay": {"labkit._collective.Job"},
    "student_ranks": {
        "labkit._collective.keep_to_itself",
        *(f"labkit._launch.confinement.{name}" for name in ("leave_no_trace", "write_nothing")),
        *(f"labkit._launch.pack.{name}" for name in ("copied", "lines_of_cells")),
    },
}
"""`labkit.count.collective`, whose ranks the grader plays itself: what a rank does, and how a launch fails."""
_PROTOCOL = {
    "autograder/boundary/cells.py": {"labkit.check"},
    "autograder/boundary/remembered.py": {"labkit._memory.common"},
    **{f"autograder/boundary/{name}.py": found for name, found in _RANKS.items()},
    "autograder/proof/apart.py": {"labkit._memory.common", "labkit.check"},
    "autograder/proof/prepared_main.py": {"labkit.check"},
    "autograder/grading/attempt.py": {"labkit._launch.errors.STILL_RUNNING", "labkit._system.busy"},
    "autograder/sandbox/process.py": {"labkit._system.held_up"},
    "autograder/grading/scoring.py": {"labkit._check_report.Case", "labkit._check_report.Score"},
    "autograder/release/build.py": {
        f"labkit._work.stamp.{name}" for name in ("checksum", "is_as_released", "released_files", "stamp")
    },
}
"""What both packages share is the check protocol: one process runs tests, another shows their cases; ranks; and the
stamp that release writes into a notebook, by which a student's copy is brought up to date."""


@pytest.mark.parametrize("package", ["autograder", "labkit"])
def test_neither_package_imports_anything_else_of_ours(package: str) -> None:
    for name in MODULES:
        if name.startswith(f"{package}/"):
            others = {found for found in imported(tree(name)) if found.split(".")[0] in OURS - {package}}
            assert others <= _PROTOCOL.get(name, set()), name


def test_the_boundary_finds_all_that_it_imports_in_the_sandbox() -> None:
    """Of the autograder nothing else is there, in the student's process and in that of the tests: see host_paths."""
    for name in MODULES:
        if name.startswith("autograder/boundary/"):
            ours = {found for found in imported(tree(name)) if found.split(".")[0] == "autograder"}
            assert {found for found in ours if not found.startswith("autograder.boundary")} == set(), name


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


def test_the_page_about_the_rooms_is_what_they_say() -> None:
    spec = importlib.util.spec_from_file_location("make_architecture", ROOT / "docs/make_architecture.py")
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert maker.render(page) == page, "make docs"


def test_every_path_that_the_page_about_the_rooms_names_is_there() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").partition("## Rooms")[0]
    for name in re.findall(r"`((?:autograder|labkit|tests|benchmarks|docker|solutions)/[\w/.]+)`", page):
        assert name.startswith("solutions/LAB") or (ROOT / name).exists(), name
