"""The format between the two processes: what goes by value comes back the same, and nothing hostile gets in."""

from __future__ import annotations

import contextlib
import json
import pickle
import socket
import struct
import time
from array import array
from collections import (
    ChainMap,
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    UserString,
    defaultdict,
    deque,
    namedtuple,
)
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.boundary.frames import MAX_TEXT, Connection, ProcessDied, TimeLimit, WireError
from autograder.boundary.tensors import Leaves
from autograder.boundary.wire import Codec


class _References:
    """Numbers what does not travel."""

    def __init__(self, *, graphs_stay: bool = False) -> None:
        self.graphs_stay = graphs_stay
        self.leaves = Leaves()
        self.kept: list[Any] = []

    def place_of(self, value: Any) -> None:
        """Nowhere: these are copies."""

    def own_at(self, place: Any, value: Any) -> Any:
        return value

    def refer(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        self.kept.append(value)
        return {"t": "mine", "h": len(self.kept) - 1}

    def resolve(self, reference: dict[str, Any], decode: Callable[[Any], Any]) -> Any:
        if reference.get("t") != "mine":
            raise WireError("nothing of mine")
        return self.kept[reference["h"]]


def travelled(value: Any, *, writable: bool = True, answer: bool = False) -> Any:
    """Return what arrives when value is sent, by way of real JSON; answer: from the student's end."""
    references = _References(graphs_stay=answer)
    out = Codec(references)
    text = json.dumps(out.encode(value))
    return Codec(references, out.block, writable=writable).decode(json.loads(text))


def alike(one: Any, other: Any) -> bool:
    """Whether two values have the same types and content all the way down; nan is like nan."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | np.generic):
        return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, complex):
        return alike(one.real, other.real) and alike(one.imag, other.imag)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return len(one) == len(other) and all(map(alike, one.items(), other.items()))
    return bool(one == other)


KEYS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.binary(), st.floats(allow_nan=False))
PLAIN_DTYPES = st.one_of(
    hnp.boolean_dtypes(), hnp.integer_dtypes(), hnp.unsigned_integer_dtypes(), hnp.floating_dtypes(),
    hnp.complex_number_dtypes(), hnp.unicode_string_dtypes(), hnp.byte_string_dtypes(),
)  # fmt: skip
ARRAYS = PLAIN_DTYPES.flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)))
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.text(), st.binary(), ARRAYS,
    st.builds(slice, st.none() | st.integers(), st.none() | st.integers(), st.none() | st.integers()),
    st.builds(range, st.integers(-9, 9), st.integers(-9, 9)), st.just(...), ARRAYS.map(lambda a: a.dtype),
    ARRAYS.filter(lambda a: a.size > 0).map(lambda a: a.ravel()[0]), st.frozensets(KEYS), st.sets(KEYS),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner), max_leaves=12
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("tvbdskgfhnq"), inner, max_size=5),
    max_leaves=12,
)
KINDS = ["int", "float", "complex", "bytes", "tuple", "set", "frozenset", "dict", "slice", "range", "ellipsis", "array",
         "objects", "scalar", "dtype", "tensor", "framework", "mine", "yours", "name", "random", "pickle",
         ""]  # fmt: skip


@given(VALUES)
def test_what_goes_by_value_arrives_with_the_same_types_and_content(value: Any) -> None:
    assert alike(travelled(value), value)


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3)))
def test_an_array_arrives_the_same_however_it_lay_in_memory(array: np.ndarray[Any, Any]) -> None:
    for view in (array, array.T, np.asfortranarray(array), array[::-1], array[..., ::2], array.astype(">f8")):
        found = travelled(view)
        assert np.array_equal(found, view, equal_nan=True)
        assert found.dtype == view.dtype
        assert found.flags.writeable


@pytest.mark.parametrize(
    "items",
    [[2, 3], [1 << 70, -0.5], ["a", None, b"c", True], [Fraction(1, 3), Decimal("0.1")], []],
    ids=str,
)
def test_an_answer_of_plain_objects_in_an_array_arrives_and_no_other(items: list[Any]) -> None:
    array = np.array(items, dtype=object)
    found = travelled([array, array.reshape(-1, 1)], answer=True)
    assert [one.shape for one in found] == [array.shape, (len(items), 1)]
    assert found[0].dtype == object
    assert alike(found[0].tolist(), items)
    assert travelled(array) is array  # the test's own: a reference
    for strange in (object(), np.float64(1), [1], type("Own", (int,), {})(1)):
        other = np.empty(1, object)
        other[0] = strange
        assert travelled(other, answer=True) is other


def test_the_receiver_decides_whether_an_array_may_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        travelled(np.zeros(2), writable=False)[0] = 1


Pair = namedtuple("Pair", "a b")


def test_a_named_tuple_is_one_at_the_other_end() -> None:
    (found,) = travelled([Pair(1, 2)])
    assert (type(found)._fields, found) == (Pair._fields, Pair(1, 2))


@pytest.mark.parametrize(
    "value",
    [
        ChainMap({"a": 1}, {"b": 2}), Counter("aab"), OrderedDict([("b", 1), ("a", [2])]), deque([1, 2], maxlen=3),
        UserList([1, [2]]), UserDict({"a": 1}), UserString("ab"),
        defaultdict(int, a=1), defaultdict(None), array("d", [0.1, -0.0]), array("q"), MappingProxyType({"a": 1}),
        bytearray(b"ab"), bytearray(), memoryview(b"ab"), memoryview(b""), memoryview(array("d", [0.5])),
        {"a": 1}.keys(), {"a": 1}.items(),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_containers_of_the_standard_library_stay_what_they_are(value: Any) -> None:
    found = travelled([value])[0]
    assert type(found) is type(value)
    assert found == value and found is not value
    assert getattr(found, "maxlen", None) == getattr(value, "maxlen", None)
    assert list(found) == list(value)


def test_an_array_of_characters_is_a_reference() -> None:
    value = array("u", "ab")
    assert travelled([value])[0] is value


def test_a_default_that_code_of_its_own_makes_is_a_reference() -> None:
    value: Any = defaultdict(lambda: 3)
    assert travelled([value])[0] is value


def test_what_is_one_object_stays_one() -> None:
    row, array = [0, 0], np.zeros(2)
    grid, again, both = travelled([[row] * 3, row, (array, {"a": array})])[0:3]
    assert grid[0] is grid[2] is again
    assert both[0] is both[1]["a"]
    assert grid == [[0, 0]] * 3
    one, other = travelled([[[0], [0]]])[0]
    assert one is not other


def test_each_mention_counts() -> None:
    value: list[Any] = [0]
    for _ in range(40):
        value = [value, value]
    with pytest.raises(WireError, match="more than"):
        travelled([value])


@pytest.mark.parametrize(
    "array",
    [np.ones((2, 3)), np.zeros((0, 3), np.float32), np.array([True]), np.ones(2, complex), np.array(2.5)],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_a_view_of_numbers_keeps_its_form(array: np.ndarray) -> None:
    (found,) = travelled([array.data])
    assert (type(found), found.format, found.shape) == (memoryview, array.data.format, array.shape)
    assert found.tobytes() == array.tobytes()


@pytest.mark.parametrize("place", [0, 1, -1, 7, "0", None, 0.0])
def test_the_same_as_what_is_not_there_yet_is_refused(place: Any) -> None:
    with pytest.raises(WireError):
        Codec(_References()).decode([[], {"t": "same", "n": place}, []] if place == 7 else {"t": "same", "n": place})


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(1).view(np.recarray), np.ma.array([1], mask=[True]), object(), len,
        np.array([object()], dtype=object), np.zeros(2, dtype=[("x", "f8")]), iter([]),
        np.zeros(2, "V8").data, lambda: 0,
        type("Float", (float,), {})(1.0), type("List", (list,), {})(), True.__class__, ValueError("x"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_everything_else_is_a_reference(value: Any) -> None:
    assert travelled([value])[0] is value


def test_both_ends_list_the_mutable_values_in_the_same_order() -> None:
    value = [np.zeros(1), {"a": [1], "b": {2}}, ({3: np.ones(2)},), frozenset({4})]
    references = _References()
    out = Codec(references)
    text = out.encode(value)
    inwards = Codec(references, out.block)
    inwards.decode(text)
    assert len(out.mutable) == 7
    assert all(map(alike, out.mutable, inwards.mutable))


def _of_every_kind() -> list[Any]:
    """Return a value of every kind that travels, and some that do not, frameworks' as well."""
    import tensorflow as tf
    import torch

    leaf = torch.ones(2, requires_grad=True)
    return [
        *(
            np.zeros(2),
            np.float32(1),
            np.dtype("i4"),
            np.array([Fraction(1, 2), None], object),
            np.ma.masked_array([1]),
        ),
        *(torch.Size([2, 3]), torch.float32, torch.device("cpu"), torch.ones(2), leaf, leaf * 2, torch.empty(0)),
        *(tf.float32, tf.constant([1.0]), tf.Variable([1.0]), torch.nn.Parameter(torch.ones(1))),
        *(
            [1, [2]],
            {"a": [3]},
            ({4}, frozenset({5})),
            2**80,
            1.5,
            "text",
            b"bytes",
            3j,
            slice(1, 2),
            range(3),
            ...,
            int,
        ),
        *(
            Counter("aab"),
            OrderedDict(a=[1]),
            deque([[1]]),
            defaultdict(list, a=[1]),
            array("d", [1.0]),
            bytearray(b"a"),
        ),
        *(memoryview(b"ab"), MappingProxyType({"a": [1]}), ChainMap({"a": 1}), UserList([[1]]), UserDict(a=[1])),
        *(UserString("a"), {"a": 1}.keys(), {"a": [1]}.values(), {"a": [1]}.items(), Fraction(1, 3), Decimal("0.1")),
        *(_Point(1, [2]), object(), len, _Word("word"), _Numbers([1, [2]])),
    ]


_Point = namedtuple("_Point", "x y")


class _Word(str): ...


class _Numbers(list[Any]): ...


@pytest.mark.frameworks
@pytest.mark.parametrize("answer", [False, True])
def test_whatever_goes_along_both_ends_list_the_same_values_that_can_be_changed(answer: bool) -> None:
    values = _of_every_kind()
    for before in values:
        row, table = [1, 2], {"a": 1}
        sent = [before, row, [before], table, row, np.ones(1), table]
        references = _References(graphs_stay=answer)
        out = Codec(references)
        text = json.loads(json.dumps(out.encode(sent)))
        inwards = Codec(_References(graphs_stay=not answer), out.block)
        inwards._references.kept = references.kept  # type: ignore[attr-defined]
        came = inwards.decode(text)
        kinds = [[type(value) for value in codec.mutable] for codec in (out, inwards)]
        plain = [[torch_plain(kind) for kind in found] for found in kinds]
        assert plain[0] == plain[1], (before, kinds)
        assert came[1] is came[4] and came[3] is came[6], before
        assert came[1:5:3] == [row, row] and came[3] == table


def torch_plain(kind: type) -> str:
    """Return the name of a class; a parameter comes as a tensor, a variable as well."""
    name = kind.__name__
    return "Tensor" if name in {"Parameter", "EagerTensor", "ResourceVariable"} else name


@pytest.mark.parametrize(
    "value",
    [2 ** (1 << 17), np.zeros(9 << 20), [b"x" * (40 << 20)] * 2, list(range(1_000_001))],
    ids=["a large integer", "a large array", "many bytes", "many values"],
)
def test_what_is_too_large_is_not_sent(value: Any) -> None:
    with pytest.raises(WireError):
        Codec(_References()).encode(value)


def test_what_is_too_deep_or_contains_itself_is_not_sent() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(WireError, match="deep"):
        Codec(_References()).encode(value)


# ------------------------------------------------------------------------------------------------------- hostile values
@given(JSON, st.binary(max_size=64))
def test_any_json_is_a_value_or_an_error_of_the_format(value: Any, block: bytes) -> None:
    with contextlib.suppress(WireError):
        Codec(_References(), block).decode(value)


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from("vbdskgfhnq"), JSON), st.binary(max_size=64))
def test_any_object_of_a_known_kind_is_a_value_or_an_error_of_the_format(
    kind: str, fields: dict[str, Any], block: bytes
) -> None:
    with contextlib.suppress(WireError):
        Codec(_References(), block).decode({"t": kind, **fields})


