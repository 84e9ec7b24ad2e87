"""Python source read as a syntax tree, in threads."""

from __future__ import annotations

import ast
import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from autograder.boundary.parsing import syntax_tree

NESTED = "x = " + "f(" * 20 + "1" + ")" * 20 + "\n"


@pytest.fixture
def collector_lets_others_in() -> Iterator[None]:
    """Set up the garbage collector as it is in a Dask worker: it calls Python code, often, and other threads run."""

    def let_others_in(_phase: str, _info: dict[str, Any]) -> None:
        time.sleep(0.0001)

    before = gc.get_threshold()
    gc.callbacks.append(let_others_in)
    gc.set_threshold(20, 5, 5)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(let_others_in)


@pytest.mark.usefixtures("collector_lets_others_in")
def test_threads_read_source_while_the_garbage_collector_lets_others_in() -> None:
    start = threading.Barrier(4)

    def read(number: int) -> list[str]:
        start.wait(10)
        return [ast.unparse(syntax_tree(NESTED * (number + 1))) for _ in range(10)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, range(4)))
    assert found == [[(NESTED * (number + 1)).strip()] * 10 for number in range(4)]


def test_what_is_no_python_is_a_syntax_error_and_the_next_thread_may_read() -> None:
    with pytest.raises(SyntaxError):
        syntax_tree("def")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(syntax_tree, "x = 1").result(10).body
