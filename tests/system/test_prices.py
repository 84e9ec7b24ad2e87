"""What a cluster costs: `docker/cloud/prices.py` on recorded rows, and on a catalogue as its server sends it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mirror import serving

CLOUD = Path(__file__).parents[2] / "docker" / "cloud"
RECORDED = CLOUD / "prices.csv"
# As in the real one: a quoted column with commas, a zone without a spot price, other types, other regions.
SERVED = """\
InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch
c7i.large,,,2.0,4.0,,0.1,,there,z1,x86_64
g6.xlarge,L4,1.0,4.0,16.0,"{'Gpus': [{'Name': 'L4', 'Count': 1}]}",2.5,1.5,there,z1,x86_64
g6.xlarge,L4,1.0,4.0,16.0,"{'Gpus': [{'Name': 'L4', 'Count': 1}]}",2.5,,there,z2,x86_64
g6.xlarge,L4,1.0,4.0,16.0,"{'Gpus': [{'Name': 'L4', 'Count': 1}]}",2.5,1.25,there,z3,x86_64
g6.xlarge,L4,1.0,4.0,16.0,"{'Gpus': [{'Name': 'L4', 'Count': 1}]}",9,0.5,elsewhere,z1,x86_64
g5.xlarge,A10G,1.0,4.0,16.0,,,,there,z1,x86_64
t9.huge,,,64.0,4.0,,7,3,there,z1,x86_64
"""


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CLOUD / "prices.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address, which ends with a slash, of a server that has a catalogue at one path."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as mirror:
        mirror.files["vms.csv"] = SERVED.encode()
        yield mirror.url


def test_the_documentation_shows_what_it_prints_for_the_recorded_prices() -> None:
    done = run("--catalogue", RECORDED)
    assert done.returncode == 0, done.stderr
    assert f"```text\n{done.stdout}```\n" in (CLOUD.parents[1] / "docs" / "cloud.md").read_text(encoding="utf-8")


def test_the_cheapest_zone_counts_and_only_types_that_the_template_offers(server: str) -> None:
    done = run("--catalogue", f"{server}vms.csv", "--region", "there", "--workers", "1", "--hours", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split() for line in done.stdout.splitlines()[2:]] == [
        ["c7i.large", "2", "-", "0.100", "0.60", "-", "-"],
        ["g6.xlarge", "4", "1", "x", "L4", "2.500", "15.00", "1.250", "7.50"],
    ]


def test_what_cannot_be_answered_is_explained(server: str, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    for arguments, said in (
        ((f"{server}vms.csv", "--region", "nowhere"), "'nowhere'; those of the catalogue: elsewhere, there\n"),
        ((other,), "not a catalogue of SkyPilot: no column 'Region'\n"),
        ((f"{server}gone.csv",), "404"),
        ((tmp_path / "absent.csv",), "No such file"),
    ):
        done = run("--catalogue", *arguments)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.startswith("error: ") and said in done.stderr
    assert "hint: older prices: --catalogue " in done.stderr