@given(VALUES, st.data())
def test_a_damaged_message_is_a_value_or_an_error_of_the_format(value: Any, data: st.DataObject) -> None:
    out = Codec(_References())
    text = json.dumps(out.encode(value))
    cut = data.draw(st.integers(0, len(text)))
    damaged = text[:cut] + data.draw(st.sampled_from(["", "9", '"', "]", "-1,", "1e999"])) + text[cut + 1 :]
    try:
        message = json.loads(damaged)
    except ValueError:
        return
    with contextlib.suppress(WireError):
        Codec(_References(), out.block[: data.draw(st.integers(0, len(out.block)))]).decode(message)


@pytest.mark.parametrize(
    "value",
    [
        {"t": "array", "d": "O", "s": [1], "b": [0, 8], "f": False},
        {"t": "array", "d": "<f8", "s": [2], "b": [0, 8], "f": False},
        {"t": "array", "d": "<f8", "s": [-1], "b": [0, 8], "f": False},
        {"t": "array", "d": "<f8", "s": [1 << 40, 1 << 40], "b": [0, 8], "f": False},
        {"t": "array", "d": "<f8", "s": [1], "b": [60, 8], "f": False},
        {"t": "array", "d": "<f8", "s": [1], "b": [-8, 8], "f": False},
        {"t": "array", "d": "f8,f8", "s": [1], "b": [0, 16], "f": False},
        {"t": "scalar", "d": "O", "b": [0, 8]},
        {"t": "objects", "s": [2], "v": [1]},
        {"t": "objects", "s": [1], "v": [{"t": "mine", "h": 0}]},
        {"t": "objects", "s": [1], "v": [[1]]},
        {"t": "objects", "s": [1 << 40, 1 << 40], "v": []},
        {"t": "dtype", "d": "O"},
        {"t": "dict", "v": [[[], 1]]},
        {"t": "set", "v": [[]]},
        {"t": "int", "v": "0x" + "f" * 20_000},
        {"t": "tensor", "k": "os", "d": "float32", "s": [1], "b": [0, 4]},
        {"t": "tensor", "k": "torch", "d": "save", "s": [1], "b": [0, 4]},
        {"t": "framework", "k": "subprocess", "n": "dtype", "v": "run"},
        {"t": "pickle", "b": [0, 8]},
        {"t": "fraction", "v": ["1e3000000000"]},
        {"t": "fraction", "v": [1.5]},
        {"t": "decimal", "v": ["1e3000000000"]},
        {"t": ["array"]},
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_forged_value_is_refused(value: Any) -> None:
    with pytest.raises(WireError):
        Codec(_References(), bytes(64)).decode(value)


def test_deep_and_numerous_values_are_refused() -> None:
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    with pytest.raises(WireError, match="deep"):
        Codec(_References()).decode(deep)
    with pytest.raises(WireError, match="values"):
        Codec(_References()).decode([[0] * 1000] * 1001)


# --------------------------------------------------------------------------------------------------------------- frames
@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Connection]]:
    """A raw socket, and the connection at its other end."""
    one, other = socket.socketpair()
    with one, other:
        yield one, Connection(other)


