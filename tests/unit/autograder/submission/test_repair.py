"""Whatever is handed in is read or refused in words, and what is run has the instructor's cells in it."""

from __future__ import annotations

import base64
import copy
import json
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.course import checksum
from autograder.errors import SubmissionError
from autograder.model import CellSpec
from autograder.notebook import was_put_back
from autograder.release.build import build
from autograder.submission import repair as repair_module
from autograder.submission.repair import MAX_CELLS, Repaired, parse, put_aside, read, repair, text_hash

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()

slow_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)


class Handed:
    """A released lab, its rows as the gradebook would have them, and what comes of handing something in."""

    def __init__(self, folder: Path) -> None:
        release = build(folder)
        self.released: dict[str, Any] = json.loads(release.files["01_small.ipynb"])
        stubs = {cell["id"]: "".join(cell["source"]) for cell in self.released["cells"]}
        instructor = nbformat.reads(release.source_notebook.decode(), as_version=4)
        self.rows = [self._row(cell, stubs) for cell in instructor.cells if "nbgrader" in cell.metadata]

    @staticmethod
    def _row(cell: nbformat.NotebookNode, stubs: dict[str, str]) -> CellSpec:
        nbgrader = cell.metadata.nbgrader
        source = stubs[cell.id] if nbgrader.solution else cell.source
        cell.source = source
        return CellSpec(
            cell.id, cell.cell_type, source, checksum(cell), nbgrader.locked, nbgrader.grade, nbgrader.solution, False,
            float(nbgrader.get("points", 0)),
        )  # fmt: skip

    def cell(self, notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
        return next(cell for cell in notebook["cells"] if cell["id"] == grade_id)

    def changed(self, change: Callable[[dict[str, Any]], object]) -> Repaired:
        """Return the released notebook after a student's change, read and repaired."""
        notebook = copy.deepcopy(self.released)
        change(notebook)
        return self.repaired(notebook)

    def repaired(self, notebook: object) -> Repaired:
        parsed, _ = parse(json.dumps(notebook).encode(), "lab.ipynb")
        return repair(parsed, self.rows)

    def check_whole(self, repaired: Repaired) -> None:
        """Every known cell is there once, of its type, with the instructor's text where it is locked."""
        notebook = repaired.notebook
        nbformat.validate(notebook)
        nbformat.writes(notebook).encode()
        graded = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if "nbgrader" in c.metadata}
        count = Counter(c.metadata.nbgrader.grade_id for c in notebook.cells if "nbgrader" in c.metadata)
        assert count == Counter(row.grade_id for row in self.rows)
        for row in self.rows:
            cell = graded[row.grade_id]
            assert (cell.cell_type, cell.metadata.nbgrader) == (row.cell_type, row.metadata()["nbgrader"])
            assert not row.locked or cell.source == row.source
        assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
        assert not [cell for cell in notebook.cells if cell.get("outputs")]


@pytest.fixture
def handed(lab: Callable[..., Path]) -> Handed:
    return Handed(lab())


def refused(content: bytes) -> str:
    with pytest.raises(SubmissionError) as caught:
        parse(content, "lab.ipynb")
    return str(caught.value)


def notebook(*cells: Any, **more: Any) -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **more}).encode()


# ---------------------------------------------------------------------------------------------------------- the file
def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "lab.ipynb").write_bytes(b"content")
    assert read(tmp_path / "lab.ipynb") == b"content"


