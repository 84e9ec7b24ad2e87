"""What is imported before the first submission comes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autograder.errors import CourseError
from autograder.execution import preloads

ALWAYS = preloads([])
RANKS = "torch.distributed"


@pytest.mark.parametrize(
    ("sources", "frameworks", "found"),
    [
        (["import numpy as np"], (), ()),
        (["import torch.nn as nn"], (), ("torch",)),
        (["from torch import nn\nimport keras, sys"], (), ("torch", "keras")),
        (["x = 1"], ("tensorflow",), ("tensorflow",)),
        (["    import sklearn.datasets"], (), ("sklearn",)),
        (["# torch would be nice", "torch = 3"], (), ()),
        (["import no_such_framework"], (), ()),
        (["import os\nos.environ['KERAS_BACKEND'] = 'torch'\nimport keras, torch"], ("keras",), ("torch",)),
        (["os.environ['KERAS_BACKEND'] = 'torch'"], ("tensorflow", "keras"), ("tensorflow",)),
        (["stream.launch(1); relaunch(2)"], (), ()),
        (["launch(fn, 2)"], (), ("torch", "labkit._launch.prefork", RANKS)),
        (["import torch.distributed as dist"], (), ("torch", RANKS)),
        (["from torch import distributed"], (), ("torch", RANKS)),
        (["import torch", "x = in_fresh_process(fn)"], (), ("torch", "labkit._launch.prefork")),
        (["%matplotlib inline\nimport matplotlib.pyplot as plt"], (), ("matplotlib",)),
    ],
)
def test_frameworks_are_found_in_imports_and_in_the_lab_s_description(
    sources: list[str], frameworks: tuple[str, ...], found: tuple[str, ...]
) -> None:
    assert preloads(sources, frameworks) == (*ALWAYS, *found)


def test_a_framework_that_the_lab_needs_and_that_is_not_installed_stops_everything() -> None:
    with pytest.raises(CourseError) as caught:
        preloads(["import numpy"], ("numpy", "no_such_framework"))
    assert "the lab needs no_such_framework, which this environment does not have" in str(caught.value)
    assert "pip install 'dl-scale-practicum[labs]'" in str(caught.value)


def test_what_the_grader_itself_needs_is_always_there() -> None:
    assert {"numpy", "labkit.check", "autograder.boundary.student", "autograder.boundary.cells"} == set(ALWAYS)


def test_what_is_always_there_brings_neither_a_framework_nor_a_server_of_launches() -> None:
    """A kernel in whose process `prefork` was imported forks the server, which imports torch, for each submission."""
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, *ALWAYS], capture_output=True, text=True, check=True)
    assert not {"labkit._launch.prefork", "torch", "tensorflow", "keras"} & set(done.stdout.split())
