"""How long `labkit.launch` takes: `python benchmarks/launch.py [--launches 40] [--ranks 4]`."""

from __future__ import annotations

from statistics import median, quantiles
from time import perf_counter

import click

from labkit import launch


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
def main(launches: int, ranks: int) -> None:
    """Time launches of a function that does one all-reduce, and check every value that comes back."""
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


if __name__ == "__main__":
    main()
