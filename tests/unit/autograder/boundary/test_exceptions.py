"""What is told of an exception, whatever its arguments are."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from autograder.boundary.exceptions import rebuild, report
from autograder.boundary.frames import WireError
from tests.unit.autograder.boundary.talk import Talk


def keep(_error: BaseException) -> int:
    return 1


@pytest.mark.parametrize("failure", [WireError("too large"), RecursionError(), ValueError()])
def test_arguments_that_cannot_go_are_left_out_and_the_rest_is_told(failure: BaseException) -> None:
    def encode(_value: Any) -> Any:
        raise failure

    found = report(ValueError("no samples", object()), encode, keep)
    assert found["type"] == "ValueError"
    assert found["text"].startswith("('no samples', <object object")
    assert "args" not in found


def test_what_can_go_goes() -> None:
    assert report(KeyError("a", 1), lambda value: value, keep)["args"] == ["a", 1]


@pytest.mark.parametrize(
    ("raising", "caught"),
    [
        ("import decimal\n    decimal.Decimal('x')", "decimal.InvalidOperation"),
        ("import json\n    json.loads('{')", "json.JSONDecodeError"),
        ("import statistics\n    statistics.mean([])", "statistics.StatisticsError"),
        ("import numpy as np\n    np.linalg.inv(np.zeros((2, 2)))", "numpy.linalg.LinAlgError"),
        (
            "import json\n    class Mine(json.JSONDecodeError): pass\n    raise Mine('a', 'b', 0)",
            "json.JSONDecodeError",
        ),
        ("import sys\n    sys.exit(3)", "SystemExit"),
        ("raise SystemExit('no such option')", "SystemExit"),
    ],
)
def test_an_error_of_a_library_s_class_is_of_that_class(raising: str, caught: str, talk: Talk) -> None:
    talk.code(f"def work():\n    {raising}")
    imports = f"import {caught.rpartition('.')[0]}\n" if "." in caught else ""
    source = f"{imports}def attempt():\n    try: work()\n    except {caught} as error: return type(error).__name__\n"
    name = "Mine" if "Mine" in raising else caught.rpartition(".")[2]
    assert talk.value(f"{source}attempt()") == repr(name)


def test_such_an_error_has_its_values_and_systemexit_ends_the_test_alone(talk: Talk) -> None:
    talk.code("import json, sys\ndef parse(): json.loads('{')\ndef leave(*code): sys.exit(*code)\ndef fine(): return 1")
    found = (
        "import json\ntry: parse()\nexcept json.JSONDecodeError as e: found = e.lineno, e.pos, e.msg[:9], str(e)[:9]\n"
    )
    assert talk.value(f"{found}found") == "(1, 1, 'Expecting', 'Expecting')"
    code = "def code(*a):\n    try: leave(*a)\n    except SystemExit as e: return e.code\ncode(), code(2), code('x')"
    assert talk.value(code) == "(None, 2, 'x')"
    assert talk.test("leave(3)")["error"]["name"] == "SystemExit"
    assert talk.value("fine()") == "1"


@pytest.mark.parametrize(
    "module", ["unittest.case", "autograder.boundary.frames", "IPython.core.error", "__main__", "bdb"]
)
def test_no_other_class_is_taken_from_what_the_other_end_says(module: str) -> None:
    __import__(module)
    names = [name for name, kind in vars(sys.modules[module]).items() if isinstance(kind, type)]
    payload = {"type": "X", "module": module, "bases": ["Exception"], "known": [[module, name] for name in names]}
    error = rebuild(payload, lambda value: value, lambda handle: None)
    assert type(error).__mro__[1:] == Exception.__mro__


@pytest.mark.parametrize(
    "known", [None, 3, [3], [[1, 2]], [["json.decoder", 3]], [["json.decoder", "JSONDecoder"]], [["zlib"]]]
)
def test_what_is_no_name_of_a_class_names_none(known: Any) -> None:
    payload = {"type": "X", "module": "m", "bases": ["ValueError"], "known": known, "attributes": known}
    assert type(rebuild(payload, lambda value: value, lambda handle: None)).__mro__[1:] == ValueError.__mro__


def test_what_ends_an_iterator_has_a_value_on_both_sides(talk: Talk) -> None:
    """Python itself crashes at `yield from` where StopIteration has none."""
    talk.code("""
        class Ended(StopIteration): pass
        class Once:
            left = 1
            def __iter__(self): return self
            def __next__(self):
                if not self.left: raise Ended
                self.left = 0
                return 7
        def through(xs): return [*_through(xs)]
        def _through(xs): yield from xs
        """)
    assert talk.value("def t(x): yield from x\n[*t(Once())], through(iter([1, 2])), through(x for x in 'ab')") == str(
        ([7], [1, 2], ["a", "b"])
    )


def test_an_iterator_is_two_by_tee_and_a_copy_is_itself(talk: Talk) -> None:
    talk.code("""
        import copy, itertools
        def pairs(xs):
            a, b = itertools.tee(xs)
            next(b, None)
            return [*zip(a, b)]
        def same(x): return copy.copy(x) is x, copy.deepcopy(x) is x, copy.copy([x])[0] is x
        class Up:
            def __init__(self): self.n = 0
            def __iter__(self): return self
            def __next__(self):
                self.n += 1
                if self.n > 3: raise StopIteration
                return self.n
        """)
    want = "[('a', 'b'), ('b', 'c')]"
    assert talk.value("pairs(iter('abc')), pairs(x for x in 'abc')") == f"({want}, {want})"
    assert talk.value("class Item: pass\nsame(Item())") == "(True, True, True)"
    assert talk.value("import itertools\na, b = itertools.tee(Up())\n[*a], [*b]") == "([1, 2, 3], [1, 2, 3])"


@pytest.mark.parametrize("details", ["('f', 1, 1, 5)", "('f', 1, 'q', 'x')", "5", "('f', 1, 1, 'x', 'a', 2)", "[1, 2]"])
@pytest.mark.parametrize("kind", ["SyntaxError", "IndentationError"])
def test_a_syntax_error_with_an_odd_place_ends_one_test(kind: str, details: str, talk: Talk) -> None:
    talk.code(f"def work(): raise {kind}('odd', {details})\ndef fine(): return 1")
    assert talk.test("work()")["error"]["name"] in {kind, "TypeError"}  # Python's own constructor may refuse it
    assert talk.value(f"try: work()\nexcept (TypeError, {kind}): found = fine()\nfound") == "1"


def test_a_syntax_error_has_its_place(talk: Talk) -> None:
    talk.code("def work(): compile('a b', 'f', 'exec')")
    assert talk.value("try: work()\nexcept SyntaxError as e: found = e.lineno, e.offset, e.text\nfound") == (
        "(1, 3, 'a b\\n')"
    )


def test_an_error_of_a_library_that_looks_up_attributes_itself_is_of_its_base(talk: Talk) -> None:
    talk.code("import urllib.error\ndef work(): raise urllib.error.HTTPError('u', 404, 'gone', {}, None)")
    source = (
        "import urllib.error\ntry: work()\nexcept urllib.error.URLError as e: found = type(e).__name__, str(e)\nfound"
    )
    assert talk.value(source) == "('HTTPError', 'HTTP Error 404: gone')"
    assert talk.test("work()")["error"]["name"] == "HTTPError"


@pytest.mark.parametrize(
    ("of", "raised", "shown"),
    [
        ("http.client", "http.client.IncompleteRead(b'abc')", "IncompleteRead(3 bytes read)"),
        ("configparser", "configparser.NoSectionError('data')", "No section: 'data'"),
        ("math", "Own(3)", "Own: 3"),
        ("math", "Odd(3)", "<its message raises KeyError>"),
        ("math", "Plain(3, 'a')", "Plain(3, 'a')"),
    ],
)
def test_an_error_is_shown_as_its_class_shows_it(of: str, raised: str, shown: str, talk: Talk) -> None:
    talk.code(f"""
        import {of}
        class Own(Exception):
            def __repr__(self): return f'Own: {{self.args[0]}}'
        class Odd(Exception):
            def __repr__(self): raise KeyError(1)
        class Plain(Exception): pass
        def work(): raise {raised}
        """)
    source = f"import {of}\ntry: work()\nexcept Exception as e: found = repr(e), str(e)\nfound"
    assert talk.value(source).startswith(f"({shown!r}, ")
