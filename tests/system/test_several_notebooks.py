"""A lab with more than one notebook, collected and graded by the command line."""

from __future__ import annotations

from pathlib import Path

import nbformat

from tests.system.courses import autograder
from tests.system.foreign import Foreign


def test_who_handed_in_one_notebook_of_two_is_named_at_the_end(tmp_path: Path) -> None:
    root = tmp_path / "course"
    course = Foreign(root, {"test": "assert square(3) == 9"})
    second = nbformat.read(root / "source/hw/hw.ipynb", as_version=4)
    for cell in second.cells:
        cell.metadata["nbgrader"]["grade_id"] += "-2"
    nbformat.write(second, root / "source/hw/hw2.ipynb")
    assert autograder("release", "hw", "--skip-solution", "--course", course.root).exit_code == 0
    one, two = ((root / f"release/hw/{name}.ipynb").read_bytes() for name in ("hw", "hw2"))
    for file, content in {"ada/HW (1).ipynb": one, "ada/b-final.ipynb": two, "bob/hw.ipynb": one}.items():
        (path := tmp_path / "submissions" / file).parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    done = autograder("collect", "hw", tmp_path / "submissions", "--course", root)
    assert done.exit_code == 0, done.output
    assert (root / "submitted/ada/hw/hw2.ipynb").read_bytes() == two
    assert done.stderr == (
        "2 students: 2 new\nhanded in without hw2.ipynb, which gives 0 points: bob; where an earlier hand-in has it,"
        " put all notebooks into STUDENT/ in a folder and collect that with --force\n"
    )
