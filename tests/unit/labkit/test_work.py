"""A student's copy of a lab: made once, brought up to a newer release, and nothing of the student's is lost."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from labkit import cli
from labkit._work import bring_up_to_date
from labkit._work.jupyterlab import command, settings
from labkit._work.merge import merge
from labkit._work.stamp import is_as_released, stamp

Cell = dict[str, Any]
ROOT = Path(__file__).parents[3]
LAB = "01_small"


def cell(name: str, text: str, **nbgrader: bool) -> Cell:
    """Return a cell: of nbgrader's if anything is said of it, or else a look cell; prose begins with a capital."""
    made: Cell = {"id": name, "metadata": {}, "source": text}
    if text[:1].isupper():
        made |= {"cell_type": "markdown"}
    else:
        made |= {"cell_type": "code", "execution_count": None, "outputs": []}
    if nbgrader:
        made["metadata"]["nbgrader"] = {"grade_id": name, "solution": False, "grade": False, "locked": False} | nbgrader
    return made


def task(text: str = "def f():\n    raise NotImplementedError") -> Cell:
    return cell("f", text, solution=True)


def check(text: str = "assert f() == 1") -> Cell:
    return cell("f-check", text, grade=True, locked=True)


def notebook(*cells: Cell) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {"labkit": {}}, "nbformat": 4, "nbformat_minor": 5}


FIRST = notebook(cell("p1", "Prose"), task(), cell("look", "f()"), check())


def after(mine: dict[str, Any], new: dict[str, Any], old: dict[str, Any] | None = FIRST) -> tuple[list[str], list[str]]:
    merged, notes = merge(mine, old, new)
    return [made["source"] for made in merged["cells"]], notes


# ------------------------------------------------------------------------------------------------------------ the merge
def test_answers_own_cells_and_their_order_stay_while_checks_and_prose_become_those_of_the_release() -> None:
    mine = notebook(
        cell("note", "My note"),
        cell("p1", "Prose"),
        cell("look", "f()"),
        task("def f():\n    return 1"),
        cell("own", "print(f())"),
        check(),
    )
    new = notebook(cell("p2", "Better prose"), task(), cell("look", "print(f())"), check("assert f() == 1.0"))
    sources, notes = after(mine, new)
    assert sources == [
        "My note",
        "Better prose",
        "print(f())",
        "def f():\n    return 1",
        "print(f())",
        "assert f() == 1.0",
    ]
    assert notes[:3] == ['changed: "Better prose"', "  -Prose", "  +Better prose"]
    assert "changed: f-check" in notes


def test_an_answer_stays_where_the_stub_has_changed_and_what_changed_is_shown() -> None:
    mine = notebook(cell("p1", "Prose"), task("def f():\n    return 1"), cell("look", "f()"), check())
    new = notebook(cell("p1", "Prose"), task("def f(x):\n    raise NotImplementedError"), cell("look", "f()"), check())
    sources, notes = after(mine, new)
    assert sources[1] == "def f():\n    return 1"
    assert notes == ["yours stays: f; what changed in the release:", "  -def f():", "  +def f(x):"]


def test_a_stub_that_was_not_touched_becomes_the_new_one() -> None:
    new = notebook(cell("p1", "Prose"), task("def f(x): ..."), cell("look", "f()"), check())
    assert after(FIRST, new)[0][1] == "def f(x): ..."


def test_a_look_cell_that_the_student_changed_stays() -> None:
    mine = notebook(*FIRST["cells"][:2], cell("look", "f() + 1"), check())
    new = notebook(*FIRST["cells"][:2], cell("look", "print(f())"), check())
    assert after(mine, new)[0][2] == "f() + 1"


def test_new_tasks_come_where_the_release_has_them() -> None:
    mine = notebook(*FIRST["cells"], cell("own", "1 + 1"))
    new = notebook(*FIRST["cells"][:3], cell("more", "f() * 2"), check(), cell("g", "def g(): ...", solution=True))
    sources, notes = after(mine, new)
    assert sources[3:] == ["f() * 2", "assert f() == 1", "def g(): ...", "1 + 1"]
    assert notes == ["new: more", "new: g"]


def test_an_answer_to_a_task_that_is_gone_stays_as_a_cell_of_the_student() -> None:
    mine = notebook(FIRST["cells"][0], task("def f():\n    return 1"), *FIRST["cells"][2:])
    merged, notes = merge(mine, FIRST, notebook(FIRST["cells"][0]))
    assert [made["source"] for made in merged["cells"]] == ["Prose", "def f():\n    return 1"]
    assert merged["cells"][1]["metadata"] == {}
    assert notes == ["yours stays: f, which the release no longer has", "gone: look", "gone: f-check"]


