"""A test cell and the code that it tests, in two threads: what each does to the other's objects, and what it cannot."""

from __future__ import annotations

import os
import socket
import time
from typing import Any

import numpy as np
import pytest

from autograder.boundary import student as agent
from autograder.boundary.frames import Connection, WireError
from tests.unit.autograder.boundary.talk import Talk


# -------------------------------------------------------------------------------------------------- the student's names
def test_a_name_that_the_cell_does_not_define_is_the_student_s(talk: Talk) -> None:
    talk.code("def twice(x): return 2 * x\nlimit = [1, 2]\nsum = None")
    assert talk.value("twice(4) + limit[1]") == "10"
    assert talk.value("twice = abs\ntwice(-3)") == "3"
    assert talk.value("sum([1, 2])") == "3", "built-in names are the grader's"
    assert talk.value("def f():\n    return twice(5)\nf()") == "10"
    assert talk.value("[twice(x) for x in limit]") == "[2, 4]"


def test_a_name_that_nobody_defines_is_a_name_error(talk: Talk) -> None:
    case = talk.cases('with check.case("x"):\n    softmax(1)')["x"]
    assert case["error"] == "NameError"
    assert case["message"] == "NameError: name 'softmax' is not defined"
    assert "is `softmax` spelled exactly so" in case["hint"]


def test_objects_are_used_where_they_are(talk: Talk) -> None:
    talk.code("""
        class Stack:
            size = 0
            def __init__(self, *items, top=None): self.items = list(items); self.top = top
            def push(self, item): self.items.append(item); return self
            def __len__(self): return len(self.items)
            def __iter__(self): return iter(self.items)
            def __getitem__(self, i): return self.items[i]
            def __setitem__(self, i, x): self.items[i] = x
            def __contains__(self, x): return x in self.items
            def __add__(self, other): return Stack(*self.items, *other)
            def __radd__(self, other): return other + len(self)
            def __eq__(self, other): return list(self) == list(other)
            def __bool__(self): return True
            def __enter__(self): return "inside"
            def __exit__(self, kind, error, trace): return kind is KeyError
            def __call__(self, a, *, b): return a - b
        """)
    assert talk.value("s = Stack(1, 2, top=5)\n(len(s), list(s), s[1], s.top, s.size)") == ("(2, [1, 2], 2, 5, 0)")
    assert talk.value("s = Stack()\ns.push(3).push(4)\ns[0] = 9\ns.top = [1]\n(list(s), s.top)") == "([9, 4], [1])"
    assert talk.value("s = Stack(1)\n(list(s + Stack(2)), s == s, s(5, b=2), bool(s))") == "([1, 2], True, 3, True)"
    assert (
        talk.value("""
        from labkit import check
        s = Stack(1)
        with check.operators():
            found = (2 in s, s == Stack(1), (s + [5]).items)
        found
        """)
        == "(False, True, [1, 5])"
    )
    assert talk.value("with Stack() as word: pass\nword") == "'inside'"
    assert talk.value("s = Stack()\n(s is s.push(1), isinstance(s, Stack), issubclass(Stack, Stack))") == (
        "(True, True, True)"
    )
    assert talk.value("s = Stack()\ndel s.top\nhasattr(s, 'top'), hasattr(s, 'push')") == "(False, True)"


def test_generators_iterators_and_views_go_on_over_there(talk: Talk) -> None:
    talk.code("def count(n):\n    for i in range(n):\n        yield i * i\nd = {'a': 1}")
    assert talk.value("list(count(4))") == "[0, 1, 4, 9]"
    assert talk.value("g = count(2)\n(next(g), next(g), next(g, None))") == "(0, 1, None)"
    assert talk.value("g = d.copy()\nlist(g.items())") == "[('a', 1)]"


