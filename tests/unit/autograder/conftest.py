"""A small lab to break in every way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labkit import check, launch
from labkit._values import remotes
from tests.unit.autograder.boundary.talk import Talk

TOML = 'title = "Small"\nquestion = "Does it work?"\nhours = 1\npoints = {points}\n'
SOURCE = '''\
# %% [markdown]
# # Small
#
# ### Task 1. Softmax (2 points)

# %% nbgrader={"grade_id": "setup", "locked": true}
import numpy as np

from labkit import check, plot

# %% nbgrader={"grade_id": "softmax", "solution": true}
def softmax(z):
    """Return row-wise probabilities."""
    ### BEGIN SOLUTION
    exponentials = np.exp(z - z.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)
    ### END SOLUTION


# %% explore=true
plot.bars(softmax(np.zeros((1, 3)))[0])

# %% nbgrader={"grade_id": "softmax-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

with check.case("rows sum to one", hint="axis=1"):
    check.close(softmax(np.zeros((2, 2))).sum(axis=1), [1.0, 1.0])
### BEGIN HIDDEN TESTS
with check.hidden_case("large scores do not overflow", hint="shift"):
    check.close(softmax(np.array([[1000.0, 0.0]])), [[1.0, 0.0]])
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### In your words (1 point)

# %% [markdown] nbgrader={"grade_id": "words", "grade": true, "solution": true, "points": 1}
# ### BEGIN SOLUTION
# Because the ratio does not change when every score moves by the same amount.
# ### END SOLUTION
'''


@pytest.fixture
def lab(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes solutions/01_small with this source and returns the folder."""

    def write(source: str = SOURCE, *, points: object = 3, toml: str = TOML, **figures: str) -> Path:
        folder = tmp_path / "solutions" / "01_small"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "lab.toml").write_text(toml.format(points=points), encoding="utf-8")
        (folder / "01_small.py").write_text(source, encoding="utf-8", newline="")
        for name, content in figures.items():
            path = folder / "figures" / f"{name}.svg"
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
        return folder

    return write


@pytest.fixture
def small() -> str:
    """The source of a lab in which nothing is wrong."""
    return SOURCE


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    monkeypatch.chdir(tmp_path)  # what lies here goes along with what a rank is to run
    found = Talk()
    check.adopt(found.tests)
    yield found
    remotes.clear()
    for end in found.sockets:
        end.close()


@pytest.fixture(scope="session")
def ranks() -> None:
    """Ranks start at once from now on: PyTorch is imported."""
    launch(_nothing, 1, timeout_s=120, backend="none")


def _nothing(rank: int, world_size: int) -> None:
    pass
