"""Print what a cluster of aws.yaml costs, for each type of machine that it offers.

Usage: python docker/cloud/prices.py [--region NAME] [--workers N] [--hours H] [--catalogue URL-OR-FILE]

Prices are those of SkyPilot's public catalogue, which follows AWS's price list; prices.csv here has rows of it for one
region, as of commit e385a0d. Without disks and public addresses, and before taxes.
"""

from __future__ import annotations

import argparse
import csv
import re
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

CATALOGUE = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8/aws/vms.csv"
LIST = "https://aws.amazon.com/ec2/pricing/on-demand/"
_TEMPLATE = Path(__file__).with_name("aws.yaml")
_TIMEOUT_S = 60


class Price(NamedTuple):
    """US dollars an hour for one machine, and what it has. spot: in the cheapest zone; None if none is offered."""

    gpus: str
    cores: int
    on_demand: float
    spot: float | None


def types() -> list[str]:
    """Return the types of machines that the template offers."""
    found = re.search(
        r"^  InstanceType:.*?AllowedValues:\s*\[(.*?)\]", _TEMPLATE.read_text(encoding="utf-8"), re.S | re.M
    )
    assert found
    return found[1].replace(" ", "").split(",")


def prices(lines: Iterable[str], region: str) -> dict[str, Price]:
    """Return the price of each of the template's types in a region; raise ValueError if the catalogue has none."""
    rows, found = list(csv.DictReader(lines)), {}
    try:
        regions = {row["Region"] for row in rows}
        for name in types():
            here = [row for row in rows if row["InstanceType"] == name and row["Region"] == region and row["Price"]]
            spots = [float(row["SpotPrice"]) for row in here if row["SpotPrice"]]
            if here:
                row = here[0]
                gpus = f"{float(row['AcceleratorCount'] or 0):.0f} x {row['AcceleratorName']}"
                cores, price = int(float(row["vCPUs"])), float(row["Price"])
                found[name] = Price(gpus if row["AcceleratorName"] else "-", cores, price, min(spots, default=None))
    except KeyError as error:
        raise ValueError(f"not a catalogue of SkyPilot: no column {error}") from None
    if not found:
        known = ", ".join(sorted(regions)) or "it is empty"
        raise ValueError(f"no price for the region {region!r}; those of the catalogue: {known}")
    return found


def table(found: dict[str, Price], machines: int, hours: float) -> str:
    """Return the prices as a table."""
    together = f"{machines} x {hours:g} h"
    lines = [f"{'type':14} {'vCPUs':>5}  {'GPUs':9} {'on demand':>9} {together:>10} {'spot':>9} {together:>10}"]
    for name, price in found.items():
        spot = "-" if price.spot is None else f"{price.spot:.3f}"
        total = "-" if price.spot is None else f"{price.spot * machines * hours:.2f}"
        ordinary = f"{price.on_demand:9.3f} {price.on_demand * machines * hours:10.2f}"
        lines.append(f"{name:14} {price.cores:5}  {price.gpus:9} {ordinary} {spot:>9} {total:>10}")
    return "\n".join(lines)


def _lines(catalogue: str) -> list[str]:
    if not catalogue.startswith(("http://", "https://")):
        return Path(catalogue).read_text(encoding="utf-8").splitlines()
    with urllib.request.urlopen(catalogue, timeout=_TIMEOUT_S) as answer:
        return str(answer.read(), "utf-8").splitlines()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--region", default="us-west-2")
    parser.add_argument("--workers", type=int, default=2, choices=range(9), metavar="N", help="besides the head (2)")
    parser.add_argument("--hours", type=float, default=4, help="how long (4)")
    parser.add_argument("--catalogue", default=CATALOGUE)
    given = parser.parse_args()
    try:
        found = prices(_lines(given.catalogue), given.region)
    except ValueError as error:
        raise SystemExit(f"error: {given.catalogue}: {error}") from None
    except OSError as error:
        hint = f"hint: older prices: --catalogue {Path(__file__).with_name('prices.csv')}; AWS's own: {LIST}"
        raise SystemExit(f"error: {given.catalogue} cannot be read: {error}\n{hint}") from None
    machines = 1 + given.workers
    print(f"{given.region}, US dollars an hour for one machine, and for {machines} of them for {given.hours:g} hours")
    print(table(found, machines, given.hours))


if __name__ == "__main__":
    main()