def test_a_frame_arrives_whole_however_it_was_cut(ends: tuple[socket.socket, Connection]) -> None:
    raw, connection = ends
    text = b'{"k": "reply"}'
    frame = struct.pack("<IQ", len(text), 3) + text + b"abc"
    for cut in range(1, len(frame)):
        raw.sendall(frame[:cut])
        with pytest.raises(TimeLimit):
            connection.receive(time.monotonic() + 0.001)
        raw.sendall(frame[cut:])
        assert connection.receive(time.monotonic() + 1) == ({"k": "reply"}, b"abc")


@pytest.mark.parametrize(
    "frame",
    [
        struct.pack("<IQ", MAX_TEXT + 1, 0),
        struct.pack("<IQ", 2, 1 << 60),
        struct.pack("<IQ", 2, 0) + b"[]",
        struct.pack("<IQ", 2, 0) + b"\xff\xff",
        struct.pack("<IQ", 200_000, 0) + b"[" * 200_000,
        struct.pack("<IQ", 10_000, 0) + b"9" * 10_000,
        pickle.dumps({"k": "reply"}) + bytes(16),
    ],
    ids=["long text", "long block", "no object", "not UTF-8", "deep", "a long number", "a pickle"],
)
def test_what_is_no_frame_is_refused(ends: tuple[socket.socket, Connection], frame: bytes) -> None:
    raw, connection = ends
    raw.sendall(frame)
    with pytest.raises(WireError):
        connection.receive(time.monotonic() + 1)


def test_an_end_that_has_closed_is_noticed(ends: tuple[socket.socket, Connection]) -> None:
    raw, connection = ends
    raw.sendall(b"half")
    raw.close()
    with pytest.raises(ProcessDied):
        connection.receive(time.monotonic() + 1)
    with pytest.raises(ProcessDied):
        connection.send({"k": "ask"})


def test_an_end_that_does_not_read_is_given_up(ends: tuple[socket.socket, Connection]) -> None:
    _, connection = ends
    with pytest.raises(ProcessDied):
        connection.send({"k": "ask"}, bytes(32 << 20), deadline=time.monotonic() + 0.05)