def test_subclasses_of_plain_types_are_read_by_a_check(talk: Talk) -> None:
    talk.code("""
        import collections, enum
        Point = collections.namedtuple("Point", "x y")
        class Colour(enum.IntEnum): RED = 1
        counts = collections.Counter("aab")
        """)
    cases = talk.cases("""
        with check.case("named tuple"): check.equal(Point(1, 2), (1, 2))
        with check.case("close"): check.close(Point(1, 2), [1, 2])
        with check.case("enum"): check.equal(Colour.RED, 1)
        with check.case("counter"): check.equal(counts, {"a": 2, "b": 1})
        with check.case("unpacked"):
            x, y = Point(3, 4)
            check.equal(x + y, 7)
        with check.case("wrong"): check.equal(Point, 3)
        """)
    assert {title for title, case in cases.items() if not case["passed"]} == {"wrong"}
    assert cases["wrong"]["message"] == "expected the int 3, got a value of type type"


def test_random_numbers_go_on_where_they_were(talk: Talk) -> None:
    talk.code(
        "def draw(rng): return rng.random()\ndef keep(rng): kept.append(rng); return kept[0] is kept[-1]\nkept = []"
    )
    assert (
        talk.value("""
        import random
        import numpy as np
        found = []
        for make in (np.random.default_rng, np.random.RandomState, random.Random):
            own, there = make(3), make(3)
            found.append([draw(there), draw(there)] == [own.random(), own.random()])
        rng = np.random.default_rng(1)
        found + [keep(rng), keep(rng)]
        """)
        == "[True, True, True, True, True]"
    )


def test_sources_spawned_of_a_source_are_those_of_one_process(talk: Talk) -> None:
    talk.code("""
        def spawned(rng): return [r.random() for r in rng.spawn(2)], rng.spawn(1)[0].random()
        def seeds(rng): return rng.bit_generator.seed_seq.spawn(2)[1].generate_state(2).tolist()
        """)
    source = "import numpy as np\nmake = lambda: np.random.default_rng({})\n"
    for seed in (
        "1",
        "[1, 2, 3]",
        "np.random.SeedSequence(5, spawn_key=(1, 2))",
        "np.random.SeedSequence(7).spawn(3)[2]",
    ):
        one = "a = make()\nhere = [r.random() for r in a.spawn(2)], a.spawn(1)[0].random()\n"
        two = "there = make().bit_generator.seed_seq.spawn(2)[1].generate_state(2).tolist()\n"
        assert (
            talk.value(f"{source.format(seed)}{one}{two}spawned(make()) == here, seeds(make()) == there")
            == "(True, True)"
        )


# ------------------------------------------------------------------------------------------------ the test's own things
def test_functions_of_the_test_are_called_back_and_nothing_else_of_theirs_is_reached(talk: Talk) -> None:
    talk.code("""
        def total(f, n): return sum(f(i) for i in range(n))
        def inside(f):
            found = [name for name in ("__self__", "secret", "__wrapped__") if hasattr(f, name)]
            found += [name for name in f.__globals__ if not name.startswith("_") and name != "function"]
            return [*found, type(f).__name__, f.__closure__, f.__defaults__, vars(f)]
        """)
    assert talk.value("total(lambda i: i + 1, 4)") == "10"
    assert talk.value("seen = []\ntotal(lambda i: seen.append(i) or 0, 3)\nseen") == "[0, 1, 2]"
    talk.code("def called(f): return f() if f else None")
    assert talk.value("(called(lambda: 3), called(None))") == "(3, None)"
    assert talk.value("secret = 7\ndef f(): return secret\nf.secret = 8\ninside(f)") == str(
        ["function", None, None, {}]
    )
    assert talk.value("import numpy as np\n(int(total(np.square, 3)), total(abs, 3), total(float, 3))") == "(5, 3, 3.0)"


def test_a_counter_cannot_be_passed_by(talk: Talk) -> None:
    talk.code("""
        def around(f):
            for name in ("fn", "_fn", "__wrapped__", "__self__"):
                try: getattr(f, name)(1)
                except AttributeError: pass
            return f(1)
        """)
    assert talk.value("from labkit import check\nf = check.counted(lambda x: x)\n(around(f), f.count)") == "(1, 1)"