def test_prose_that_the_release_took_out_is_said_to_be_gone() -> None:
    aside = cell("p3", "## An aside\n\nMore of it.")
    aside["cell_type"] = "markdown"
    sources, notes = after(notebook(*FIRST["cells"], aside), FIRST, notebook(*FIRST["cells"], aside))
    assert sources == [made["source"] for made in FIRST["cells"]]
    assert notes == ['gone: "An aside"']


def test_a_locked_cell_that_was_deleted_is_put_back_and_a_look_cell_is_not() -> None:
    sources, notes = after(notebook(*FIRST["cells"][:2]), FIRST)
    assert sources == ["Prose", FIRST["cells"][1]["source"], "assert f() == 1"]
    assert notes == ["put back: f-check"]


def test_prose_that_the_student_wrote_into_stays_before_the_new_one() -> None:
    mine = notebook(cell("p1", "Prose, and a note of mine"), *FIRST["cells"][1:])
    sources, _ = after(mine, notebook(cell("p2", "Better prose"), *FIRST["cells"][1:]))
    assert sources[:2] == ["Prose, and a note of mine", "Better prose"]


def test_outputs_stay_with_the_text_that_they_are_of() -> None:
    mine = json.loads(json.dumps(FIRST))
    for made in mine["cells"][1:]:
        made["outputs"], made["execution_count"] = [{"output_type": "stream", "name": "stdout", "text": "1"}], 1
    merged, _ = merge(mine, FIRST, notebook(*FIRST["cells"][:3], check("assert f() == 2")))
    assert [bool(made.get("outputs")) for made in merged["cells"]] == [False, True, True, False]


def test_without_the_first_release_only_what_is_locked_changes() -> None:
    mine = notebook(cell("p1", "Prose"), task("def f():\n    return 1"), cell("look", "f(2)"), check())
    new = notebook(cell("p1", "Prose"), task("def f(x): ..."), cell("look", "f(3)"), check("assert f() == 2"))
    assert after(mine, new, None)[0] == ["Prose", "def f():\n    return 1", "f(2)", "assert f() == 2"]


TEXTS = st.sampled_from(["Prose", "x = 1", "x = 2", "def f(): ..."])
OF_RELEASE = st.builds(
    lambda name, text, kind: cell(name, text, **kind),
    st.sampled_from("abcdef"),
    TEXTS,
    st.sampled_from([{}, {"solution": True}, {"grade": True, "locked": True}, {"solution": True, "grade": True}]),
)
RELEASES = st.lists(OF_RELEASE, unique_by=lambda made: made["id"], max_size=6).map(lambda cells: notebook(*cells))


@given(RELEASES, RELEASES, st.data())
def test_whatever_the_releases_are_nothing_that_a_student_wrote_is_lost(
    old: dict[str, Any], new: dict[str, Any], data: st.DataObject
) -> None:
    cells = data.draw(st.permutations(old["cells"]))
    mine: list[Cell] = []
    for number, made in enumerate(cells):
        answers = data.draw(st.booleans()) and not made["metadata"].get("nbgrader", {}).get("locked")
        mine.append({**made, "source": f"mine {number}"} if answers else made)
        if data.draw(st.booleans()):
            mine.append(cell(f"own-{number}", f"own {number}"))
    for base in (old, None):
        merged, _ = merge(notebook(*mine), base, new)
        sources = [made["source"] for made in merged["cells"]]
        kinds = {made["id"]: made["metadata"].get("nbgrader", {}) for made in new["cells"]}
        wrote = [
            made["source"]
            for made in mine
            if made["source"].startswith(("mine", "own")) and not kinds.get(made["id"], {}).get("locked")
        ]
        assert [text for text in sources if text in wrote] == wrote
        ids = [made["id"] for made in merged["cells"]]
        assert {name for name, of in kinds.items() if of} <= set(ids)
        again, notes = merge(merged, new, new)
        assert (again["cells"], notes) == (merged["cells"], [])