def test_a_link_a_directory_and_a_huge_file_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link, folder, huge = tmp_path / "link.ipynb", tmp_path / "dir.ipynb", tmp_path / "huge.ipynb"
    link.symlink_to("/etc/passwd")
    folder.mkdir()
    huge.write_bytes(b"x" * 3 * 2**20)
    monkeypatch.setattr(repair_module, "MAX_BYTES", 2 * 2**20)
    for path, text in (
        (link, "link.ipynb: a link, not a file\nhint: hand in the notebook itself"),
        (folder, "dir.ipynb: not a file\nhint: hand in the notebook itself"),
        (huge, "huge.ipynb: 3 MiB, more than 2 MiB\nhint: clear the outputs and hand it in again"),
        (tmp_path / "none.ipynb", "none.ipynb: No such file or directory"),
    ):
        with pytest.raises(SubmissionError) as caught:
            read(path)
        assert str(caught.value) == text


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "lab.ipynb: the file is empty\nhint: hand in the .ipynb file that JupyterLab saves"),
        (b" \n\t", "lab.ipynb: the file is empty"),
        (b"\xff\xfe\x00", "lab.ipynb: not a text file (byte 0 is not UTF-8)"),
        (b"{", "lab.ipynb: not JSON"),
        (b"print('hi')", "lab.ipynb: not JSON"),
        (b"[" * 10**5, "lab.ipynb: not JSON"),
        (b'{"a":' * 10**5, "lab.ipynb: not JSON"),
        (b"[]", "lab.ipynb: not a notebook of nbformat 1 to 4"),
        (b"NaN", "lab.ipynb: not a notebook of nbformat 1 to 4"),
        (b"null", "lab.ipynb: not a notebook of nbformat 1 to 4"),
        (b'"text"', "lab.ipynb: not a notebook of nbformat 1 to 4"),
        (b'{"cells": []}', "lab.ipynb: not a notebook of nbformat 1 to 4"),
        (b'{"nbformat": "4", "cells": []}', "lab.ipynb: not a notebook of nbformat 1 to 4"),
        (b'{"nbformat": true, "cells": []}', "lab.ipynb: not a notebook of nbformat 1 to 4"),
        (b'{"nbformat": Infinity, "cells": []}', "lab.ipynb: not a notebook of nbformat 1 to 4"),
        (b'{"nbformat": 5, "cells": []}', "lab.ipynb: saved in a newer format, nbformat 5"),
        (b'{"nbformat": 0, "cells": []}', "lab.ipynb: not a notebook of nbformat 1 to 4"),
        (b'{"nbformat": 4}', "lab.ipynb: not a notebook (it has no list of cells)"),
        (b'{"nbformat": 4, "cells": {}}', "lab.ipynb: not a notebook (it has no list of cells)"),
        (b'{"nbformat": 3, "worksheets": 7}', "lab.ipynb: not a notebook (it has no list of cells)"),
        (b'{"nbformat": 4, "cells": [' + b"0," * MAX_CELLS + b"0]}", "lab.ipynb: 5001 cells, more than 5000"),
    ],
)
def test_what_is_no_notebook_is_refused_in_words(content: bytes, error: str) -> None:
    assert refused(content).startswith(error)


def test_an_older_notebook_is_converted_and_the_note_says_so() -> None:
    cell = {"cell_type": "code", "input": "x = 1", "outputs": [], "language": "python", "metadata": {}}
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": [cell]}]}
    found, notes = parse(json.dumps(old).encode(), "lab.ipynb")
    assert [c.source for c in found.cells] == ["x = 1"]
    assert notes == ("converted from nbformat 3",)


@pytest.mark.parametrize(
    ("old", "kind", "source"),
    [
        ({"cell_type": "code", "input": ["x = 1\n", "y"]}, "code", "x = 1\ny"),
        ({"cell_type": "heading", "level": 2, "source": ["A ", "title"]}, "markdown", "## A title"),
        ({"cell_type": "heading", "level": 10**9, "source": "A"}, "markdown", "###### A"),
        ({"cell_type": "heading", "level": 1, "source": 5}, "markdown", "# "),
        ({"cell_type": "heading", "level": 1, "source": None}, "markdown", "# "),
        ({"cell_type": "html", "source": "<b>"}, "markdown", "<b>"),
        ({"cell_type": "raw", "source": "r"}, "raw", "r"),
        ({"cell_type": "markdown", "text": "t"}, "markdown", "t"),
    ],
)
def test_every_kind_of_older_cell_is_read(old: dict[str, Any], kind: str, source: str) -> None:
    old["metadata"] = {"nbgrader": {"grade_id": "a"}}
    found, _ = parse(json.dumps({"nbformat": 2, "worksheets": [{"cells": [old]}, {"cells": []}]}).encode(), "lab.ipynb")
    (cell,) = found.cells
    assert (cell.cell_type, cell.source, cell.metadata.nbgrader.grade_id) == (kind, source, "a")