def test_objects_of_a_class_of_the_test_show_their_public_side(talk: Talk) -> None:
    talk.code("""
        def exchange(link):
            link.send(3)
            for name in ("_secret", "__dict__", "__class__.__init__"):
                try: getattr(link, name)
                except AttributeError: pass
                else: raise RuntimeError(name)
            try: link.count = 100
            except AttributeError: pass
            return link.count, link[0], len(link)
        """)
    assert (
        talk.value("""
        class Link:
            def __init__(self): self.count, self._secret, self.sent = 0, 42, []
            def send(self, x): self.count += 1; self.sent.append(x)
            def __getitem__(self, i): return self.sent[i]
            def __len__(self): return len(self.sent)
        exchange(Link())
        """)
        == "(1, 3, 1)"
    )


def test_an_exception_of_a_callback_comes_back_as_itself(talk: Talk) -> None:
    talk.code("""
        def apply(f): return f()
        def guarded(f):
            try: f()
            except Exception as error: return type(error).__name__, str(error)
        """)
    assert (
        talk.value("""
        class Own(Exception): pass
        error = Own("mine")
        def fail(): raise error
        found = None
        try: apply(fail)
        except Own as caught: found = caught is error
        found
        """)
        == "True"
    )
    assert talk.value("def f(): raise ValueError('no')\nguarded(f)") == "('ValueError', '')"
    talk.code("""
        seen = []
        def told(f):
            try: f()
            except Exception as error: seen.append((type(error).__name__, str(error), error.args, error.notebook_line))
        """)
    secret = "from labkit import check\ntold(lambda: check.equal(1, 42, name='the secret'))"
    assert talk.test(secret)["error"]["name"] == "Mismatch"
    assert talk.test("def f():\n    assert False, 'the secret'\ntold(f)")["error"]["name"] == "AssertionError"
    assert talk.namespace["seen"] == [("Mismatch", "", (), ""), ("AssertionError", "", (), "")], (
        "what a test expects is not for the tested code"
    )


def test_arguments_are_copies(talk: Talk) -> None:
    talk.code("""
        def spoil(x):
            x[...] = 0
            return x
        def fill(items): items.append(1); items.sort()
        def put(d): d["a"] = 2
        """)
    assert talk.value("import numpy as np\nx = np.ones(2)\nspoil(x)\nx.tolist()") == "[1.0, 1.0]"
    assert talk.value("xs = [3, 2]\nfill(xs)\nd = {}\nput(d)\n(xs, d)") == "([3, 2], {})"


def test_a_check_learns_of_changes_in_place(talk: Talk) -> None:
    talk.code("def spoil(x): x[0] = 0\ndef look(x): return x[0]\ndef nested(d): d['x'][0] = 5")
    cases = talk.cases("""
        import numpy as np
        x, xs, d = np.ones(2), [1, 2], {"x": np.ones(1)}
        with check.case("array"), check.unchanged(x=x): spoil(x)
        with check.case("list"), check.unchanged(xs=xs): spoil(xs)
        with check.case("looked at"), check.unchanged(x=x, xs=xs): look(x), look(xs)
        with check.case("another"), check.unchanged(x=x): spoil(np.ones(3))
        with check.case("inside"), check.unchanged(x=d["x"]): nested(d)
        """)
    assert {title for title, case in cases.items() if not case["passed"]} == {"array", "list", "inside"}
    assert cases["array"]["message"] == "expected x to stay as it was, but the call changed it in place"


