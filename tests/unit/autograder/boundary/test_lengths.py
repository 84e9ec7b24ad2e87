"""A container that ends before the length that it says fails the test that has asked for both."""

from __future__ import annotations

from tests.unit.autograder.boundary.talk import Talk

LIAR = "class L:\n    def __len__(self): return 3\n    def __iter__(self): return iter(())\nr = L()"
STACK = """
class Stack:
    def __init__(self): self.items = [1, 2, 3]
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def pop(self): return self.items.pop()
s = Stack()
"""


def test_a_container_that_says_a_length_and_ends_sooner_is_an_error(talk: Talk) -> None:
    talk.code(LIAR)
    for test in ("assert len(r) == 3\nfor a, b in zip(r, [1, 2, 3]): assert a == b",
                 "assert len(r) == 3 and all(a == b for a, b in zip(r, [1, 2, 3]))"):  # fmt: skip
        assert talk.test(test)["error"]["name"] == "ValueError", test


def test_what_keeps_its_word_is_gone_through(talk: Talk) -> None:
    talk.code(STACK)
    assert talk.value("len(s), list(s), sum(1 for _ in s)") == "(3, [1, 2, 3], 3)"
    assert talk.value("[len(s), s.pop(), list(s), len(s), s.pop(), list(s)]") == "[3, 3, [1, 2], 2, 2, [1]]"


def test_a_test_may_stop_before_the_end(talk: Talk) -> None:
    talk.code(STACK)
    assert talk.value("len(s), next(iter(s)), [a for a, _ in zip(range(2), s)]") == "(3, 1, [0, 1])"
