"""Prints how often each family of forgers gets through: python -m benchmarks.forging --help."""

from __future__ import annotations

from collections.abc import Sequence

import click

from benchmarks.forging.cells import CELLS
from benchmarks.forging.forgers import REMEMBERS
from benchmarks.forging.measure import Tally, false_alarms, play


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("--attempts", default=40, type=click.IntRange(1), help="Forgers of each family in each cell.")
@click.option("--seed", default=0, type=int, help="For the forgers; the grader's own draws cannot be repeated.")
@click.option("--by-cell", is_flag=True, help="A line for each cell as well.")
def main(attempts: int, seed: int, by_cell: bool) -> None:
    """Let forgers try each test cell, and print the share that earns points and is not noticed.

    \b
    Example:
      python -m benchmarks.forging --attempts 100 --by-cell
    """
    tallies = list(play(attempts, seed))
    click.echo(f"{'':28} of all  of those that earn unwatched")
    groups = [("family", [t.family for t in tallies])] + [("cell", [t.cell for t in tallies])] * by_cell
    for title, keys in groups:
        click.echo(title)
        for name in dict.fromkeys(keys):
            click.echo(_line(f"  {name}", [t for t, key in zip(tallies, keys, strict=True) if key == name]))
    click.echo(_line("all", tallies))
    click.echo(_line("all that remember nothing", [t for t in tallies if t.family != REMEMBERS]))
    honest = false_alarms(CELLS, attempts), false_alarms(CELLS, attempts, wrong=True)
    runs = attempts * len(CELLS)
    click.echo(f"taken for a forger: {honest[0]} with right answers, {honest[1]} with wrong ones, of {runs} each")


def _line(name: str, tallies: Sequence[Tally]) -> str:
    tried, real, through = (sum(getattr(t, key) for t in tallies) for key in ("attempts", "real", "through"))
    return f"{name:28} {through / tried:6.1%}  {through / max(1, real):6.1%}"


if __name__ == "__main__":
    main()