def test_a_check_learns_of_changes_of_a_tensor_that_torch_does_not_count(talk: Talk) -> None:
    talk.code("""
        def data(x): x.data[0] = 5
        def numpy(x): x.detach().numpy()[...] = 5
        def look(x): return (x.data * 2).sum()
        def same(x): x.mul_(1)
        def asks(x): x.requires_grad_(not x.requires_grad)
        """)
    cases = talk.cases("""
        import torch
        for form, x in (
            ("plain", torch.ones(3)), ("scalar", torch.ones(1)[0:1]), ("leaf", torch.ones(3, requires_grad=True)),
            ("transposed", torch.arange(6.0).reshape(2, 3).T), ("bits", torch.ones(4, dtype=torch.bfloat16)),
            ("conjugated", torch.ones(2, dtype=torch.complex64).conj()), ("truth", torch.zeros(3, dtype=torch.bool)),
            ("large", torch.ones(5 * 2**20)),
        ):
            for call in (data, look):
                with check.case(f"{form} {call.__name__}"), check.unchanged(x=x): call(x)
        x = torch.ones(3)
        with check.case("through numpy"), check.unchanged(x=x): numpy(x)
        with check.case("the same numbers"), check.unchanged(x=x): same(x)
        with check.case("asks now"), check.unchanged(x=x): asks(x)
        x = torch.ones(3, requires_grad=True)
        with check.case("asks no more"), check.unchanged(x=x): asks(x)
        """)
    failed = {title for title, case in cases.items() if not case["passed"]}
    forms = ("plain", "scalar", "leaf", "transposed", "bits", "conjugated", "truth")
    assert failed == {"through numpy", "asks now", "asks no more", *(f"{form} data" for form in forms)}


def test_a_check_learns_that_an_object_changes_later_what_it_was_given(talk: Talk) -> None:
    talk.code("""
        class Keeper:
            def __init__(self, values, copy=False): self.values = [v.copy() for v in values] if copy else values
            def step(self): self.values[0] *= 2
        """)
    cases = talk.cases("""
        import numpy as np
        x = np.ones(2)
        with check.case("array in a list"), check.unchanged(x=x): Keeper([x]).step()
        numbers = [1.5]
        with check.case("list"), check.unchanged(numbers=numbers): Keeper(numbers).step()
        with check.case("copied"), check.unchanged(x=x): Keeper([x], copy=True).step()
        with check.case("only kept"), check.unchanged(x=x): kept = Keeper([x])
        with check.case("changed after that"): kept.step()
        with check.case("another"), check.unchanged(x=x): Keeper([np.ones(2)]).step()
        """)
    assert {title for title, case in cases.items() if not case["passed"]} == {"array in a list", "list"}


def test_a_shared_argument_takes_the_changes_over(talk: Talk) -> None:
    talk.code(
        "def sort(xs): xs.sort()\ndef zero(x): x[:] = 0\ndef put(d): d.clear(); d['k'] = (1,)\ndef add(s): s.add(2)"
    )
    assert (
        talk.value("""
        from labkit import check
        import numpy as np
        xs, x, d, s = check.shared([3, 1]), check.shared(np.ones(2)), check.shared({1: 2}), check.shared({1})
        sort(xs), zero(x), put(d), add(s)
        (xs, x.tolist(), d, s)
        """)
        == "([1, 3], [0.0, 0.0], {'k': (1,)}, {1, 2})"
    )


def test_what_came_from_the_student_cannot_be_changed_by_mistake(talk: Talk) -> None:
    talk.code("import numpy as np\nw = np.ones(2)")
    error = talk.test("w[0] = 5")["error"]
    assert error["name"] == "ValueError"
    assert "read-only" in error["value"]


# ----------------------------------------------------------------------------------------------------------- exceptions
def test_arguments_of_an_exception_are_values_and_of_others_their_text(talk: Talk) -> None:
    talk.code("""
        import numpy as np
        class Thing:
            def __str__(self): return "a thing"
        class Rude:
            def __str__(self): raise RuntimeError("no")
        def fail(): raise ValueError("negative", np.float64(-1.5), (1, 2), np.arange(2), Thing(), Rude())
    """)
    test = """
        import numpy as np
        try:
            fail()
        except ValueError as error:
            found = error.args
        [found[:3], type(found[1]) is np.float64, found[3].tolist(), found[4], type(found[5]) is str]
    """
    assert talk.value(test) == "[('negative', np.float64(-1.5), (1, 2)), True, [0, 1], 'a thing', True]"


