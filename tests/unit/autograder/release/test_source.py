"""Every rule of a lab's source, with the file and line that its error names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.errors import SourceError
from autograder.release.source import Block, read_source

WriteLab = Callable[..., Path]

SOLUTION = '# %% nbgrader={"grade_id": "f", "solution": true}\n'
TEST = '# %% nbgrader={"grade_id": "f-check", "grade": true, "points": 3}\n'


def refused(folder: Path) -> str:
    """Return the error of this lab, with the path of its source cut to its name."""
    with pytest.raises(SourceError) as caught:
        read_source(folder)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_lab_becomes_cells_with_their_lines(lab: WriteLab, small: str) -> None:
    source = read_source(lab())
    assert [cell.line for cell in source.cells] == [
        number for number, line in enumerate(small.split("\n"), 1) if line.startswith("# %%")
    ]
    solution, test = source.cells[2], source.cells[4]
    assert solution.solution
    assert solution.blocks == (Block("solution", 2, 5),)
    assert next(solution.removed()).strip() == "exponentials = np.exp(z - z.max(axis=1, keepdims=True))"
    assert (test.test, test.points, test.blocks[0].kind) == (True, 2, "hidden")
    assert [cell.explore for cell in source.cells].index(True) == 3
    assert source.where(test) == f"{source.path}:23 (softmax-check)"
    assert source.where(test, 3).endswith(":26 (softmax-check)")
    assert small.split("\n")[25] == "from labkit import check"


# ------------------------------------------------------------------------------------------------------------- markers
@pytest.mark.parametrize(
    "marker",
    [
        "### BEGIN HDDEN TESTS",
        "### BEGIN HIDDEN TEST",
        "### BEGIN SOLUTIONS",
        "###BEGIN SOLUTION",
        "### begin solution",
        "### Begin Solution",
        "## BEGIN SOLUTION",
        "# BEGIN SOLUTION",
        "#BEGIN HIDDEN TESTS",
        "#### BEGIN SOLUTION",
        "### BEGIN  SOLUTION",
        "### BEGIN SOLUTION.",
        "### BEGIN SOLUTION (two lines)",
        "### BEGIN_HIDDEN_TESTS",
        "### END MARK SCHEME",
        "# begin hidden tests",
        "x = 1  ### BEGIN HIDDEN TESTS",
        "x = 1  # BEGIN HIDDEN TESTS",
        'print("BEGIN SOLUTION")',
        "### begin something",
    ],
)
def test_a_misspelled_marker_is_an_error(lab: WriteLab, marker: str) -> None:
    folder = lab(f"# %% [markdown]\n# # Title\n\n# %%\ny = 2\n{marker}\n")
    assert refused(folder).startswith(
        f"01_small.py:6: unknown marker {marker!r}\nhint: write exactly one of: ### BEGIN"
    )


@pytest.mark.parametrize("line", ["# begin with the smallest", "# the end of the list", "# ENDING", "#: beginning"])
def test_an_ordinary_comment_or_heading_is_no_marker(lab: WriteLab, small: str, line: str) -> None:
    read_source(lab(f"{small}\n# %% [markdown]\n# ## Begin here\n#\n# ### End of the lab\n\n# %%\n{line}\nx = 1\n"))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("    ### BEGIN SOLUTION\n    return 1\n", "3 (f): a solution block is never closed"),
        ("    return 1\n    ### END SOLUTION\n", "4 (f): END SOLUTION without BEGIN"),
        (
            "    ### BEGIN SOLUTION\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n",
            "4 (f): BEGIN SOLUTION inside another block\nhint: close the block of line 3 first",
        ),
        (
            "    ### BEGIN SOLUTION\n    ### BEGIN HIDDEN TESTS\n    ### END HIDDEN TESTS\n    ### END SOLUTION\n",
            "4 (f): BEGIN HIDDEN TESTS inside another block",
        ),
        ("    ### BEGIN SOLUTION\n    return 1\n    ### END HIDDEN TESTS\n", "5 (f): END HIDDEN TESTS without BEGIN"),
    ],
)
def test_unbalanced_and_nested_markers_are_errors(lab: WriteLab, body: str, error: str) -> None:
    assert refused(lab(f"{SOLUTION}def f():\n{body}")).startswith(f"01_small.py:{error}")


def test_the_line_is_right_below_blank_lines_and_in_markdown(lab: WriteLab) -> None:
    assert refused(lab("# %%\n\n\nx = 1\n\n### END SOLUTION\n")).startswith("01_small.py:6: END SOLUTION")
    assert refused(lab("# %% [markdown]\n#\n# text\n#\n# ### END SOLUTION\n")).startswith("01_small.py:5: END SOLUTION")


# --------------------------------------------------------------------------------------------------------------- cells
PLAIN = "def f():\n    return 1\n"
SOLVED = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n"
HIDDEN = "### BEGIN HIDDEN TESTS\nx = 1\n### END HIDDEN TESTS\n"


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        ('# %% nbgrader={"grade_id": "F", "solution": true}\n' + SOLVED, "1 (F): grade_id 'F' is not usable"),
        ('# %% nbgrader={"grade_id": "a b", "solution": true}\n' + SOLVED, "1 (a b): grade_id 'a b' is not usable"),
        ('# %% nbgrader={"solution": true}\n' + SOLVED, "1: grade_id '' is not usable"),
        (f'# %% nbgrader={{"grade_id": "{"x" * 65}", "solution": true}}\n{SOLVED}', f"1 ({'x' * 65}): grade_id"),
        ('# %% nbgrader={"grade_id": "f"}\n' + PLAIN, "1 (f): a grade_id without grade, solution or locked"),
        ('# %% nbgrader={"grade_id": "f", "grade": true}\n' + PLAIN, "1 (f): points belong to grade cells"),
        (
            '# %% nbgrader={"grade_id": "f", "grade": true, "points": 0}\n' + PLAIN,
            "1 (f): points belong to grade cells",
        ),
        ('# %% nbgrader={"grade_id": "f", "grade": true, "points": -1}\n' + PLAIN, "1 (f): points belong to grade"),
        ('# %% nbgrader={"grade_id": "f", "grade": true, "points": NaN}\n' + PLAIN, "1 (f): points belong to grade"),
        ('# %% nbgrader={"grade_id": "f", "grade": true, "points": 0.333}\n' + PLAIN, "1 (f): points belong to grade"),
        ('# %% nbgrader={"grade_id": "f", "solution": true, "points": 1}\n' + SOLVED, "1 (f): points belong to grade"),
        ('# %% nbgrader={"grade_id": "f", "solution": true}\n' + PLAIN, "1 (f): a solution cell and a SOLUTION block"),
        ("# %%\n" + SOLVED, "1: a solution cell and a SOLUTION block go together"),
        ("# %% explore=true\n" + SOLVED, "1: a solution cell and a SOLUTION block go together"),
        ("# %%\n" + HIDDEN, "1: hidden tests outside a test cell"),
        ('# %% nbgrader={"grade_id": "f", "locked": true}\n' + HIDDEN, "1 (f): hidden tests outside a test cell"),
        ('# %% nbgrader={"grade_id": "f", "solution": true}\n' + SOLVED + HIDDEN, "1 (f): hidden tests outside a test"),
        ('# %% [markdown] nbgrader={"grade_id": "f", "locked": true}\n# x\n', "1 (f): a graded markdown cell is both"),
        (
            '# %% [markdown] nbgrader={"grade_id": "f", "grade": true, "points": 1}\n# x\n',
            "1 (f): a graded markdown cell is both",
        ),
        (
            '# %% nbgrader={"grade_id": "f", "grade": true, "solution": true, "points": 1}\n' + SOLVED,
            "1 (f): a code cell is a solution, a test or locked",
        ),
        (
            '# %% nbgrader={"grade_id": "f", "locked": true, "solution": true}\n' + SOLVED,
            "1 (f): a code cell is a solution, a test or locked",
        ),
        ('# %% explore=true nbgrader={"grade_id": "f", "locked": true}\nx = 1\n', "1 (f): explore is for plain code"),
        ("# %% [markdown] explore=true\n# x\n", "1: explore is for plain code cells"),
        ("# %% folded=true\nx = 1\n", "1: folded is for locked code cells"),
        ('# %% folded=1 nbgrader={"grade_id": "f", "locked": true}\nx = 1\n', "1 (f): not an option"),
        (
            '# %% folded=true nbgrader={"grade_id": "f", "solution": true}\n' + SOLVED,
            "1 (f): folded is for locked code",
        ),
        ("# %%\nx = 1\ny = = 2\n", "3: invalid syntax\nhint: a lab's source is Python without magics"),
        ("# %%\nx = 1\n\n# %matplotlib inline\n", "4: invalid syntax\nhint: a lab's source is Python without magics"),
        ("# %%\n!ls\n", "2: invalid syntax"),
    ],
)
def test_a_cell_that_contradicts_itself_is_an_error(lab: WriteLab, cell: str, error: str) -> None:
    assert refused(lab(cell)).startswith(f"01_small.py:{error}")


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        ("# %% tags=['a']\nx = 1\n", "1: unknown cell option 'tags': ['a']\nhint: known: nbgrader, explore"),
        ("# %% A title [markdown]\n# x\n", "1: unknown cell option 'title': 'A title'"),
        ("# %% explore\nx = 1\n", "1: unknown cell option 'title': 'explore'"),
        ("# %% [md]\n# x\n", "1: unknown cell option 'region_name': 'md'"),
        ('# %% [markdown]\n"""\nx\n"""\n', "1: unknown cell option 'cell_marker'"),
        ('# %% nbgrader={"grade_id": "f"\nx = 1\n', "1: unknown cell option 'incorrectly_encoded_metadata'"),
        ('# %% nbgrader.grade_id="f"\nx = 1\n', "1: unknown cell option 'nbgrader.grade_id': 'f'"),
        ("# %% [raw]\n# x\n", "1: a raw cell"),
        ("# %% nbgrader=true\nx = 1\n", "1: not an option"),
        ('# %% explore="yes"\nx = 1\n', "1: not an option"),
        ("# %% explore=1\nx = 1\n", "1: not an option"),
        ('# %% nbgrader={"grade_id": 3}\nx = 1\n', "1 (3): nbgrader knows no 'grade_id': 3"),
        ('# %% nbgrader={"grade_id": "f", "grade": "true"}\nx = 1\n', "1 (f): nbgrader knows no 'grade': 'true'"),
        ('# %% nbgrader={"grade_id": "f", "points": true}\nx = 1\n', "1 (f): nbgrader knows no 'points': True"),
        ('# %% nbgrader={"grade_id": "f", "task": true}\nx = 1\n', "1 (f): nbgrader knows no 'task': True"),
        ('# %% nbgrader={"grade_id": "f", "schema_version": 3}\nx\n', "1 (f): nbgrader knows no 'schema_version': 3"),
    ],
)
def test_an_option_that_is_not_known_is_an_error(lab: WriteLab, cell: str, error: str) -> None:
    assert refused(lab(cell)).startswith(f"01_small.py:{error}")


# ------------------------------------------------------------------------------------------------------------ the file
def test_windows_line_ends_and_a_byte_order_mark_change_nothing(lab: WriteLab, small: str) -> None:
    plain = read_source(lab())
    assert read_source(lab(small.replace("\n", "\r\n"))) == plain
    assert read_source(lab("\ufeff" + small)) == plain


def test_a_header_that_jupyterlab_adds_is_left_alone(lab: WriteLab, small: str) -> None:
    header = "# ---\n# jupyter:\n#   jupytext:\n#     text_representation:\n#       extension: .py\n# ---\n\n"
    source, plain = read_source(lab(header + small)), read_source(lab())
    assert [cell.line - 7 for cell in source.cells] == [cell.line for cell in plain.cells]
    assert [cell.source for cell in source.cells] == [cell.source for cell in plain.cells]


def test_a_header_that_is_none_is_an_error(lab: WriteLab) -> None:
    folder = lab("# ---\n# jupyter:\n#   kernelspec:\n#     name: python3\n# ---\n\n# %%\nx = 1\n")
    assert refused(folder).startswith("01_small.py:1: jupytext cannot read it: 'display_name' is a required property")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "1: text before the first `# %%`"),
        ("import x\n# %%\nx = 1\n", "1: text before the first `# %%`"),
        ("# a comment\n\n# %%\nx = 1\n", "1: text before the first `# %%`"),
        ("#%%\nx = 1\n", "1: not a cell marker: '#%%'\nhint: write `# %%`"),
        ("# %%%\nx = 1\n", "1: not a cell marker: '# %%%'"),
        ("# %%\nx = 1\n\n# In[3]:\ny = 1\n", "4: not a cell marker: '# In[3]:'"),
        ("# %%\nx = 1\n# <codecell>\ny = 1\n", "3: not a cell marker: '# <codecell>'"),
        ("# %%\ndef f():\n    # %% inside\n    return 1\n", "3: not a cell marker: '# %% inside'"),
        ('# %%\ns = """\n# %% [markdown]\n"""\n\n# %%\ny = 1\n', "3: `# %%` inside a string or a fenced block"),
        ("# %% [markdown]\n# ```\n# %%\n# ```\n\n# %%\nx = 1\n", "3: `# %%` inside a string or a fenced block"),
    ],
)
def test_what_only_looks_like_a_cell_is_an_error(lab: WriteLab, text: str, error: str) -> None:
    assert refused(lab(text)).startswith(f"01_small.py:{error}")


