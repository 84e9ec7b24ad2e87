"""Which device nodes a GPU consists of."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.errors import SandboxError
from autograder.sandbox import gpu_nodes


def test_a_gpu_is_its_own_node_and_what_all_share(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert [path.name for path in gpu_nodes(1, tmp_path)] == ["nvidia1", "nvidiactl", "nvidia-uvm"]


def test_a_gpu_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"nvidia3: no such GPU \(there: none\)"):
        gpu_nodes(3, tmp_path)
    (tmp_path / "nvidia0").touch()
    with pytest.raises(SandboxError, match=r"\(there: nvidia0\)"):
        gpu_nodes(3, tmp_path)
