"""Each kind of change: what it makes of a solution, and what is left out."""

from __future__ import annotations

import textwrap

import pytest

from autograder.proof import Mutant, Task, mutants_of

CASES = {
    "comparison boundary": ("return a < b", "return a <= b"),
    "comparison negated": ("return a == b", "return a != b"),
    "nearly equal": ("return a < b", "return unseen.nearly(a, '<', b)"),
    "part of a name": ("return a in (b, 'x')", "return unseen.within(a, 'in', (b, 'x'))"),
    "condition": ("return a and b", "return a or b"),
    "operator": ("return a / b", "return a // b"),
    "operand order": ("return a - b", "return b - a"),
    "operand dropped": ("return a * 3 + b", "return a * 3"),
    "constant": ("return a + 0.5", "return a + 1.0"),
    "slice": ("return a[b:]", "return a[b + 1:]"),
    "one case only": ("return [x for x in a]", "return [x for x in wrongly.without_last(a)]"),
    "values swapped": ("return a, b", "return (b, a)"),
    "branch": ("if a:\n    return b", "if False:"),
    "statement dropped": ("a.append(b)", "pass"),
    "kind of error": ("raise ValueError('no')", "raise TypeError('no')"),
    "arguments swapped": ("return f(a, b)", "return f(b, a)"),
    "argument dropped": ("return f(a, key=b)", "return f(a)"),
    "range": ("return range(a)", "return range(a - 1)"),
    "another function": ("return np.max(a)", "return np.min(a)"),
    "call dropped": ("return a.copy()", "return a"),
    "tie": ("return a.argmax(1)", "return unseen.ties(a.argmax)(1)"),
    "half": ("return round(a)", "return unseen.half_up(round)(a)"),
    "axis": ("return a.sum(axis=1)", "return a.sum(axis=0)"),
    "dtype": ("return a.astype(np.float64)", "return a.astype(np.float32)"),
    "state kept": ("found = []", "found = wrongly.kept('[]', lambda: [])"),
    "changed in place": ("a = a + b", "a[...] = a + b"),
}


def _mutants(body: str) -> list[Mutant]:
    block = textwrap.indent(f"### BEGIN SOLUTION\n{body}\n### END SOLUTION", "    ")
    return mutants_of(Task("task", f'def task(a, b=2):\n    """Do it."""\n{block}'))


@pytest.mark.parametrize(("rule", "body", "after"), [(rule, *pair) for rule, pair in CASES.items()], ids=list(CASES))
def test_a_rule_changes_one_place(rule: str, body: str, after: str) -> None:
    found = [mutant for mutant in _mutants(body) if mutant.rule == rule]
    assert after in [mutant.after for mutant in found]
    for mutant in found:
        compile(mutant.source, "<mutant>", "exec")


def test_a_result_is_written_over_only_where_calls_can_differ() -> None:
    assert "result reused" in {mutant.rule for mutant in _mutants("return [a]")}
    block = "def task():\n    ### BEGIN SOLUTION\n    return [1]\n    ### END SOLUTION"
    found = {mutant.rule for mutant in mutants_of(Task("task", block))}
    assert "rounded" in found
    assert "result reused" not in found


LATE = {
    "a.append(b)\nc = len(a)\nreturn c": "    c = len(a)\n    a.append(b)\n    return c",
    "a += 1\nif b:\n    c = a\nreturn b": "        c = a\n    a += 1\n    return b",
    "for x in b:\n    a += x\n    b[0] = a": "        b[0] = a\n        a += x\n",
    "a.append(1)\nb.append(2)": "",
    "a.append(1); a.sort()": "",
    "a.append(1)\nreturn a": "",
}
"""Bodies, and what the mutant holds that does something late; empty where there is none."""


@pytest.mark.parametrize(("body", "there"), list(LATE.items()), ids=list(LATE))
def test_what_is_done_first_may_be_done_last_where_something_between_can_notice(body: str, there: str) -> None:
    found = [mutant for mutant in _mutants(body) if mutant.rule == "done late"]
    assert [there in mutant.changed for mutant in found] == [True] * bool(there)
    for mutant in found:
        compile(mutant.source, "<mutant>", "exec")
        assert mutant.key[3].startswith(f"{mutant.before}  # after ")


def test_state_of_an_instance_is_shared_by_its_class() -> None:
    source = "class Layer:\n    def forward(self, x):\n        self.x = x\n        return x\n"
    found = [mutant for mutant in mutants_of(Task("layer", source)) if mutant.rule == "state shared"]
    assert [(mutant.function, mutant.after) for mutant in found] == [("Layer.forward", "type(self).x = x")]


def test_faults_stand_before_the_whole_function_and_import_what_they_need() -> None:
    found = {mutant.after: mutant for mutant in _mutants("return a")}
    narrowed = found["@wrongly.narrowed"]
    assert narrowed.changed.startswith("@wrongly.narrowed\ndef task(")
    assert narrowed.source == f"from autograder.proof import fairly, unseen, wrongly\n{narrowed.changed}"
    assert {"@wrongly.changing('a')", "@wrongly.coarse('b')", "@wrongly.unsigned('a')"} <= found.keys()
    assert {"@unseen.ordered('a')", "@unseen.distinct('b')", "@unseen.copied('a')"} <= found.keys()


def test_only_a_method_s_results_are_shared_by_a_class() -> None:
    source = "def task(x):\n    return x\n\n\nclass Layer:\n    def forward(self, x):\n        return x\n"
    found = [mutant for mutant in mutants_of(Task("layer", source)) if mutant.after == "@unseen.cached_by_class"]
    assert [mutant.function for mutant in found] == ["Layer.forward"]


def test_defaults_are_changed_and_other_given_lines_are_not() -> None:
    source = (
        "def task(a, b=2):\n    a = a + 7\n    ### BEGIN SOLUTION\n    return a\n    ### END SOLUTION\n"
        "\n\ndef given(a):\n    return a + 9\n"
    )
    changed = [mutant for mutant in mutants_of(Task("task", source)) if not mutant.after.startswith("@")]
    assert [mutant.after for mutant in changed] == ["def task(a, b=3):", "def task(a, b=1):", "return"]


def test_heads_and_nested_lines_keep_their_place() -> None:
    body = "if a:\n    return 1\nelif b < 2:\n    for x in a:\n        return x\nreturn 0"
    found = {mutant.after: mutant.changed for mutant in _mutants(body)}
    assert "    elif b <= 2:\n        for x in a:" in found["if b <= 2:"]
    assert "        for x in wrongly.first_only(a):\n            return x" in found["for x in wrongly.first_only(a):"]


def test_messages_and_annotations_are_left_alone() -> None:
    changed = {mutant.after for mutant in _mutants("c: int = a\nraise ValueError(f'{a} is 3')")}
    assert not {text for text in changed if "_'" in text or "is 4" in text}


def test_no_mutant_stands_twice_and_none_compiles_to_the_solution() -> None:
    found = _mutants("a = a * 1\nreturn a + 0 if a else a")
    assert len({mutant.source for mutant in found}) == len(found) == len({mutant.key for mutant in found})
    assert all(mutant.before != mutant.after for mutant in found)


def test_the_order_is_always_the_same() -> None:
    body = "c = a[1:b]\nreturn c if c else [a, b]"
    assert _mutants(body) == _mutants(body)
