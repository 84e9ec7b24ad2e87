"""Measures the grader: python -m benchmarks.grading speed|cost|busy|thousand --help."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click

from benchmarks.grading.courses import LAB_01, NAMES
from benchmarks.grading.graders import GRADERS, Failed


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
def main() -> None:
    """Measure the grader of this machine's checkout."""


@main.command()
@click.option("--submissions", default=24, type=click.IntRange(1), help="Submissions of each notebook.")
@click.option("--notebooks", default=",".join(NAMES), metavar="NAME,...", help="Which notebooks.")
@click.option("--graders", default=",".join(GRADERS), metavar="NAME,...", help="Which graders.")
@click.option("--repeats", default=3, type=click.IntRange(1), help="How often each grader is run, in turns.")
@click.option(
    "--otter-python",
    type=click.Path(exists=True, path_type=Path),
    help="Python of a virtual environment with otter-grader, and with what the notebooks import.",
)
@click.option("--json", "target", type=click.Path(path_type=Path), help="File for every measurement, in seconds.")
def speed(
    submissions: int, notebooks: str, graders: str, repeats: int, otter_python: Path | None, target: Path | None
) -> None:
    """Grade the same classes with nbgrader, otter and ours, and print submissions a minute.

    A whole command is timed, as a user runs it, on a fresh copy of the course; the points that it gives are compared
    with those that each submission has earned. otter grades one submission a command: its commands' times are added.

    \b
    Example:
      python -m benchmarks.grading speed --notebooks numpy,torch --otter-python /tmp/otter/bin/python
    """
    from benchmarks.grading.speed import measure, report, table

    chosen = _chosen(notebooks, NAMES), _chosen(graders, GRADERS)
    rows = []
    for row in measure(*chosen, submissions, repeats, otter_python):
        rows.append(row)
        click.echo(f"{row.notebook} {row.grader}: {', '.join(f'{s:.1f}' for s in row.seconds)} s", err=True)
    click.echo(table(rows, chosen[1]))
    if target:
        target.write_text(json.dumps(report(rows), indent=1), encoding="utf-8")


@main.command()
@click.option("--repeats", default=20, type=click.IntRange(2), help="Attempts of each kind, in turns.")
@click.option("--submissions", default=4, type=click.IntRange(1), help="Submissions side by side, for memory.")
def cost(repeats: int, submissions: int) -> None:
    """Measure what sandbox and boundary add to a submission, in time and in memory.

    The baseline is the same submission in a kernel forked from an equally pre-warmed process with no wall around it,
    its tests inside. Memory is proportional set size, shared pages divided, of all processes below the grader.

    \b
    Example:
      python -m benchmarks.grading cost --repeats 10
    """
    from benchmarks.grading.cost import memory, times

    click.echo("time of an attempt, medians")
    for row in times(["trivial", LAB_01], repeats):
        click.echo(f"  {row}")
    click.echo("memory with submissions blocked side by side")
    for size in memory(["torch", "keras"], submissions):
        click.echo(f"  {size}")


@main.command()
@click.option("--loops", default=4, type=click.IntRange(0), help="Endless loops beside the grader.")
@click.option("--repeats", default=3, type=click.IntRange(1), help="How often each lab is graded.")
@click.option("--labs", default="", metavar="NAME,...", help="Which labs; all unless named.")
def busy(loops: int, repeats: int, labs: str) -> None:
    """Grade each lab's solution on a busy machine; fail unless all of them earn all points each time.

    \b
    Example:
      python -m benchmarks.grading busy --loops 4 --labs 01_numpy_mlp,07_mixed_precision
    """
    from benchmarks.grading.busy import graded, names

    chosen, short = _chosen(labs or ",".join(names()), names()), 0
    for number in range(1, repeats + 1):
        for found in graded(chosen, loops, workers=1):
            short += not found.full
            said = f"; {'; '.join(found.messages)}" if found.messages else ""
            click.echo(f"{number} {found.lab}: {found.points:g} of {found.most:g} in {found.seconds:.0f} s{said}")
    if short:
        raise Failed(f"{short} of {repeats * len(chosen)} gradings gave less than all points")


@main.command()
@click.option("--submissions", default=1000, type=click.IntRange(8), help="Submissions of the class.")
@click.option("--hostile", default=0.05, type=click.FloatRange(0, 1), help="Share of them that is hostile.")
@click.option("--kills", default=5, type=click.IntRange(0), help="How often the grader is killed and started again.")
@click.option("--workers", default=2, type=click.IntRange(1), help="Workers of the grader.")
@click.option("--seed", default=0, help="Of the places of hostile submissions and of the kills.")
@click.option("--plot", type=click.Path(path_type=Path), help="SVG file for submissions over time.")
def thousand(submissions: int, hostile: float, kills: int, workers: int, seed: int, plot: Path | None) -> None:
    """Grade a class with hostile submissions, kill the grader with SIGKILL on the way, and check what is left.

    Each student must have exactly the one right result in log and gradebook, `autograder verify` must agree, no process
    may be left after any kill, and no temporary folder once the next run has cleared.

    \b
    Example:
      python -m benchmarks.grading thousand --submissions 200 --kills 2 --plot class.svg
    """
    from benchmarks.grading.thousand import draw, grade_class, summary

    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        run = grade_class(
            Path(folder), submissions=submissions, hostile=hostile, kills=kills, workers=workers, seed=seed
        )
    click.echo("\n".join(summary(run)))
    if plot:
        draw(run, plot)


def _chosen(names: str, there: tuple[str, ...]) -> list[str]:
    chosen = [name.strip() for name in names.split(",")]
    if unknown := [name for name in chosen if name not in there]:
        raise click.UsageError(f"{unknown[0]!r}: there are {', '.join(there)}")
    return chosen


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        raise SystemExit(f"error: {error}") from None