_MANY = {
    "outputs of an older format": (b'{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"code","outputs":[%s]}]}]}',
                                   b'{"output_type":"stream","text":"x"}'),
    "cells of an older format": (b'{"nbformat":3,"worksheets":[{"cells":[%s]}]}', b'{"cell_type":"code","input":"x"}'),
    "worksheets": (b'{"nbformat":3,"worksheets":[%s]}', b"{}"),
    "lists": (b'{"nbformat":4,"cells":[%s]}', b"[]"),
    "objects": (b'{"nbformat":4,"cells":[{"cell_type":"code","source":"","metadata":[%s]}]}', b'{"":0}'),
    "lines": (b'{"nbformat":4,"cells":[{"cell_type":"code","source":[%s]}]}', b'"ab"'),
    "outputs": (b'{"nbformat":4,"cells":[{"cell_type":"code","source":"","outputs":[%s]}]}',
                b'{"output_type":"stream","text":"x"}'),
    "quotes": (b'{"nbformat":4,"cells":[{"cell_type":"code","source":"%s"}]}', b'\\"[{'),
    "pictures": (b'{"nbformat":4,"cells":[{"cell_type":"code","source":"","outputs":[%s]}]}',
                 b'{"output_type":"display_data","data":{"image/png":"iVBORw0K%s"}}' % (b"A" * 10**6)),
}  # fmt: skip
_MEASURED = """
import resource, sys
from autograder.errors import SubmissionError
from autograder.submission.repair import parse, repair
content = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF)
try:
    repair(parse(content, "lab.ipynb")[0], [])
except SubmissionError as error:
    print(error, file=sys.stderr)
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_maxrss - before.ru_maxrss, after.ru_utime - before.ru_utime)
"""