def test_an_empty_cell_is_a_cell(lab: WriteLab, small: str) -> None:
    source = read_source(lab(small + "\n# %%\n\n# %% [markdown]\n\n# %%\nx = 1\n"))
    assert [(cell.cell_type, cell.source) for cell in source.cells[-3:]] == [
        ("code", ""),
        ("markdown", ""),
        ("code", "x = 1"),
    ]
    assert source.cells[-1].line == len(small.split("\n")) + 5


def test_tabs_are_as_good_as_spaces(lab: WriteLab) -> None:
    body = "def f():\n\t### BEGIN SOLUTION\n\treturn 1\n\t### END SOLUTION\n"
    assert read_source(lab(f"{SOLUTION}{body}\n{TEST}check.score(3)\n")).cells[0].blocks == (Block("solution", 1, 3),)


def test_a_source_that_is_not_there_or_not_text_is_an_error(lab: WriteLab) -> None:
    folder = lab()
    (folder / "01_small.py").write_bytes(b"\xff\xfe")
    assert refused(folder).startswith("01_small.py: cannot be read: 'utf-8' codec can't decode byte 0xff")
    (folder / "01_small.py").unlink()
    assert "hint: the source is named after its folder" in refused(folder)


# ------------------------------------------------------------------------------------------------------------ the whole
def test_points_that_do_not_add_up_are_an_error(lab: WriteLab) -> None:
    assert refused(lab(points=4)) == (
        "01_small.py: the cells add up to 3 points, lab.toml says 4\nhint: change one of the two"
    )
    read_source(lab(points=3.0))


def test_decimals_are_added_up_as_people_do(lab: WriteLab) -> None:
    cells = "".join(
        f'# %% nbgrader={{"grade_id": "c{i}", "grade": true, "points": 0.1}}\ncheck.score(0.1)\n\n' for i in range(3)
    )
    read_source(lab(cells, points=0.3))


def test_a_grade_id_used_twice_is_an_error(lab: WriteLab, small: str) -> None:
    folder = lab(small + '\n# %% nbgrader={"grade_id": "setup", "locked": true}\nx = 1\n')
    line = len(small.split("\n")) + 1
    assert refused(folder) == f"01_small.py:{line} (setup): grade_id used twice\nhint: first at line 6"
