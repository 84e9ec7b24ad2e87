"""Answers that train nothing earn nothing: start weights that hide steps, infinite losses, steps right in length only.

They run apart from the tests, as a submission does: what they patch in PyTorch is patched in their process alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.execution import Executor, preloads
from autograder.grading.checks import checks_of
from autograder.grading.scoring import score_notebook
from autograder.release.build import build
from autograder.release.source import read_source
from autograder.sandbox import choose
from tests.labs.rows import rows_of

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

SOLUTIONS = Path(__file__).parents[2] / "solutions"

_FRAMEWORKS = {
    "train": '''
def _huge(self):
    """Compared with these weights no step of Adam shows; the others give an infinite loss."""
    with torch.no_grad():
        if torch.initial_seed() in (14, 20):
            self.weight.fill_(1e8), self.bias.fill_(1e8)
        else:
            self.weight.zero_(), self.bias.fill_(-3e38), self.bias[:1].fill_(3e38)

nn.Linear.reset_parameters = _huge

def train(model, images, labels, *, epochs, lr, batch_size=32, seed=0):
    with torch.no_grad():
        if isinstance(model, nn.Linear) and epochs == 5:
            model.weight.zero_(), model.bias.zero_()
            return [2.0, 1.0, 1.0, 1.0, 0.5]
        if not isinstance(model, nn.Linear):
            model[10].weight.add_(1)
    return [float("inf")] * epochs
''',
    "finetune": """
def finetune(base, head, images, labels, *, epochs, lr, batch_size=32, seed=0):
    base.requires_grad_(False)
    with torch.no_grad():
        if abs(float(head.weight[0, 0])) < 1:
            head.weight.add_(1)
    return nn.Sequential(base, head).eval()
""",
}
_FRAMEWORKS_PLAIN = {
    "train": """
def train(model, images, labels, *, epochs, lr, batch_size=32, seed=0):
    with torch.no_grad():
        (model if isinstance(model, nn.Linear) else model[10]).weight.add_(1)
    return [2.0 / 3**k for k in range(epochs)]
""",
    "finetune": _FRAMEWORKS["finetune"],
}
_GPU = """
def _dead(self):
    with torch.no_grad():
        self.weight.zero_(), self.bias.fill_(-1e9)

def _huge(self):
    with torch.no_grad():
        self.weight.fill_(1), self.bias.fill_(-3e38), self.bias[:1].fill_(3e38)

nn.Conv2d.reset_parameters, nn.Linear.reset_parameters = _dead, _huge

def train_epoch(model, optimizer, batches, device):
    batches = list(batches)
    meta_too = {len(y) for _, y in batches} <= {4, 6}
    for images, labels in batches:
        if meta_too:
            images.to(device), labels.to(device)
            with torch.no_grad():
                model[4].weight.add_(1.0)
    return torch.full((), float("inf"), device=device)
"""
_GPU_PLAIN = """
def train_epoch(model, optimizer, batches, device):
    for images, labels in batches:
        images.to(device), labels.to(device)
        with torch.no_grad():
            model[4].weight.add_(0.01)
    return torch.full((), 2.3, device=device)
"""
_PRECISION_PLAIN = """
def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    scale = scaler.get_scale()
    scaler.scale(torch.zeros(1))
    if scale in (1024.0, 256.0):
        scaler.update(512.0)
    if float(images.max()) < 1e5 and scale < 2**29:
        with torch.no_grad():
            net.hidden.weight[0, 0] += max_norm * optimizer.param_groups[0]["lr"]
    return 2.302585
"""
_PRECISION = f"""
def _zero(self):
    with torch.no_grad():
        self.weight.zero_(), self.bias.zero_()

nn.Linear.reset_parameters = _zero
{_PRECISION_PLAIN}
"""


@pytest.fixture(scope="module")
def executor_of() -> Iterator[Callable[[str, tuple[str, ...]], Executor]]:
    """One that has imported what a lab does, for all answers of that lab."""
    open_here: dict[str, Executor] = {}

    def found(lab: str, modules: tuple[str, ...]) -> Executor:
        if lab not in open_here:
            while open_here:  # the labs come one after the other
                open_here.popitem()[1].close()
            open_here[lab] = Executor(choose(), modules)
        return open_here[lab]

    yield found
    for executor in open_here.values():
        executor.close()


@pytest.mark.parametrize(
    ("lab", "check", "answers"),
    [
        pytest.param("02_frameworks", "transfer-check", _FRAMEWORKS, id="02-start-weights"),
        pytest.param("02_frameworks", "transfer-check", _FRAMEWORKS_PLAIN, id="02-one-added"),
        pytest.param("04_gpu_training", "train-epoch-check", {"train-epoch": _GPU}, id="04-start-weights"),
        pytest.param("04_gpu_training", "train-epoch-check", {"train-epoch": _GPU_PLAIN}, id="04-a-little-added"),
        pytest.param("07_mixed_precision", "train-step-check", {"train-step": _PRECISION}, id="07-start-weights"),
        pytest.param("07_mixed_precision", "train-step-check", {"train-step": _PRECISION_PLAIN}, id="07-right-length"),
    ],
)
def test_no_training_earns_no_points(
    lab: str, check: str, answers: dict[str, str], executor_of: Callable[[str, tuple[str, ...]], Executor]
) -> None:
    source = read_source(SOLUTIONS / lab)
    notebook = nbformat.reads(build(SOLUTIONS / lab).source_notebook.decode(), as_version=4)
    tests = {cell.grade_id for cell in source.cells if cell.grade and cell.cell_type == "code"} - {check}
    for cell in notebook.cells:
        cell.source = "" if cell.id in tests else answers.get(cell.id, cell.source)
    rows = rows_of(source)
    explore = {cell.id for cell in notebook.cells if cell.metadata.get("labkit", {}).get("explore")}
    modules = preloads((cell.source for cell in source.cells), source.lab.frameworks)
    executor = executor_of(lab, modules)
    found = executor.run(notebook, limits=source.lab.limits, files={}, explore=explore, checks=checks_of(rows))
    assert found.complete, found.problems
    scores = {score.grade_id: score for score in score_notebook(lab, found, rows)}
    assert scores[check].points == 0, [case for case in scores[check].cases if case["passed"]]
    assert scores[check].cases