@pytest.mark.parametrize("kind", _MANY)
def test_reading_the_largest_file_takes_little_memory_and_time(kind: str) -> None:
    around, one = _MANY[kind]
    content = around % b",".join([one] * ((repair_module.MAX_BYTES - 200) // (len(one) + 1)))
    done = subprocess.run([sys.executable, "-c", _MEASURED], input=content, capture_output=True, check=True)
    more_kib, seconds = map(float, done.stdout.split())
    assert more_kib < 200 * 1024, done.stderr
    assert seconds < 15


def test_a_byte_order_mark_and_windows_line_ends_are_read() -> None:
    found, notes = parse(b"\xef\xbb\xbf" + notebook({"cell_type": "code", "source": ["a\r\n", "b"]}), "lab.ipynb")
    assert (found.cells[0].source, notes) == ("a\nb", ())


def test_half_a_character_is_replaced_so_that_the_notebook_can_be_written() -> None:
    found, _ = parse(notebook({"cell_type": "code", "source": "x = '\ud800'"}), "lab.ipynb")
    assert found.cells[0].source == "x = '?'"
    nbformat.writes(found).encode()


@pytest.mark.parametrize(
    "cell",
    [
        None,
        3,
        [],
        {},
        {"cell_type": "code"},
        {"cell_type": "code", "source": 3},
        {"cell_type": "code", "source": ["a", 3]},
        {"cell_type": "heading", "source": "x"},
        {"cell_type": ["code"], "source": "x"},
        {"source": "x"},
    ],
)
def test_a_damaged_cell_is_left_out_and_the_rest_is_kept(cell: object) -> None:
    good = {"cell_type": "code", "source": "x = 1", "metadata": {}}
    found, notes = parse(notebook(good, cell, good), "lab.ipynb")
    assert [c.source for c in found.cells] == ["x = 1", "x = 1"]
    assert notes == ("cell 2 cannot be read: left out",)


@pytest.mark.parametrize(
    "more",
    [
        {"metadata": None},
        {"metadata": [1]},
        {"metadata": {"nbgrader": 3}},
        {"metadata": {"nbgrader": {"grade_id": ["a"], "points": {"x": 1}}}},
        {"metadata": {"tags": ["skip-execution"], "nbgrader": {}}},
        {"id": 3},
        {"id": "x" * 10**4},
        {"id": "not valid!"},
        {"id": ""},
        {"outputs": "none", "execution_count": "many"},
        {"attachments": {"a.png": {"image/png": "AA=="}}},
        {"metadata": {"deep": json.loads("[" * 500 + "]" * 500)}},
    ],
)
def test_nothing_but_text_and_known_metadata_is_kept_of_a_cell(more: dict[str, Any]) -> None:
    found, notes = parse(notebook({"cell_type": "code", "source": "x", "metadata": {}, **more}), "lab.ipynb")
    nbformat.validate(found)
    assert (found.cells[0].source, found.cells[0].metadata, notes) == ("x", {}, ())
    assert "attachments" not in found.cells[0]


# ------------------------------------------------------------------------------------------------------------- repair
def test_an_untouched_notebook_is_not_tampered_with(handed: Handed) -> None:
    repaired = handed.repaired(handed.released)
    assert (repaired.tampered, repaired.notes) == ((), ())
    assert [cell.id for cell in repaired.notebook.cells] == [cell["id"] for cell in handed.released["cells"]]
    handed.check_whole(repaired)


def test_what_a_student_may_change_is_kept(handed: Handed) -> None:
    def change(nb: dict[str, Any]) -> None:
        handed.cell(nb, "softmax")["source"] = "def softmax(z):\n    return z"
        handed.cell(nb, "words")["source"] = ["Because ", "of that."]
        nb["cells"].insert(3, {"cell_type": "code", "source": "mine = 1", "metadata": {"tags": ["skip-execution"]}})

    repaired = handed.changed(change)
    handed.check_whole(repaired)
    assert (repaired.tampered, repaired.notes) == ((), ())
    sources = [cell.source for cell in repaired.notebook.cells]
    assert "def softmax(z):\n    return z" in sources
    assert "Because of that." in sources
    assert sources[3] == "mine = 1"


def attachments(handed: Handed, bundles: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return what is kept of these attachments of a written answer."""
    repaired = handed.changed(lambda nb: handed.cell(nb, "words").update(attachments=bundles))
    handed.check_whole(repaired)
    return dict(next(cell for cell in repaired.notebook.cells if cell.id == "words").get("attachments", {}))


def test_a_written_answer_keeps_its_pasted_images_and_nothing_else(handed: Handed) -> None:
    kinds = {
        "a.webp": {"image/webp": base64.b64encode(b"RIFF\0\0\0\0WEBPVP8 ").decode()},
        "b.svg": {"image/svg+xml": base64.b64encode(b"<svg><script>alert(1)</script></svg>").decode()},
        "c.avif": {"image/avif": base64.b64encode(b"\0\0\0\x20ftypavif").decode()},
    }
    mixed = {"my picture (1).png": {"image/png": PNG, "text/html": "<script>", "image/svg+xml": "<svg/>"}}
    assert attachments(handed, {**mixed, **kinds, "d": "e", "f": {}}) == {
        "my_picture_1_.png": {"image/png": PNG},
        **kinds,
    }


@pytest.mark.parametrize(
    "bundle",
    [
        {"image/png": 3},
        {"image/png": "PHN2Zz4="},
        {"image/gif": PNG},
        {"image/png": f'{PNG}" onerror="alert(1)'},
        {"image/svg+xml": "<svg onload='alert(1)'/>"},
        {"image/heic": PNG},
        {'"><script>alert(1)</script>': PNG},
        {"image/heic": [["deep"]]},
    ],
    ids=str,
)
def test_in_place_of_a_picture_that_cannot_be_shown_stands_one_that_says_so(
    handed: Handed, bundle: dict[str, Any]
) -> None:
    (found,) = attachments(handed, {"a.heic": bundle}).values()
    ((media_type, encoded),) = found.items()
    drawing = base64.b64decode(encoded).decode()
    assert media_type == "image/svg+xml"
    assert "A picture that cannot be shown here" in drawing
    assert not re.search("onerror|onload|<script", drawing)
    another = {next(iter(bundle)): base64.b64encode(b"another picture").decode()}
    assert attachments(handed, {"a.heic": another}) != {"a.heic": found}, "who grades it is asked again"


def test_the_pictures_of_a_locked_cell_are_the_instructor_s(lab: Callable[..., Path]) -> None:
    handed = Handed(lab())
    locked = next(row.grade_id for row in handed.rows if row.locked)
    rows = [replace(row, cell_type="markdown") if row.grade_id == locked else row for row in handed.rows]
    mine, theirs = (
        {"a.png": {"image/png": base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20) + end).decode()}}
        for end in (b"1", b"2")
    )
    for change in ("attached", "deleted"):
        book = copy.deepcopy(handed.released)
        cell = handed.cell(book, locked)
        cell.update(cell_type="markdown", attachments=theirs)
        if change == "deleted":
            book["cells"].remove(cell)
        parsed, _ = parse(json.dumps(book).encode(), "lab.ipynb")
        found = {each.id: each for each in repair(parsed, rows, None, {locked: mine}).notebook.cells}
        assert found[locked].attachments == mine
        assert "attachments" not in {each.id: each for each in repair(parsed, rows).notebook.cells}[locked]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda cell: cell.update(source="check.score(2)"), "locked cell 'softmax-check' was changed: restored"),
        (lambda cell: cell.update(source=""), "locked cell 'softmax-check' was changed: restored"),
        (lambda cell: cell.update(cell_type="markdown"), "cell 'softmax-check' was made a markdown cell: restored"),
        (lambda cell: cell.update(cell_type="raw", source="x"), "cell 'softmax-check' was made a raw cell: restored"),
        (
            lambda cell: [cell.update(source="x"), cell["metadata"]["nbgrader"].update(points=10**400)],
            "locked cell 'softmax-check' was changed: restored",
        ),
        (
            lambda cell: [cell.update(source="x"), cell["metadata"]["nbgrader"].pop("points")],
            "locked cell 'softmax-check' was changed: restored",
        ),
        (lambda cell: cell["metadata"].clear(), "cell 'softmax-check' was deleted: put back"),
        (lambda cell: cell["metadata"]["nbgrader"].update(grade_id=7), "cell 'softmax-check' was deleted: put back"),
    ],
)
def test_a_locked_cell_that_was_changed_is_restored_and_named(
    handed: Handed, change: Callable[[dict[str, Any]], object], word: str
) -> None:
    repaired = handed.changed(lambda nb: change(handed.cell(nb, "softmax-check")))
    handed.check_whole(repaired)
    assert repaired.tampered == (word,)


def test_metadata_that_a_student_changed_is_not_believed(handed: Handed) -> None:
    def change(nb: dict[str, Any]) -> None:
        cell = handed.cell(nb, "softmax-check")
        cell["metadata"]["nbgrader"].update(points=10**400, grade=False, solution=True, locked=False, checksum="no")
        cell["metadata"]["tags"] = ["skip-execution"]

    repaired = handed.changed(change)
    handed.check_whole(repaired)
    assert repaired.tampered == ()  # its text is what it was


def test_a_checksum_that_the_student_wrote_does_not_excuse_an_edit(handed: Handed) -> None:
    def edit(nb: dict[str, Any]) -> None:
        cell = handed.cell(nb, "softmax-check")
        cell["source"] = "2"
        node = nbformat.from_dict(cell)
        cell["metadata"]["nbgrader"]["checksum"] = checksum(node)

    edited = copy.deepcopy(handed.released)
    edit(edited)
    parsed = parse(json.dumps(edited).encode(), "lab.ipynb")[0]
    assert repair(parsed, handed.rows, {}).tampered == ("locked cell 'softmax-check' was changed: restored",)
    assert repair(parsed, handed.rows, {"softmax-check": {text_hash("2\n")}}).tampered == (), "an older release"


def test_a_locked_cell_goes_by_its_own_id_whatever_the_student_wrote(handed: Handed) -> None:
    explore = next(cell["id"] for cell in handed.released["cells"] if cell["metadata"].get("labkit"))
    repaired = handed.changed(lambda nb: handed.cell(nb, "setup").update(id=explore))
    ids = {cell.metadata.nbgrader.grade_id: cell.id for cell in repaired.notebook.cells if "nbgrader" in cell.metadata}
    assert ids == {row.grade_id: row.grade_id for row in handed.rows}


def test_a_locked_cell_handed_out_before_it_was_mended_is_not_tampered_with(handed: Handed) -> None:
    old = handed.released
    handed.rows = [
        CellSpec(**{**row.__dict__, "source": row.source + "\n# fixed", "checksum": "new"}) for row in handed.rows
    ]
    repaired = handed.repaired(old)
    handed.check_whole(repaired)
    assert repaired.tampered == ()


@pytest.mark.parametrize(("grade_id", "tampers"), [("softmax-check", True), ("setup", True), ("softmax", False)])
def test_a_cell_that_was_deleted_is_put_back_after_the_one_before_it(
    handed: Handed, grade_id: str, tampers: bool
) -> None:
    repaired = handed.changed(lambda nb: nb["cells"].remove(handed.cell(nb, grade_id)))
    handed.check_whole(repaired)
    word = (f"cell {grade_id!r} was deleted: put back",)
    assert (repaired.tampered, repaired.notes) == ((word, ()) if tampers else ((), word))
    order = [cell.metadata.nbgrader.grade_id for cell in repaired.notebook.cells if "nbgrader" in cell.metadata]
    assert order == [row.grade_id for row in handed.rows]


@pytest.mark.parametrize(("grade_id", "tampers"), [("softmax-check", True), ("softmax", False)])
def test_the_last_of_several_copies_counts(handed: Handed, grade_id: str, tampers: bool) -> None:
    def change(nb: dict[str, Any]) -> None:
        first = copy.deepcopy(handed.cell(nb, grade_id))
        first["source"] = "first = 1"
        nb["cells"].insert(0, first)

    repaired = handed.changed(change)
    handed.check_whole(repaired)
    assert repaired.notebook.cells[0].source == "first = 1"
    assert repaired.notebook.cells[0].metadata == {}
    word = (f"cell {grade_id!r} is there more than once: the last counts",)
    assert (repaired.tampered, repaired.notes) == ((word, ()) if tampers else ((), word))


def test_without_any_metadata_everything_is_kept_and_nothing_is_taken_for_an_answer(handed: Handed) -> None:
    for cell in handed.released["cells"]:
        cell["metadata"] = {}
    handed.cell(handed.released, "softmax")["source"] = "mine"
    parsed = parse(json.dumps(handed.released).encode(), "lab.ipynb")[0]
    notebook = put_aside(parsed, handed.rows)
    nbformat.validate(notebook)
    known, others = notebook.cells[: len(handed.rows)], notebook.cells[len(handed.rows) :]
    assert [cell.metadata.nbgrader.grade_id for cell in known] == [row.grade_id for row in handed.rows]
    assert all(map(was_put_back, known))
    assert [cell.source for cell in others[1:]] == [cell.source for cell in parsed.cells]
    words = next(cell for cell in known if cell.metadata.nbgrader.grade_id == "words")
    assert checksum(words) != words.metadata.nbgrader.checksum, "else nbgrader would give it 0 and ask nobody"


def test_cells_of_another_lab_are_ordinary_cells(handed: Handed) -> None:
    def change(nb: dict[str, Any]) -> None:
        for name in ("x" * 10**5, "other"):
            metadata = {"nbgrader": {"grade_id": name, "grade": True, "points": 100}}
            nb["cells"].append({"cell_type": "code", "source": "x", "metadata": metadata})

    repaired = handed.changed(change)
    handed.check_whole(repaired)
    assert repaired.notes == ("2 graded cells are not part of this lab and run like any other",)


@pytest.mark.parametrize("schema", [1, 2])
def test_metadata_of_an_older_nbgrader_is_brought_up_to_date(handed: Handed, schema: int) -> None:
    def change(nb: dict[str, Any]) -> None:
        for cell in nb["cells"]:
            if nbgrader := cell["metadata"].get("nbgrader"):
                for key in ("task", "cell_type") if schema == 2 else ("task", "cell_type", "schema_version"):
                    nbgrader.pop(key, None)
                nbgrader["schema_version"] = schema

    repaired = handed.changed(change)
    handed.check_whole(repaired)
    assert repaired.tampered == ()


def test_an_empty_notebook_gets_every_cell(handed: Handed) -> None:
    repaired = repair(nbformat.v4.new_notebook(), handed.rows)
    handed.check_whole(repaired)
    assert [cell.id for cell in repaired.notebook.cells] != []
    assert len(repaired.tampered) == sum(row.locked for row in handed.rows)


def test_two_readings_of_one_file_are_equal(handed: Handed) -> None:
    del handed.released["cells"][3]["id"]
    assert handed.repaired(handed.released) == handed.repaired(handed.released)


# --------------------------------------------------------------------------------------------------------------- fuzz
SCALAR = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.text(alphabet=st.characters(), max_size=5)
    | st.sampled_from(["\ud800", "\udfff\ud83d", "\x00", "softmax", "softmax-check", 10**400, -math.inf])
)
KEYS = st.sampled_from(
    ["cells", "cell_type", "source", "metadata", "nbgrader", "grade_id", "id", "attachments", "points", "nbformat"]
)
ANY = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5))
CELL = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw"]) | ANY,
        "source": st.text(max_size=9) | st.lists(st.text(max_size=3), max_size=3) | ANY,
        "id": st.sampled_from(["setup", "softmax", "x"]) | ANY,
        "attachments": ANY,
        "outputs": ANY,
        "metadata": ANY
        | st.fixed_dictionaries(
            {
                "nbgrader": st.fixed_dictionaries(
                    {"grade_id": st.sampled_from(["setup", "softmax", "softmax-check", "words", "other"]) | SCALAR},
                    optional={"points": SCALAR, "grade": SCALAR, "solution": SCALAR, "checksum": SCALAR, "x": ANY},
                )
            }
        ),
    },
)


@slow_fixture
@given(st.binary(max_size=50) | ANY.map(lambda value: json.dumps(value).encode()))
def test_parsing_rubbish_raises_nothing_but_submission_errors(content: bytes) -> None:
    try:
        found, _ = parse(content, "lab.ipynb")
    except SubmissionError as error:
        str(error).encode()
    else:
        nbformat.validate(found)


@slow_fixture
@given(cells=st.lists(CELL, max_size=6), version=st.sampled_from([4, 4, 4, 3, 2, 1]), more=st.dictionaries(KEYS, ANY))
def test_repairing_rubbish_yields_a_whole_notebook(
    handed: Handed, cells: list[Any], version: int, more: dict[str, Any]
) -> None:
    raw = {"metadata": {}, "worksheets": [{"cells": cells}], **more, "cells": cells, "nbformat": version}
    try:
        parsed, _ = parse(json.dumps(raw).encode(), "lab.ipynb")
    except SubmissionError:
        return
    handed.check_whole(repair(parsed, handed.rows))


@slow_fixture
@given(data=st.data())
def test_a_damaged_copy_of_the_released_notebook_is_repaired(handed: Handed, data: st.DataObject) -> None:
    damaged = copy.deepcopy(handed.released)
    for _ in range(data.draw(st.integers(1, 6))):
        cells = damaged["cells"]
        index = data.draw(st.integers(0, max(len(cells) - 1, 0)))
        action = data.draw(
            st.sampled_from(["delete", "copy", "move", "retype", "source", "metadata", "nbgrader", "id"])
        )
        if not cells or not isinstance(cells[index], dict):
            continue
        cell = cells[index]
        if action == "delete":
            del cells[index]
        elif action == "copy":
            cells.insert(data.draw(st.integers(0, len(cells))), copy.deepcopy(cell))
        elif action == "move":
            cells.insert(data.draw(st.integers(0, len(cells) - 1)), cells.pop(index))
        elif action == "retype":
            cell["cell_type"] = data.draw(st.sampled_from(["code", "markdown", "raw"]) | SCALAR)
        elif action == "nbgrader" and isinstance(cell.get("metadata"), dict):
            cell["metadata"].setdefault("nbgrader", {})
            if isinstance(cell["metadata"]["nbgrader"], dict):
                cell["metadata"]["nbgrader"][data.draw(KEYS)] = data.draw(SCALAR)
        else:
            cell[action if action != "nbgrader" else "metadata"] = data.draw(ANY)
    handed.check_whole(handed.repaired(damaged))


@pytest.mark.parametrize(
    ("handed", "expected", "moved"),
    [
        ("setup f t1 own t2", "setup f t1 own t2", []),
        ("setup f t2 t1 own", "setup f t1 t2 own", ["t2"]),
        ("t2 t1 setup f", "setup f t1 t2", ["t1", "t2"]),
        ("f own setup t1 t2", "f own setup t1 t2", []),
        ("t2 own f t1", "setup own f t1 t2", ["t2"]),
        ("setup f own t2 t1", "setup f own t1 t2", ["t2"]),
        ("f setup own t2", "f setup own t1 t2", ["t1"]),
        ("f t1 t2 own setup", "f setup t1 t2 own", ["setup"]),
    ],
)
def test_a_test_stands_below_those_that_it_follows(handed: str, expected: str, moved: list[str]) -> None:
    kinds = {
        "setup": (True, False, False),
        "f": (False, False, True),
        "t1": (True, True, False),
        "t2": (True, True, False),
    }
    rows = [CellSpec(name, "code", f"{name} = 1", "", *kind, False, 1.0) for name, kind in kinds.items()]
    specs = {row.grade_id: row for row in rows}
    cells = [nbformat.v4.new_code_cell(f"{name} = 1", id=name) for name in handed.split()]
    for cell in cells:
        cell.metadata.update(specs[cell.id].metadata() if cell.id in specs else {})
    found = repair(nbformat.v4.new_notebook(cells=cells), rows)
    assert [cell.id for cell in found.notebook.cells] == expected.split()
    assert [note.split("'")[1] for note in found.notes if "its place among" in note] == moved


def test_a_deleted_test_is_put_back_below_those_that_it_follows_wherever_its_answer_went() -> None:
    kinds = {
        "setup": (True, False, False),
        "t1": (True, True, False),
        "g": (False, False, True),
        "t2": (True, True, False),
    }
    rows = [CellSpec(name, "code", f"{name} = 1", "", *kind, False, 1.0) for name, kind in kinds.items()]
    cells = [nbformat.v4.new_code_cell(f"{row.grade_id} = 1", id=row.grade_id) for row in rows]
    for cell, row in zip(cells, rows, strict=True):
        cell.metadata.update(row.metadata())
    handed = [cells[2], cells[0], cells[1]]
    found = repair(nbformat.v4.new_notebook(cells=handed), rows)
    assert [cell.id for cell in found.notebook.cells] == ["g", "setup", "t1", "t2"]


@pytest.mark.parametrize(
    ("handed", "expected"),
    [
        ("b tb c tc a ta", "b c a ta tb tc"),  # the first task was done last
        ("a b c ta tc tb", "a b c ta tb tc"),
        ("ta a tb b tc c", "a ta b tb c tc"),
        ("ta tb tc a b c", "a ta b tb c tc"),
        ("a ta c tc b tb", "a ta c b tb tc"),
        ("tc c a ta b tb", "c a ta b tb tc"),
        ("a b tb c tc ta", "a b ta tb c tc"),  # copied to the end
    ],
)
def test_a_test_that_was_moved_never_stands_above_its_own_answer(handed: str, expected: str) -> None:
    found = repair(nbformat.v4.new_notebook(cells=_handed(handed)), TASKS)
    assert " ".join(cell.id for cell in found.notebook.cells) == expected


TASKS = [
    CellSpec(f"{kind}{task}", "code", f"def {task}(): raise NotImplementedError", "", bool(kind), bool(kind), not kind,
             False, 1.0 if kind else 0.0)
    for task in "abc"
    for kind in ("", "t")
]  # fmt: skip


def _handed(names: str) -> list[nbformat.NotebookNode]:
    rows = {row.grade_id: row for row in TASKS}
    cells = [nbformat.v4.new_code_cell(rows[name].source, id=name) for name in names.split()]
    for cell in cells:
        cell.metadata.update(rows[cell.id].metadata())
    return cells


def test_the_stub_of_an_answer_that_was_merged_into_another_is_put_back_as_text() -> None:
    handed = _handed("a ta tb c tc")
    handed[0].source = "def a(): return 1\ndef b(): return 2"
    found = repair(nbformat.v4.new_notebook(cells=handed), TASKS)
    assert [cell.id for cell in found.notebook.cells] == ["a", "ta", "b", "tb", "c", "tc"]
    assert all(line.startswith("# ") for line in found.notebook.cells[2].source.splitlines())
    assert "cell 'b' was deleted: put back" in found.notes
