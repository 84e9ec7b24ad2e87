"""Measures the grader: python -m benchmarks.grading speed|cost|thousand --help."""

from __future__ import annotations

import json
from pathlib import Path

import click

from benchmarks.grading.courses import NAMES
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


def _chosen(names: str, there: tuple[str, ...]) -> list[str]:
    chosen = names.split(",")
    if unknown := [name for name in chosen if name not in there]:
        raise click.UsageError(f"{unknown[0]!r}: there are {', '.join(there)}")
    return chosen


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        raise SystemExit(f"error: {error}") from None
