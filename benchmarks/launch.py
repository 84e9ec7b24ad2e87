"""How long `labkit.launch` takes: `python benchmarks/launch.py [--launches 40] [--ranks 4] [--graded]`."""

from __future__ import annotations

from statistics import median, quantiles
from time import perf_counter

import click
import nbformat

from autograder.execution import Checks, Executor, preloads
from autograder.model import Limits
from autograder.sandbox import choose
from labkit import launch

_NOTEBOOK = """
def ranked(rank, world_size): return rank
def alone():
    import keras
    return keras.backend.backend()
"""
_TEST = """
from time import perf_counter
from labkit import in_fresh_process, launch
start = perf_counter()
launch(ranked, 2)
print(f"first launch of 2 ranks {perf_counter() - start:.2f} s")
for backend in ("torch", "tensorflow"):
    start = perf_counter()
    in_fresh_process(alone, environment={"KERAS_BACKEND": backend})
    print(f"Keras on {backend} in a fresh process {perf_counter() - start:.2f} s")
"""


def total(rank: int, world_size: int) -> float:
    """Add up the ranks' numbers: one all-reduce."""
    import torch
    from torch import distributed as dist

    value = torch.tensor([float(rank)])
    dist.all_reduce(value)
    return value.item()


@click.command()
@click.option("--launches", default=40, show_default=True, help="Launches after the first.")
@click.option("--ranks", default=4, show_default=True, help="Processes a launch.")
@click.option("--graded", is_flag=True, help="Time the first ones in the grader's sandbox instead.")
def main(launches: int, ranks: int, graded: bool) -> None:
    """Time launches of a function that does one all-reduce, and check every value that comes back."""
    if graded:
        in_the_sandbox()
        return
    samples_s = []
    for _ in range(1 + launches):
        start = perf_counter()
        values = launch(total, ranks)
        samples_s.append(perf_counter() - start)
        if values != [ranks * (ranks - 1) / 2] * ranks:
            raise click.ClickException(f"wrong sum: {values}")
    first, *rest = samples_s
    low, _, high = quantiles(rest, n=4, method="inclusive")
    click.echo(f"{len(rest)} launches of {ranks} ranks after the first, no error")
    click.echo(f"first {first:.2f} s (PyTorch is imported), then median {median(rest):.3f} s")
    click.echo(f"middle half {low:.3f} to {high:.3f} s, slowest {max(rest):.3f} s")


def in_the_sandbox() -> None:
    """Print how long a test's launches take, forked off the pre-warmed process, and started cold as without it."""
    warm = preloads([_NOTEBOOK, _TEST], ("tensorflow", "keras"))
    cold = tuple(name for name in warm if name != "labkit._launch.server")
    test = nbformat.v4.new_code_cell(_TEST, metadata={"nbgrader": {"grade_id": "t", "grade": True}})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(_NOTEBOOK), test])
    limits = Limits(cell_time_s=60, total_time_s=120, memory_mib=6144, output_kib=64)
    for title, modules in {"forked off the pre-warmed process": warm, "started cold": cold}.items():
        with Executor(choose(), modules) as executor:
            done = executor.run(notebook, limits=limits, files={}, checks=Checks(isolated=frozenset({"t"})))
        click.echo(f"{title}:\n{''.join(str(output.get('text', output)) for output in done.notebook.cells[1].outputs)}")


if __name__ == "__main__":
    main()
