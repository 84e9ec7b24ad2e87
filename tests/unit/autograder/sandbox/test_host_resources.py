from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from autograder.sandbox import ProcessLimits
from autograder.sandbox.host_resources import free_uid, resource_limits, threads_of


def test_limits_are_given_in_the_kernels_units() -> None:
    limits = ProcessLimits(memory_mib=2, processes=3, file_size_mib=4, open_files=5, cpu_s=6)
    assert resource_limits(limits, already_running=10) == {
        "AS": 2 << 20,
        "CORE": 1,
        "CPU": 6,
        "FSIZE": 4 << 20,
        "NOFILE": 5,
        "NPROC": 13,
    }


def test_threads_are_counted_like_the_kernel_does() -> None:
    before = threads_of(os.getuid())
    go = threading.Event()
    threads = [threading.Thread(target=go.wait) for _ in range(50)]
    for thread in threads:
        thread.start()
    during = threads_of(os.getuid())
    go.set()
    for thread in threads:
        thread.join()
    assert during >= before + 25  # other processes come and go


def test_a_free_uid_is_nobodys_and_rarely_the_same() -> None:
    uids = {free_uid() for _ in range(20)}
    assert len(uids) > 10
    assert min(uids) > 60_000


@pytest.mark.parametrize(("uid_map", "low", "high"), [("0 100000 65536", 61_184, 65_519), ("0 1000 1", 65_534, 65_535)])
def test_in_a_container_a_free_uid_is_one_that_it_has(
    uid_map: str, low: int, high: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _path: uid_map + "\n")
    assert low <= free_uid() < high
