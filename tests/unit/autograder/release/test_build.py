"""What students receive: nothing that would leak, and the same bytes every time, those that nbgrader itself makes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.errors import CourseError, SourceError
from autograder.markers import EXPLORE, GIVEN
from autograder.release import build as build_module
from autograder.release.build import build, find_labs, not_ours, publish, to_notebook
from autograder.release.drift import drift
from autograder.release.source import read_source

WriteLab = Callable[..., Path]
ROOT = Path(__file__).parents[4]
NAME = "01_small.ipynb"
FIGURE = "# %% [markdown]\n# ![A chain of three boxes and two arrows](figures/chain.svg)\n\n"


def students(folder: Path) -> nbformat.NotebookNode:
    return nbformat.reads(build(folder).files[NAME].decode(), as_version=4)


def refused(folder: Path) -> str:
    with pytest.raises(SourceError) as caught:
        build(folder)
    return str(caught.value).replace(f"{folder}/", "")


# ------------------------------------------------------------------------------------------------------- the notebooks
def test_students_receive_stubs_visible_tests_and_metadata(lab: WriteLab) -> None:
    cells = {cell.id: cell for cell in students(lab()).cells}
    assert cells["softmax"].source.endswith('    raise NotImplementedError("Task 1: softmax")')
    assert cells["softmax"].metadata.nbgrader.solution
    test = cells["softmax-check"]
    assert test.source.endswith("[1.0, 1.0])\ncheck.score(2)")
    assert "overflow" not in test.source
    assert (test.metadata.nbgrader.points, test.metadata.nbgrader.locked, test.metadata.editable) == (2, True, False)
    assert test.metadata.jupyter.source_hidden
    assert test.source.startswith("# check of 2 points: run this cell, or open it")
    assert cells["setup"].metadata.editable is False
    assert cells["words"].source == "_Write your answer here._"
    explore = next(cell for cell in cells.values() if cell.source.startswith(EXPLORE))
    assert (explore.id, explore.metadata.labkit) == ("task-1-softmax-explore", {"explore": True})
    assert explore.metadata.tags == ["raises-exception"]


def test_the_instructor_s_notebook_holds_everything(lab: WriteLab) -> None:
    release = build(lab())
    notebook = nbformat.reads(release.source_notebook.decode(), as_version=4)
    sources = {cell.id: cell.source for cell in notebook.cells}
    assert "exponentials" in sources["softmax"]
    assert {cell.id for cell in notebook.cells if "jupyter" in cell.metadata} == {"softmax-check"}
    assert "overflow" in sources["softmax-check"]
    assert notebook.metadata.labkit.generated_by == "autograder release"
    assert set(release.files) == {NAME}


def test_two_builds_are_byte_identical(lab: WriteLab) -> None:
    folder = lab()
    assert build(folder) == build(folder)
    assert build(folder).files[NAME].endswith(b"}\n")


def test_windows_line_ends_make_the_same_bytes(lab: WriteLab, small: str) -> None:
    plain = build(lab())
    assert build(lab(small.replace("\n", "\r\n"))) == plain
    assert build(lab("\ufeff" + small)) == plain


def ids(folder: Path) -> list[str]:
    return [cell.id for cell in to_notebook(read_source(folder)).cells]


def test_ids_are_the_grade_id_the_section_of_an_explore_cell_or_a_hash(lab: WriteLab) -> None:
    text, setup, task, explore, check, words, answer = ids(lab())
    assert (setup, task, explore, check) == ("setup", "softmax", "task-1-softmax-explore", "softmax-check")
    assert (text.rpartition("-")[0], words.rpartition("-")[0], answer) == ("markdown", "markdown", "words")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(place=st.integers(0, 6), cell=st.sampled_from([" [markdown]\n# New words", " [markdown]\n# # New", "\nx = 1"]))
def test_an_inserted_cell_changes_the_id_of_no_other(lab: WriteLab, small: str, place: int, cell: str) -> None:
    before = ids(lab())
    pieces = small.split("# %%")
    pieces.insert(place + 1, f"{cell}\n\n")
    after = ids(lab("# %%".join(pieces)))
    new = [i for i in after if i not in before]
    assert [i for i in after if i in before] == [i for i in before if i in after]
    assert set(before) - set(after) <= ({"task-1-softmax-explore"} if "# New" in cell else set())
    assert len(new) == len(after) - len(before) + len(set(before) - set(after))


def test_given_code_that_need_not_be_read_is_folded_and_says_so(lab: WriteLab, small: str) -> None:
    given = '# %% folded=true nbgrader={"grade_id": "plumbing", "locked": true}\ndef draw():\n    pass\n'
    cell = next(cell for cell in students(lab(small + "\n" + given)).cells if cell.id == "plumbing")
    assert cell.metadata.jupyter.source_hidden
    assert cell.source == f"{GIVEN}\ndef draw():\n    pass"


CELLS = st.lists(
    st.sampled_from(
        [
            "# %% [markdown]\n# # Überschrift: 数学\n",
            "# %% [markdown]\n# # 数学\n",
            "# %% [markdown]\n# ## Softmax\n",
            f"# %% [markdown]\n# # {'long ' * 40}\n",
            "# %% [markdown]\n# text\n",
            "# %%\nx = 1\n",
            "# %%\n\n",
            "# %% explore=true\nx = 1\n",
            "# %% explore=true\nx = 2\n",
        ]
    ),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(CELLS)
def test_ids_are_valid_and_unique_whatever_the_headings(lab: WriteLab, small: str, cells: list[str]) -> None:
    notebook = to_notebook(read_source(lab("\n".join([*cells, small]))))
    nbformat.validate(notebook)
    found = [cell.id for cell in notebook.cells]
    assert len(set(found)) == len(found)
    assert max(map(len, found)) <= 64


def test_a_mended_explore_cell_keeps_its_id(lab: WriteLab, small: str) -> None:
    assert ids(lab(small.replace("np.zeros((1, 3))", "np.ones((1, 3))"))) == ids(lab())


def test_a_heading_named_like_a_grade_id_takes_nothing_from_it(lab: WriteLab, small: str) -> None:
    found = ids(lab("# %% [markdown]\n# # Setup\n\n# %%\nx = 1\n\n" + small))
    assert found.count("setup") == 1
    assert found.index("setup") == 3


# ------------------------------------------------------------------------------------------------------- what may leave
LONG = "exponentials = np.exp(z - z.max(axis=1, keepdims=True))"


@pytest.mark.parametrize(
    "cell",
    [
        f"# %%\n{LONG}\n",
        f"# %% explore=true\nif True:\n    {LONG}\n",
        f"# %% [markdown]\n# ```python\n#     {LONG}\n# ```\n",
    ],
)
def test_a_solution_line_that_also_stands_elsewhere_is_an_error(lab: WriteLab, small: str, cell: str) -> None:
    assert refused(lab(f"{small}\n{cell}")) == (
        "01_small.py:15 (softmax): a solution or hidden line also stands in what students receive\n"
        f"hint: change one of the two: {LONG}"
    )


def test_a_solution_line_within_a_sentence_is_an_error(lab: WriteLab, small: str) -> None:
    cell = f"# %% [markdown]\n# The answer is `{LONG}`, as one sees."
    assert "a solution or hidden line also stands" in refused(lab(f"{small}\n{cell}"))


def test_a_hidden_line_that_also_stands_elsewhere_is_an_error(lab: WriteLab, small: str) -> None:
    hidden = "check.close(softmax(np.array([[1000.0, 0.0]])), [[1.0, 0.0]])"
    source = small.replace("    check.close(softmax(np.zeros", f"    {hidden}\n    check.close(softmax(np.zeros")
    assert refused(lab(source)).startswith("01_small.py:33 (softmax-check): a solution or hidden line")


def test_a_short_line_or_an_import_is_no_leak(lab: WriteLab, small: str) -> None:
    source = small.replace(
        "    ### END SOLUTION\n\n\n", "    import numpy.linalg as linear_algebra\n    ### END SOLUTION\n\n\n"
    )
    build(lab(source + "\n# %%\nimport numpy.linalg as linear_algebra\n"))


def test_a_test_cell_that_trusts_too_much_is_not_published(lab: WriteLab, small: str) -> None:
    assert "the test uses 'plot2'" in refused(lab(small.replace("check.score(2)", "plot2\ncheck.score(2)")))


def test_figures_travel_with_the_lab(lab: WriteLab, small: str) -> None:
    release = build(lab(FIGURE + small, chain="<svg/>"))
    assert release.files["figures/chain.svg"] == b"<svg/>"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("![A chain of three boxes and arrows](figures/no.svg)", "2: no such figure: figures/no.svg"),
        ("text\n#\n# ![A chain of three boxes and arrows](figures/no.svg)", "4: no such figure: figures/no.svg"),
        ("![A chain of three boxes and arrows](https://example.org/x.svg)", "2: no such figure: https://example.org"),
        ("![A chain of three boxes](data:image/png;base64,AAAA)", "2: no such figure: data:image/png;base64,AAAA"),
        ("![](figures/chain.svg)", "2: figures/chain.svg needs alt text\nhint: say in a sentence what it shows"),
        ("![chain](figures/chain.svg)", "2: figures/chain.svg needs alt text"),
        ('![chain](figures/chain.svg "A title")', "2: figures/chain.svg needs alt text"),
        ('<img src="figures/chain.svg">', "2: an <img> tag"),
        ("no figure at all", "figures/chain.svg is not used by any cell"),
    ],
)
def test_a_figure_that_is_not_there_not_described_or_not_used_is_an_error(
    lab: WriteLab, small: str, line: str, error: str
) -> None:
    text = refused(lab(f"# %% [markdown]\n# {line}\n\n{small}", chain="<svg/>"))
    assert text.split(":", 1)[1].strip().startswith(error)


# ---------------------------------------------------------------------------------------------------- labs as published
def course(folder: Path, register: Callable[..., None] = lambda *args: None) -> Any:
    """Return what stands for the course of this lab; its gradebook registers everything."""
    root = folder.parent.parent
    return SimpleNamespace(source_directory=folder.parent, release_directory=root / "labs", register=register)


def test_publishing_writes_what_changed_and_removes_what_is_gone(lab: WriteLab, small: str) -> None:
    folder = lab(FIGURE + small, chain="<svg/>")
    there = course(folder)
    labs = there.release_directory / "01_small"
    release = build(folder)
    assert drift(there, "01_small", folder).count("\n+++ ") == 2
    assert [path.relative_to(labs).as_posix() for path in publish(release, there)[0]] == [NAME, "figures/chain.svg"]
    assert (folder / NAME).read_bytes() == release.source_notebook
    assert publish(release, there) == ([], False)
    assert drift(there, "01_small", folder) == ""

    (labs / "mine.txt").write_text("a student's own")
    (labs / ".ipynb_checkpoints").mkdir()
    (labs / ".ipynb_checkpoints" / NAME).write_text("Jupyter's own")
    (folder / "figures" / "chain.svg").write_text("<svg>edited</svg>")
    difference = drift(there, "01_small", folder)
    assert "+<svg>edited</svg>" in difference
    assert "'s own" not in difference
    assert not_ours(build(folder), labs) == []
    assert sorted(p.name for p in publish(build(folder), there)[0]) == [NAME, "chain.svg"]
    (folder / "figures" / "chain.svg").unlink()
    release = build(lab(small))
    assert not_ours(release, labs) == []
    assert sorted(p.name for p in publish(release, there)[0]) == [NAME, "chain.svg"]
    assert not (labs / "figures" / "chain.svg").exists()
    assert (labs / "mine.txt").read_text() == "a student's own"
    assert drift(there, "01_small", folder) == ""


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (lambda text: text.replace("raise NotImplementedError", "return 0  #"), True),  # an answer
        (lambda text: text.replace('"outputs": []', '"outputs": [{"name": "stdout", "output_type": "stream"}]'), True),
        (lambda text: text.replace('"metadata": {', '"metadata": {"mine": 1,', 1), True),
        (lambda text: "<<<<<<< HEAD\n" + text, True),
        (lambda text: "", True),
        (lambda text: text.replace("\n", "\r\n"), False),  # as git may check it out
    ],
)
def test_a_notebook_that_is_not_as_it_was_released_is_known(
    lab: WriteLab, small: str, change: Callable[[str], str], kept: bool
) -> None:
    folder = lab()
    there = course(folder)
    publish(build(folder), there)
    notebook = there.release_directory / "01_small" / NAME
    notebook.write_bytes(change(notebook.read_text()).encode())
    newer = build(lab(small.replace("z", "zz")))
    assert not_ours(newer, notebook.parent) == ([notebook] if kept else [])


def test_a_figure_that_no_release_wrote_is_known(lab: WriteLab, small: str) -> None:
    folder = lab(FIGURE + small, chain="<svg/>")
    there = course(folder)
    release = build(folder)
    publish(release, there)
    figures = there.release_directory / "01_small" / "figures"
    (figures / "mine.svg").write_text("<svg>a plot of a student's</svg>")
    assert not_ours(release, figures.parent) == [figures / "mine.svg"]
    (figures / "chain.svg").write_text("<svg>painted over</svg>")
    assert not_ours(release, figures.parent) == [figures / "chain.svg", figures / "mine.svg"]


def test_the_gradebook_learns_of_the_instructor_s_notebook(lab: WriteLab) -> None:
    told: list[Any] = []
    folder = lab()
    publish(build(folder), course(folder, lambda *args: told.append(args)))
    ((name, notebook),) = told
    assert name == "01_small"
    assert "overflow" in next(cell.source for cell in notebook.cells if cell.id == "softmax-check")


def test_nothing_is_written_if_the_gradebook_refuses(lab: WriteLab) -> None:
    folder = lab()

    def refuse(*args: object) -> None:
        raise CourseError("students have handed in the old version")

    with pytest.raises(CourseError):
        publish(build(folder), course(folder, refuse))
    assert not (folder.parent.parent / "labs").exists()
    assert not (folder / NAME).exists()


def test_a_marker_that_was_not_removed_is_not_published(lab: WriteLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "release_version", lambda notebook: notebook)
    monkeypatch.setattr(build_module, "_SIGNIFICANT", 1000)
    assert refused(lab()) == "01_small.py: a marker is left in the students' notebook: '# BEGIN'"


def test_labs_are_found_by_their_number(tmp_path: Path) -> None:
    for name in ("02_b", "01_a", "drafts", "10_c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lab.toml").touch()
    (tmp_path / "03_empty").mkdir()
    assert [folder.name for folder in find_labs(tmp_path)] == ["01_a", "02_b", "10_c"]


@pytest.mark.thorough
@pytest.mark.slow
def test_nbgrader_s_own_generate_assignment_makes_the_same_bytes(tmp_path: Path) -> None:
    name = "01_numpy_mlp"
    folder = tmp_path / "solutions" / name
    shutil.copytree(ROOT / "solutions" / name, folder, ignore=shutil.ignore_patterns("*.ipynb", "cards"))
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    release = build(folder)
    (folder / f"{name}.ipynb").write_bytes(release.source_notebook)
    programs = Path(sys.executable).parent  # nbgrader starts alembic by its bare name
    done = subprocess.run(
        [str(programs / "nbgrader"), "generate_assignment", name, "--force"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = tmp_path / "labs" / name
    assert (made / f"{name}.ipynb").read_bytes() == release.files[f"{name}.ipynb"]
    assert {p.relative_to(made).as_posix() for p in made.rglob("*") if p.is_file()} == set(release.files)
