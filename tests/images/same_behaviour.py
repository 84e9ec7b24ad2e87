"""Print as JSON what labs 01 and 02 compute, release and score on this machine; the same line is expected everywhere.

Usage: python tests/images/same_behaviour.py COURSE. The sandbox that was found stands apart, under "sandbox".
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from autograder.commands.demo import CONFIG, handed_in
from autograder.model import Result
from autograder.records.log import Log
from autograder.release.answers import find_variants, put_answers
from autograder.release.build import build

# Times and the sandbox; the fingerprint holds every package's version, and an executed notebook the interpreter's.
MAY_DIFFER = {"seconds", "graded_at", "sandbox", "isolated", "fingerprint", "notebooks"}
# Wrong answers that show in numbers, in random draws and in both of Keras's backends; none that draws without a seed.
WRONG = {
    "01_numpy_mlp": ("softmax_no_shift", "fit_same_order_each_epoch"),
    "02_frameworks": ("keras_softmax",),
}
COMPUTE = {
    "01_numpy_mlp": """
digits = load("digits")
(x, y), (x_held_out, y_held_out) = (
    (part.x.reshape(len(part.y), 64).astype(np.float64), part.y) for part in (digits.train, digits.validation)
)
network = MLP((64, 32, 10), p=0.2, l2=1e-4, seed=0)
computed = fit(network, x, y, epochs=3, lr=2e-3, validation=(x_held_out, y_held_out))
""",
    "02_frameworks": """
torch.set_num_threads(1)
rng = np.random.default_rng(0)
weights = [(rng.normal(size=(8, 16)), rng.normal(size=16)), (rng.normal(size=(16, 3)), rng.normal(size=3))]
x, y = rng.normal(size=(32, 8)), rng.integers(0, 3, size=32)
glyphs = load("glyph_digits").train
images, labels = torch.tensor(glyphs.x[:200])[:, None], torch.tensor(glyphs.y[:200])
network = nn.Sequential(make_base(2), make_head(128))
computed = {
    "torch": torch_dress(weights, x, y)[0],
    "keras": float(keras_dress([(weights, x, y)])[0][0][0]),
    "training": train(network, images, labels, epochs=2, lr=3e-3),
    "accuracy": accuracy(network, images, labels),
}
""",
}


_DECIMAL = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")


def rounded(value: Any) -> Any:
    """Round numbers, in texts too, to four digits: processors sum the terms of a product in different orders."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if isinstance(value, str):
        return _DECIMAL.sub(lambda found: f"{float(found[0]):.4g}", value)
    return float(f"{value:.4g}") if isinstance(value, float) else value


def computed(solved: nbformat.NotebookNode, lab: str) -> Any:
    """Run the solution's functions, without its plots and checks, and what COMPUTE asks of them."""
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in solved.cells:
        about = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and (about.get("solution") or (about.get("locked") and not about.get("grade"))):
            exec(compile(cell.source, cell.id, "exec"), names)
    exec(compile(COMPUTE[lab], lab, "exec"), names)
    return rounded(names["computed"])


def submissions(source: Path, released: nbformat.NotebookNode, solved: nbformat.NotebookNode) -> dict[str, Any]:
    """Return a notebook a student: blank, solved, otherwise right, and wrong in several ways."""
    notebooks = {"blank": released, "solved": solved, "right": copy.deepcopy(solved)}
    for variant in find_variants(source, "right")[:1]:
        put_answers(notebooks["right"], variant)
    for variant in find_variants(source, "wrong"):
        if variant.name in WRONG[source.name]:
            notebooks[variant.name] = copy.deepcopy(solved)
            put_answers(notebooks[variant.name], variant)
    return notebooks


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the grader's command; raise with what it said if it fails."""
    command = [str(Path(sys.executable).parent / "autograder"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"autograder {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done


def graded(course: Path, lab: str) -> Iterator[Result]:
    """Release and grade the lab; yield the result of each student."""
    run("release", lab, "--course", str(course))
    run("grade", lab, "--course", str(course), "--json", "--workers", "2")
    yield from Log(course / ".autograder" / f"{lab}.jsonl").latest().values()


def of_a_lab(source: Path, course: Path) -> tuple[dict[str, Any], set[str]]:
    """Return what is the same everywhere about one lab, and which sandboxes its submissions ran in."""
    lab = source.name
    (course / "source").mkdir(parents=True)
    (course / "source" / lab).symlink_to(source.resolve())
    (course / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    release = build(source)
    notebook = release.files[f"{lab}.ipynb"]
    released = nbformat.reads(notebook.decode(), as_version=4)
    solved = handed_in(release.source_notebook, released)
    for student, content in submissions(source, released, solved).items():
        path = course / "submitted" / student / lab / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(nbformat.writes(content), encoding="utf-8")
    results = {result.student: result for result in graded(course, lab)}
    same: dict[str, Any] = {"released": hashlib.sha256(notebook).hexdigest(), "computed": computed(solved, lab)}
    same["graded"] = {student: rounded(_lasting(result)) for student, result in sorted(results.items())}
    return same, {result.sandbox for result in results.values()}


def _lasting(result: Result) -> dict[str, Any]:
    return {name: value for name, value in result.to_dict().items() if name not in MAY_DIFFER}


def main(root: str) -> None:
    """Do all of it in courses of their own and print the JSON."""
    os.environ["KERAS_BACKEND"] = "torch"
    labs, sandboxes = {}, set()
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(sys.stderr):
        for lab in WRONG:
            labs[lab], used = of_a_lab(Path(root) / "solutions" / lab, Path(scratch) / lab)
            sandboxes |= used
    print(json.dumps({"labs": labs, "sandbox": sorted(sandboxes)}, indent=1, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1])