def test_exceptions_are_the_matching_built_in_type(talk: Talk) -> None:
    talk.code("""
        class Mine(ValueError):
            def __str__(self): return "my words"
        class Rude(Exception):
            def __str__(self): raise RuntimeError
        def fail(kind, *args): raise kind(*args)
        def mine(): raise Mine(1, 2)
        def rude(): raise Rude
        def leave(): raise SystemExit(3)
        def deep(n=10_000): return deep(n - 1)
        """)
    assert talk.value("""
        found = []
        for f in (lambda: fail(KeyError, "k"), mine, rude, leave, deep):
            try: f()
            except Exception as error:
                found.append((type(error).__name__, type(error).__mro__[1].__name__, str(error)[:30]))
        found
        """) == str([
        ("KeyError", "LookupError", "'k'"), ("Mine", "ValueError", "my words"),
        ("Rude", "Exception", "<its message raises RuntimeErr"), ("SystemExit", "_Exit", "3"),
        ("RecursionError", "RuntimeError", "maximum recursion depth exceed"),
    ])  # fmt: skip
    cases = talk.cases("""
        with check.case("base"): check.raises(ValueError, mine)
        with check.case("own class"): check.raises(Mine, mine)
        with check.case("another"): check.raises(Mine, rude)
        with check.case("none"): check.raises(KeyError, fail, ValueError, "no")
        """)
    assert [title for title, case in cases.items() if case["passed"]] == ["base", "own class"]
    assert cases["none"]["message"].startswith("expected KeyError, got ValueError: no")


def test_a_failed_case_names_the_student_s_line(talk: Talk) -> None:
    talk.code("""
        def softmax(z):
            total = z.sum()
            return z / missing
        """)
    case = talk.cases('import numpy as np\nwith check.case("x"):\n    softmax(np.ones(2))')["x"]
    assert case["message"] == "NameError: name 'missing' is not defined\nin softmax, line 4: return z / missing"


def test_an_unfinished_task_is_said_to_be_one(talk: Talk) -> None:
    talk.code('def f(): raise NotImplementedError("Task 1: f")')
    case = talk.cases('with check.case("x"):\n    f()')["x"]
    assert (case["error"], case["message"]) == ("NotImplementedError", "not implemented yet: Task 1: f")


# --------------------------------------------------------------------------------------------------------------- limits
def test_the_time_of_a_cell_ends_its_cases_one_by_one(talk: Talk) -> None:
    talk.code("import time\ndef slow(): time.sleep(2)\ndef fast(): return 1")
    cases = talk.cases(
        """
        with check.case("before"): check.equal(fast(), 1)
        with check.case("slow"): slow()
        with check.case("after"): check.equal(fast(), 1)
        with check.case("own loop"):
            while True: pass
        with check.case("swallowed"): check.raises(Exception, fast)
        """,
        time_s=1,
    )
    assert {title: case["error"] for title, case in cases.items()} == {
        "before": "", "slow": "TimeLimit", "after": "TimeLimit", "own loop": "TimeLimit", "swallowed": "TimeLimit",
    }  # fmt: skip


# The end of the time may come while Python calls back for a weak reference: it says so, goes on, and it comes again.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <function Weak:pytest.PytestUnraisableExceptionWarning")
def test_endless_iterators_and_attributes_end_with_the_time(talk: Talk) -> None:
    talk.code("""
        import itertools
        class Endless:
            def __getattr__(self, name): return self
            def __iter__(self): return itertools.count()
            def __call__(self, *args): return self
        endless = Endless()
        """)
    result = talk.test("list(endless)", time_s=0.4)
    assert result["error"]["name"] == "TimeLimit"
    result = talk.test("x = endless\nwhile True: x = x.a(1).b", time_s=0.4)
    assert result["error"]["name"] == "TimeLimit"


def test_what_is_left_from_an_earlier_cell_is_thrown_away(talk: Talk) -> None:
    talk.code("import time\ndef slow():\n    time.sleep(0.5)\n    return 'late'\ndef fast(): return 'in time'")
    assert talk.test("slow()", time_s=0.2)["error"]["name"] == "TimeLimit"
    assert talk.value("fast()") == "'in time'"


