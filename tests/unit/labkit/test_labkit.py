"""The package itself: its public names, and that importing it costs nothing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import labkit

HEAVY = ("torch", "tensorflow", "keras", "matplotlib", "sklearn", "IPython")
PROBE = """
import json, sys, time
start = time.perf_counter()
import labkit
seconds = time.perf_counter() - start
print(json.dumps([seconds, sorted(set(sys.argv[1:]) & set(sys.modules))]))
"""


def test_public_names_are_sorted_and_can_be_imported() -> None:
    assert labkit.__all__ == sorted(labkit.__all__)
    assert dir(labkit) == labkit.__all__
    for name in labkit.__all__:
        assert getattr(labkit, name) is not None


@pytest.mark.parametrize("name", labkit.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert (getattr(labkit, name).__doc__ or "").strip()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        labkit.nothing  # noqa: B018


def test_import_takes_under_a_fifth_of_a_second_and_loads_no_framework() -> None:
    seconds = []
    for _ in range(3):  # the fastest: others use this machine, too
        done = subprocess.run([sys.executable, "-c", PROBE, *HEAVY], check=True, capture_output=True, text=True)
        taken, loaded = json.loads(done.stdout)
        assert loaded == []
        seconds.append(taken)
    assert min(seconds) < 0.2


@pytest.mark.parametrize("name", ["bench", "device", "launch", "load", "result_card", "scale", "seed_everything"])
def test_getting_a_function_loads_no_framework(name: str) -> None:
    code = f"import sys, labkit; labkit.{name}; print(sorted(set(sys.argv[1:]) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code, *HEAVY], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