# ----------------------------------------------------------------------------------------------------------- the folder
@pytest.fixture
def release(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes labs/01_small as `autograder release` does, and returns its notebook."""

    def write(*cells: Cell, figure: bytes = b"<svg/>") -> Path:
        made = notebook(*json.loads(json.dumps(cells)))
        made["metadata"] = {"kernelspec": {}}
        stamp(made, {"figures/chain.svg": figure})
        path = tmp_path / "labs" / LAB / f"{LAB}.ipynb"
        (path.parent / "figures").mkdir(parents=True, exist_ok=True)
        (path.parent / "figures/chain.svg").write_bytes(figure)
        path.write_text(json.dumps(made, indent=1))
        return path

    return write


def update(top: Path) -> tuple[str, list[str]]:
    (copy,) = bring_up_to_date(top / "labs", top / "work")
    return copy.what, list(copy.notes)


def answer(top: Path) -> Path:
    path = top / "work" / LAB / f"{LAB}.ipynb"
    path.write_text(path.read_text().replace("raise NotImplementedError", "return 1"))
    return path


def test_a_copy_is_made_once_and_then_is_the_student_s(tmp_path: Path, release: Callable[..., Path]) -> None:
    released = release(*FIRST["cells"])
    assert update(tmp_path) == ("new", [])
    mine = tmp_path / "work" / LAB
    assert (mine / f"{LAB}.ipynb").read_bytes() == released.read_bytes()
    assert (mine / "figures/chain.svg").read_bytes() == b"<svg/>"
    before = answer(tmp_path).read_bytes()
    assert update(tmp_path) == ("up to date", [])
    assert (mine / f"{LAB}.ipynb").read_bytes() == before


def test_what_is_locked_comes_back_into_a_copy(tmp_path: Path, release: Callable[..., Path]) -> None:
    release(*FIRST["cells"], cell("given", "two = 2", locked=True))
    update(tmp_path)
    path = answer(tmp_path)
    notebook = json.loads(path.read_bytes())
    notebook["cells"] = [made for made in notebook["cells"] if made["id"] not in ("f-check", "look")]
    notebook["cells"][-1]["source"] = "two = 3"
    path.write_text(json.dumps(notebook))
    before = path.read_bytes()
    what, notes = update(tmp_path)
    assert what == "updated"
    assert notes[:2] == ["as released again: given", "put back: f-check"]
    assert Path(notes[-1].removeprefix("as it was before: ")).read_bytes() == before
    sources = ["".join(made["source"]) for made in json.loads(path.read_bytes())["cells"]]
    assert sources == ["Prose", "def f():\n    return 1", "assert f() == 1", "two = 2"]
    assert update(tmp_path) == ("up to date", [])


def test_a_newer_release_reaches_a_copy_with_answers(tmp_path: Path, release: Callable[..., Path]) -> None:
    release(*FIRST["cells"])
    update(tmp_path)
    path = answer(tmp_path)
    (path.parent / "notes.txt").write_text("mine")
    before = path.read_bytes()
    release(*FIRST["cells"][:3], check("assert f() == 2"), figure=b"<svg>2</svg>")
    what, notes = update(tmp_path)
    assert what == "updated"
    assert notes[:3] == ["changed: f-check", "  -assert f() == 1", "  +assert f() == 2"]
    saved = notes[-1].removeprefix("as it was before: ")
    assert Path(saved).read_bytes() == before
    sources = ["".join(made["source"]) for made in json.loads(path.read_bytes())["cells"]]
    assert sources == ["Prose", "def f():\n    return 1", "f()", "assert f() == 2"]
    assert (path.parent / "figures/chain.svg").read_bytes() == b"<svg>2</svg>"
    assert (path.parent / "notes.txt").read_text() == "mine"
    assert update(tmp_path) == ("up to date", [])


def test_an_update_that_was_saved_over_comes_again_and_doubles_nothing(
    tmp_path: Path, release: Callable[..., Path]
) -> None:
    release(cell("before", "Before."), *FIRST["cells"][1:])
    update(tmp_path)
    mine = answer(tmp_path)
    opened = mine.read_bytes()
    release(cell("after", "After."), *FIRST["cells"][1:3], check("assert f() == 2"))
    update(tmp_path)
    mine.write_bytes(opened.replace(b"return 1", b"return 2"))  # JupyterLab had it open, and "Overwrite" was chosen
    assert update(tmp_path)[0] == "updated"
    texts = ["".join(cell["source"]) for cell in json.loads(mine.read_bytes())["cells"]]
    assert sum("After." in text for text in texts) == 1
    assert not any("Before." in text for text in texts)
    assert any("return 2" in text for text in texts)
    kept = sorted(path.name for path in (tmp_path / "work" / ".released" / LAB).glob("*.before*.ipynb"))
    assert kept == [f"{LAB}.before-2.ipynb", f"{LAB}.before.ipynb"]


def test_what_was_solved_in_labs_goes_along_and_survives_the_next_release(
    tmp_path: Path, release: Callable[..., Path]
) -> None:
    path = release(*FIRST["cells"])
    path.write_text(path.read_text().replace("raise NotImplementedError", "return 1"))
    what, notes = update(tmp_path)
    assert what == "new"
    assert "was not as released: it was copied as it is" in notes[0]
    assert update(tmp_path)[0] == "as it was"
    release(*FIRST["cells"][:3], check("assert f() == 2"))
    assert update(tmp_path)[0] == "updated"
    cells = json.loads((tmp_path / "work" / LAB / f"{LAB}.ipynb").read_bytes())["cells"]
    assert "return 1" in "".join(cells[1]["source"])
    assert "f() == 2" in "".join(cells[3]["source"])


@pytest.mark.parametrize(
    "content",
    [
        *(
            "",
            "not JSON",
            "[]",
            '{"worksheets": []}',
            '{"cells": [1]}',
            '{"cells": []}',
            '{"cells": [], "metadata": []}',
        ),
        '{"cells": [], "metadata": {}, "nbformat_minor": "5"}',
    ],
)
def test_a_copy_that_is_no_notebook_is_left_alone(content: str, tmp_path: Path, release: Callable[..., Path]) -> None:
    release(*FIRST["cells"])
    update(tmp_path)
    path = tmp_path / "work" / LAB / f"{LAB}.ipynb"
    path.write_text(content)
    release(*FIRST["cells"][:3])
    assert update(tmp_path)[0] == "as it was"
    assert path.read_text() == content


def test_for_a_copy_that_is_no_notebook_the_newest_whole_one_is_named_and_the_exit_code_is_1(
    tmp_path: Path, release: Callable[..., Path]
) -> None:
    folders = ("--labs", str(tmp_path / "labs"), "--work", str(tmp_path / "work"))
    release(*FIRST["cells"])
    update(tmp_path)
    path = tmp_path / "work" / LAB / f"{LAB}.ipynb"
    path.write_text("{")
    broken = CliRunner().invoke(cli.main, ("work", *folders))
    assert (broken.exit_code, "the newest copy" in broken.output) == (1, False)
    path.unlink()
    update(tmp_path)
    release(*FIRST["cells"][:3])
    before = update(tmp_path)[1][-1].removeprefix("as it was before: ")
    path.write_text("")
    kept = Path(before).with_name(f"{LAB}.before-2.ipynb")
    kept.write_text("")  # the newest, and no notebook either
    broken = CliRunner().invoke(cli.main, ("work", *folders))
    assert (broken.exit_code, f"the newest copy of it that can be read: {before}\n" in broken.output) == (1, True)
    jupyters = path.parent / ".ipynb_checkpoints" / f"{LAB}-checkpoint.ipynb"
    jupyters.parent.mkdir()
    jupyters.write_text(Path(before).read_text())
    assert f"can be read: {jupyters}\n" in CliRunner().invoke(cli.main, ("work", *folders)).output


def test_a_figure_that_the_student_painted_over_stays(tmp_path: Path, release: Callable[..., Path]) -> None:
    release(*FIRST["cells"])
    update(tmp_path)
    figure = tmp_path / "work" / LAB / "figures/chain.svg"
    figure.write_text("<svg>mine</svg>")
    release(*FIRST["cells"][:3], figure=b"<svg>2</svg>")
    assert "yours stays: figures/chain.svg" in update(tmp_path)[1]
    assert figure.read_text() == "<svg>mine</svg>"


def test_every_released_lab_bears_its_stamp() -> None:
    notebooks = sorted((ROOT / "labs").glob("*/*.ipynb"))
    assert [path.name for path in notebooks if not is_as_released(path.read_bytes())] == []
    assert len(notebooks) >= 8


def test_a_copy_is_written_as_jupyter_writes_it(tmp_path: Path) -> None:
    """Opening and saving a copy that was brought up to date changes no line of it."""
    lab = tmp_path / "labs" / "00_orientation"
    lab.mkdir(parents=True)
    source = ROOT / "labs" / "00_orientation" / "00_orientation.ipynb"
    older = json.loads(source.read_bytes())
    older["cells"].pop()
    stamp(older, {})
    (lab / source.name).write_text(json.dumps(older))
    update(tmp_path)
    (lab / source.name).write_bytes(source.read_bytes())
    assert update(tmp_path)[0] == "updated"
    copy = tmp_path / "work" / "00_orientation" / source.name
    assert nbformat.writes(nbformat.read(copy, as_version=4)) + "\n" == copy.read_text(encoding="utf-8")


@pytest.fixture
def image_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Return what runs before the server in a student's container, whose image holds tmp_path/labs."""
    path = ROOT / "docker/image/before-notebook.d/10-files.py"
    specification = importlib.util.spec_from_file_location("files_hook", path)
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    (tmp_path / "image").mkdir()
    (tmp_path / "labs").mkdir()
    (tmp_path / "image/labs").symlink_to(tmp_path / "labs")
    monkeypatch.setattr(module, "SOURCE", tmp_path / "image")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PRACTICUM_COURSE", raising=False)
    start: Callable[[], None] = module.main
    return start


def test_a_newer_image_brings_a_student_s_labs_up_to_date(
    tmp_path: Path, release: Callable[..., Path], image_start: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    release(*FIRST["cells"])
    image_start()
    path = tmp_path / "home/labs" / LAB / f"{LAB}.ipynb"
    path.write_text(path.read_text().replace("raise NotImplementedError", "return 1"))
    image_start()
    assert capsys.readouterr() == ("", "")
    release(*FIRST["cells"][:3], check("assert f() == 2"))
    image_start()
    assert "changed: f-check" in capsys.readouterr().err
    sources = ["".join(made["source"]) for made in json.loads(path.read_bytes())["cells"]]
    assert sources == ["Prose", "def f():\n    return 1", "f()", "assert f() == 2"]


def test_an_image_on_a_hub_which_hides_its_labs_starts(image_start: Callable[[], None], tmp_path: Path) -> None:
    image_start()
    assert list((tmp_path / "home/labs").iterdir()) == []


# ------------------------------------------------------------------------------------------------------------- commands
def test_the_command_says_what_became_of_each_copy(tmp_path: Path, release: Callable[..., Path]) -> None:
    release(*FIRST["cells"])
    folders = ("--labs", str(tmp_path / "labs"), "--work", str(tmp_path / "work"))
    made = CliRunner().invoke(cli.main, ("work", *folders))
    assert (made.exit_code, made.output) == (0, f"{LAB}: new: {tmp_path / 'work' / LAB / LAB}.ipynb\n")
    assert CliRunner().invoke(cli.main, ("work", LAB, *folders)).output == f"{LAB}: up to date\n"
    unknown = CliRunner().invoke(cli.main, ("work", "02_small", *folders))
    assert unknown.exit_code == 1
    assert f"hint: there: {LAB}" in unknown.output


def test_without_labs_the_command_says_where_to_run_it(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.main, ("work", "--labs", str(tmp_path)))
    assert result.exit_code == 1
    assert "no labs here\nhint: run this in the course's folder" in result.output


def test_jupyterlab_is_told_of_root_and_gets_its_own_options() -> None:
    assert command(Path("work"), ["--port=9000"], root=False)[2:] == [
        "jupyterlab",
        "--notebook-dir=work",
        "--port=9000",
    ]
    assert command(Path("work"), [], root=True)[-1] == "--allow-root"
    assert command(Path("work"), ["--allow-root"], root=True).count("--allow-root") == 1


def test_students_settings_come_before_their_own_and_depend_on_an_exchange(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("labkit._work.jupyterlab._EXCHANGE", tmp_path / "exchange")
    monkeypatch.setattr("jupyter_core.paths.jupyter_config_path", lambda: [str(tmp_path)])
    alone, student = settings({"JUPYTER_CONFIG_PATH": "mine"})["JUPYTER_CONFIG_PATH"].removesuffix(":mine").split(":")
    assert (Path(alone).name, Path(student).name) == ("no_exchange", "student")
    assert settings({"PRACTICUM_EXCHANGE": "/srv/exchange"})["JUPYTER_CONFIG_PATH"] == student
    (tmp_path / "nbgrader_config.py").write_text("c.Exchange.root = '/srv/exchange'\n")
    assert settings({})["JUPYTER_CONFIG_PATH"] == student
    of_image = (ROOT / "docker/image/etc/nbgrader_config.py").read_text(encoding="utf-8")
    (tmp_path / "nbgrader_config.py").write_text(of_image)
    assert settings({})["JUPYTER_CONFIG_PATH"] == f"{alone}:{student}"