def test_a_callback_of_an_earlier_cell_is_refused(talk: Talk) -> None:
    talk.code("""
        kept = []
        def keep(f): kept.append(f)
        def use():
            try: return kept[0](1)
            except RuntimeError as error: return str(error)
            except Exception as error: return type(error).__name__
        """)
    talk.test("keep(lambda x: x)")
    with pytest.raises(RuntimeError, match="has moved on"):
        talk.namespace["kept"][0](1)
    assert "lambda" not in talk.value("use()")


def test_calls_back_and_forth_are_bounded(talk: Talk) -> None:
    talk.code("def ping(f): return f()")
    result = talk.test("def pong(): return ping(pong)\nping(pong)")
    assert result["error"]["name"] == "RecursionError"


def test_threads_of_the_student_s_may_call_back_while_the_test_waits(talk: Talk) -> None:
    talk.code("""
        from concurrent.futures import ThreadPoolExecutor
        def spread(f):
            with ThreadPoolExecutor(4) as pool: return sum(pool.map(f, range(50)))
        """)
    assert talk.value("spread(lambda i: i)") == "1225"
    source = "order = []\nfor _ in range(20): spread(lambda i: order.append(i) or i)\n"
    out_of_turn = "sum(b not in (0, a + 1) for a, b in zip(order, order[1:]))"  # one thread may still overtake another
    assert int(talk.value(f"{source}{out_of_turn}")) < 200


def test_huge_and_strange_answers_cost_one_case(talk: Talk) -> None:
    talk.code("""
        import numpy as np
        def big(): return np.zeros(10**7)
        def number(): return 1 << (1 << 20)
        def deep():
            found = []
            for _ in range(500): found = [found]
            return found
        def fine(): return 1
        """)
    cases = talk.cases("""
        for f in ("big", "number", "deep"):
            with check.case(f): check.true({"big": big, "number": number, "deep": deep}[f](), "x")
        with check.case("no ValueError"): check.raises(ValueError, deep)
        with check.case("fine"): check.equal(fine(), 1)
        """)
    assert {title for title, case in cases.items() if case["passed"]} == {"fine"}
    assert "cannot go to the test" in cases["big"]["message"]


# ------------------------------------------------------------------------------------------------------ a forged answer
FORGED: list[dict[str, Any]] = [
    {"k": "reply", "value": {"t": "name", "m": "os", "q": "system"}},
    {"k": "reply", "value": {"t": "random", "c": "random.Random", "n": 1, "s": None}},
    {"k": "reply", "value": {"t": "yours", "h": 10**6}},
    {"k": "reply", "value": {"t": "mine", "h": "x"}},
    {"k": "reply", "value": {"t": "array", "d": "O", "s": [1], "b": [0, 8], "f": False}},
    {"k": "raise", "error": 3},
    {"k": "raise", "error": {"type": "X", "bases": ["exec"], "args": [1], "module": "builtins", "text": 5}},
    {"k": "raise", "error": {"type": "TimeLimit", "bases": ["BaseException"], "module": "builtins"}},
    {"k": "reply", "value": 1, "changes": {"t": "dict", "v": [["values", 3], ["gradients", 5]]}},
    {"k": "nonsense"},
    {},
    {"k": "ask", "op": "call", "on": {"t": "yours", "h": 999}, "args": [], "opts": []},
    {"k": "ask", "op": "getattr", "on": None, "args": ["__class__"], "opts": []},
    {"k": "ask", "op": "import", "on": None, "args": ["os", "system", "true"], "opts": []},
    {"k": "ask", "op": "call", "args": 5, "opts": None},
]


@pytest.mark.parametrize("message", FORGED, ids=lambda message: str(message)[:70])
def test_a_forged_message_fails_a_case_and_no_more(talk: Talk, message: dict[str, Any]) -> None:
    talk.code("def f(): return 1")
    perform = talk.owner.perform

    def forge(operation: str, *more: Any) -> Any:
        if operation == "call":
            connection = talk.student.connection
            connection.send({"cell": talk.cell} | message)
        return perform(operation, *more)

    talk.owner.perform = forge  # type: ignore[method-assign, assignment]
    cases = talk.cases('with check.case("asked"):\n    check.equal(f(), 2)', time_s=0.5)
    assert not cases["asked"]["passed"]
    talk.owner.perform = perform  # type: ignore[method-assign]
    assert talk.value("f()") == "1"


