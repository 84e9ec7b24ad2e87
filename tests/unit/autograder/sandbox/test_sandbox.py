from __future__ import annotations

import dataclasses

import pytest

from autograder import sandbox
from autograder.sandbox import Policy, Prewarmed, ProcessLimits
from autograder.sandbox.bubblewrap import Bubblewrap
from autograder.sandbox.limits_only import ResourceLimits


def test_public_names_are_sorted_and_exist() -> None:
    assert sandbox.__all__ == sorted(sandbox.__all__)
    assert all(hasattr(sandbox, name) for name in sandbox.__all__)


def test_names_are_those_recorded_in_grades() -> None:
    assert (Bubblewrap.name, Bubblewrap.isolated) == ("bubblewrap", True)
    assert (ResourceLimits.name, ResourceLimits.isolated) == ("limits", False)


@pytest.mark.parametrize("kind", [ProcessLimits, Policy])
def test_what_passes_between_modules_is_frozen(kind: type[ProcessLimits | Policy]) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(kind(), dataclasses.fields(kind)[0].name, 1)


@pytest.mark.parametrize("kind", [Bubblewrap, Prewarmed, ResourceLimits])
def test_each_sandbox_says_what_it_does_not_defend(kind: type) -> None:
    import sys

    assert "Not defended:" in (sys.modules[kind.__module__].__doc__ or "")
