"""Prints how many of other people's answers a lab's checks judge as those people do: wrong ones caught, right ones not.

python -m benchmarks.first_sight LAB FOLDER

FOLDER/wrong and FOLDER/right hold files like those of a lab's own folders of these names: a docstring or comment that
says what is different, then the functions or classes of a task. Written by somebody who has seen the released notebook
only, they say what the lab's own cannot: what its author did not think of. All checks are run, hidden ones too, in
forks of a process that has run the solution. A wrong answer is caught if it loses a point anywhere.
"""

from __future__ import annotations

import copy
import sys
from itertools import takewhile
from pathlib import Path

import nbformat

from autograder.errors import SourceError
from autograder.execution import preloads
from autograder.proof import Prepared
from autograder.release.answers import Variant, put_answers, read_variant
from autograder.release.build import build
from autograder.release.source import read_source

_THREADS = 1


def main() -> None:
    """Try the answers in a folder on the lab of this name."""
    if len(sys.argv) != 3:
        sys.exit(str(__doc__))
    lab, folder = Path(__file__).parents[1] / "solutions" / sys.argv[1], Path(sys.argv[2])
    source = read_source(lab)
    whole = nbformat.reads(build(lab).source_notebook.decode(), as_version=4)
    modules = preloads((cell.source for cell in source.cells), source.lab.frameworks)
    with Prepared(whole, modules, threads=_THREADS, folder=folder) as prepared:
        for kind, judged in (("wrong", "caught"), ("right", "accepted")):
            found = [(path.name, *_lost(prepared, whole, path)) for path in sorted((folder / kind).glob("*.py"))]
            as_expected = [name for name, lost, _ in found if lost == (kind == "wrong")]
            print(f"{kind}: {len(as_expected)} of {len(found)} {judged}")
            for name, lost, why in found:
                if lost != (kind == "wrong"):
                    print(f"  {name}: {why or 'loses nothing'}")


def _read(path: Path) -> Variant:
    """Return an answer that begins with comments, or with a docstring as the labs' own do."""
    lines = path.read_text(encoding="utf-8").split("\n")
    said = list(takewhile(lambda line: line.startswith("#"), lines))
    if not said:
        return read_variant(path, wrong=False)
    return Variant(path, "\n".join(lines[len(said) :]), " ".join(line.lstrip("# ") for line in said))


def _lost(prepared: Prepared, whole: nbformat.NotebookNode, path: Path) -> tuple[bool, str]:
    """Return whether an answer loses a point, and what for or what it is."""
    try:
        variant = _read(path)
        notebook = put_answers(copy.deepcopy(whole), variant)
    except SourceError as error:
        return False, f"cannot be tried: {error}"
    outcomes = prepared.outcomes(notebook)
    why = [f"{name}: {outcome.why}" for name, outcome in outcomes.items() if not outcome.full]
    return bool(why), "; ".join(why) or variant.reason


if __name__ == "__main__":
    main()