def test_a_class_that_claims_to_be_another_is_no_array(talk: Talk) -> None:
    talk.code("""
        import numpy as np
        class Liar:
            __class__ = np.ndarray
            def __array__(self, dtype=None, copy=None): return np.ones(2)
            def __eq__(self, other): return True
            def __float__(self): return 1.0
            def __len__(self): return 2
            def __iter__(self): return iter([1.0, 1.0])
        def lie(): return Liar()
        """)
    cases = talk.cases("""
        import numpy as np
        with check.case("equal"): check.equal(lie(), np.ones(2))
        with check.case("close"): check.close(lie(), np.ones(2))
        with check.case("true"): check.true(lie() == 5, "five")
        with check.case("not"): check.true(lie() != 1.0, "another")
        with check.case("least"): check.at_least(lie(), 0)
        """)
    assert {title for title, case in cases.items() if case["passed"]} == set()


def test_an_operator_of_the_student_s_does_not_make_up_a_value(talk: Talk) -> None:
    talk.code("""
        seen = []
        class Number(float):
            def __sub__(self, other): seen.append(other); return 0.0
            __rsub__ = __eq__ = __lt__ = __sub__
            __hash__ = None
        class Thing:
            def __sub__(self, other): seen.append(other); return 0.0
            def __add__(self, other): return Thing()
            def __lt__(self, other): seen.append(other); return True
            def __eq__(self, other): seen.append(other); return True
            __rsub__ = __sub__
        def number(): return Number(7)
        def root(f): return f(Number(7)), list(seen)
        """)
    assert talk.value("(number() - 5, 5 - number(), number() < 3, number() == 7, list(seen))") == (
        "(2.0, -2.0, False, True, [])"
    )
    assert talk.value("root(lambda x: x - 42)") == "(-35.0, [])", "nor does it see the test's numbers"
    refused = ("Thing() - 5", "5 - Thing()", "Thing() + 5", "Thing() < 5", "Thing() == 5", "Thing() != 5")
    for expression in (*refused, "Thing() == Thing()", "5 in Thing()", "abs(Thing() - 5)"):
        assert talk.test(expression)["error"]["name"] == "TypeError", expression
    for expression in (
        "Thing() == None",
        "None == Thing()",
        "Thing() in [None]",
        "Thing() != None",
    ):  # a test may wait for None
        assert talk.test(expression)["error"]["name"] == "TypeError", expression
    assert talk.value("x = Thing()\n(x == x, x != x, type(x + x).__name__)") == "(True, False, 'Proxy')"


@pytest.mark.frameworks
def test_tensors_travel_and_their_graphs_stay(talk: Talk) -> None:
    talk.code("""
        import torch
        torch.set_num_threads(1)
        net = torch.nn.Linear(3, 2)
        def loss(x): return (net(x) ** 2).sum()
        def plain(): return torch.arange(3, dtype=torch.bfloat16)
        def clip(x): x.clamp_(0, 1)
        """)
    assert talk.value("""
        import torch
        from torch.nn import functional
        from labkit import check
        x = torch.ones(4, 3, requires_grad=True)
        out = loss(x)
        out.backward()
        expected = 2 * (x.detach() @ net.weight.detach().T + net.bias.detach()) @ net.weight.detach()
        check.close(x.grad, expected)
        check.close(out, out.detach())
        mse = functional.mse_loss(net(x), torch.zeros(4, 2))
        mse.backward()
        small = torch.tensor([-1.0, 2.0])
        with check.unchanged(x=small): plain()
        try:
            with check.unchanged(x=small): clip(small)
        except AssertionError: changed = True
        (isinstance(net, torch.nn.Module), tuple(net.weight.grad.shape), plain().dtype, plain().tolist(), changed,
         small.tolist(), [tuple(p.shape) for p in net.parameters()], net.weight.dtype is torch.float32)
        """) == ("(True, (2, 3), torch.bfloat16, [0.0, 1.0, 2.0], True, [-1.0, 2.0], [(2, 3), (2,)], True)")


def test_the_descriptor_of_the_agent_comes_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = socket.socketpair()
    monkeypatch.setenv("AUTOGRADER_TESTS", str(os.dup(there.fileno())))
    there.close()
    monkeypatch.setattr(agent, "_agents", [])
    grader = Connection(here)
    grader.send({"k": "ask", "op": "name", "on": None, "args": ["x"], "opts": [], "cell": 4})
    grader.send({"k": "end", "cell": 4})
    agent.serve({"x": np.ones(1)}, 4, ["import math", "import no_such_module_at_all"])
    assert grader.receive()[0]["k"] == "reply"
    here.close()
    with pytest.raises(WireError):
        agent._agents[0][1].resolve({"t": "yours", "h": 1}, lambda value: value)
    agent._agents[0][1].connection.close()


@pytest.mark.parametrize("kind", [TimeoutError, LookupError])
def test_a_call_that_the_test_gives_up_does_not_answer_the_next_question(talk: Talk, kind: type[Exception]) -> None:
    talk.code("import time\ndef f(x):\n    if x == 2: time.sleep(0.3)\n    return x")
    stream = talk.peer.connection
    receive, asked = stream.receive, [0]

    def impatient(deadline: float | None = None) -> Any:
        asked[0] += 1
        if asked[0] == 3:  # the name, f(1), f(2)
            raise kind
        return receive(deadline)

    stream.receive = impatient  # type: ignore[method-assign]
    found = talk.value(f"""
        found = []
        for x in (1, 2, 3, 4):
            try: found.append(f(x))
            except {kind.__name__}: found.append(None)
        found
        """)
    assert found == "[1, None, 3, 4]"


def test_an_interrupt_that_the_tested_code_raises_ends_the_test_at_once(talk: Talk) -> None:
    talk.code("def f(x):\n    raise KeyboardInterrupt\ndef g(x):\n    return x")
    began = time.monotonic()
    cases = talk.cases(
        """
        with check.case("before"):
            check.equal(g(1), 1)
        with check.case("interrupted"):
            f(1)
        with check.case("after"):
            check.equal(g(1), 1)
        """,
        time_s=60,
    )
    assert time.monotonic() - began < 30
    assert [case["passed"] for case in cases.values()] == [True, False, False]
    assert "KeyboardInterrupt in the notebook's process" in cases["interrupted"]["message"]
    assert talk.value("g(2)") == "2"


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")  # torch itself says that
@pytest.mark.parametrize(
    ("call", "want"),
    [
        ("torch.func.grad({f})(torch.tensor(2.0))", "tensor(12.)"),
        ("torch.vmap({f})(torch.tensor([1.0, 2.0]))", "tensor([1., 8.])"),
        ("torch.func.jacrev({f})(torch.tensor([1.0, 2.0])).diagonal()", "tensor([ 3., 12.])"),
        ("torch.func.hessian(lambda x: {f}(x).sum())(torch.tensor([1.0, 2.0])).diagonal()", "tensor([ 6., 12.])"),
        ("torch.vmap(torch.func.grad({f}))(torch.tensor([1.0, 2.0]))", "tensor([ 3., 12.])"),
        ("torch.vmap({f})(torch.tensor([[1.0, 2.0]]))", "tensor([[1., 8.]])"),
    ],
)
def test_transforms_of_torch_go_through_a_function_of_the_test_s(call: str, want: str, talk: Talk) -> None:
    talk.code(f"import torch\ndef transformed(f): return {call.format(f='f')}")
    assert talk.value("transformed(lambda x: x * x * x)") == want
    assert talk.value("import torch\ntransformed(lambda x: torch.pow(x, 3))") == want
