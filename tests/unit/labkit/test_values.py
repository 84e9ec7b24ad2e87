"""Values are read as what they are, whatever their class says of itself, and named in words a student understands."""

from __future__ import annotations

import collections
import enum
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

from labkit._values import NotNumbers, describe, digits, dtype_name, is_tensor, numbers, plain, short


class Liar:
    """Claims to be whatever is asked for."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray[Any, Any]:
        return np.array([1.0, 2.0])

    def __float__(self) -> float:
        return 3.0

    def __repr__(self) -> str:
        return "[1.0, 2.0]"

    def detach(self) -> Liar:
        return self

    def cpu(self) -> np.ndarray[Any, Any]:
        return np.array([1.0, 2.0])


class LyingInt(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __int__(self) -> int:
        return 3

    def __index__(self) -> int:
        return 3

    def __repr__(self) -> str:
        return "3"

    __hash__ = int.__hash__


class LyingFloat(float):
    def __float__(self) -> float:
        return 3.0


class LyingList(list[Any]):
    def __iter__(self) -> Any:
        return iter([1, 2])

    def __len__(self) -> int:
        return 2


class LyingArray(np.ndarray[Any, Any]):
    @property  # type: ignore[misc]
    def shape(self) -> tuple[int, ...]:
        return (2,)

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return np.zeros(2, dtype=bool)


class Point(NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize("value", [Liar(), [Liar()], [[1.0], [Liar()]], (Liar(), 1.0)])
def test_an_object_that_says_it_is_a_number_is_none(value: object) -> None:
    with pytest.raises(NotNumbers):
        numbers(value)


def test_a_subclass_of_an_array_is_read_as_the_memory_that_it_is() -> None:
    assert numbers(np.array([5.0, 6.0]).view(LyingArray)).tolist() == [5.0, 6.0]
    assert type(numbers(np.ma.array([1.0, 5.0], mask=[False, True]))) is np.ndarray


def test_a_subclass_of_a_number_is_read_as_the_number_that_it_holds() -> None:
    assert numbers(LyingFloat(1.5)).tolist() == 1.5
    assert numbers([LyingInt(1), True]).tolist() == [1, 1]
    assert plain(type("B", (bytes,), {"__bytes__": lambda _: b"lie"})(b"ab")) == b"ab"


def test_a_subclass_of_a_list_is_read_as_the_items_that_it_holds() -> None:
    assert plain(LyingList([7, 8, 9])) == [7, 8, 9]
    assert numbers(LyingList([7, 8, 9])).tolist() == [7, 8, 9]


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (LyingInt(5), 5),
        (LyingFloat(5.0), 5.0),
        (np.int64(5), 5),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (enum.IntEnum("E", "A").A, 1),  # type: ignore[attr-defined]
        (collections.OrderedDict(a=1), {"a": 1}),
        (Point(1, 2), (1, 2)),
        (frozenset({1}), frozenset({1})),
        (None, None),
    ],
)
def test_plain_gives_the_built_in_value(value: object, want: object) -> None:
    assert plain(value) == want
    assert type(plain(value)) is type(want)


@pytest.mark.parametrize(
    "value", [1, True, 0.5, 1j, [1, 2], [[1.0], [2.0]], (1, 2), range(3), np.eye(2), np.float32(1)]
)
def test_numbers_and_nested_lists_of_them_become_arrays(value: Any) -> None:
    assert np.array_equal(numbers(value), np.asarray(value))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None"),
        ("ab", "the str 'ab'"),
        (["a", 1], "the list ['a', 1]"),
        ([[1], [1, 2]], "the list [[1], [1, 2]], whose entries differ in shape"),
        ((np.ones(2), 3), "the tuple (array of shape (2,), 3), whose entries differ in shape"),
        ({"a": 1}, "the dict {'a': 1}"),
        ((i for i in range(2)), "a value of type generator"),
        (print, "a value of type builtin_function_or_method"),
        (Liar(), "a value of type Liar"),
        (Liar, "a value of type type"),
        (np.array([1, None]), "an array of shape (2,) and dtype object"),
        (np.array(["a"]), "an array of shape (1,) and dtype <U1"),
        (np.array([1]).astype("datetime64[s]"), "an array of shape (1,) and dtype datetime64[s]"),
        ([10**400], "the list [1000000000000000000000000000...00000000000000000000000000000]"),
    ],
)
def test_what_is_no_number_is_named(value: object, words: str) -> None:
    with pytest.raises(NotNumbers) as caught:
        numbers(value)
    assert str(caught.value) == words


def test_a_long_text_is_cut_and_no_address_gets_in() -> None:
    assert describe(10**5000) == "the int <16610 bits>"
    assert len(short(["x" * 1000] * 100)) <= 80
    assert len(describe("x" * 100_000)) < 100
    assert (
        short([Liar(), object(), np.ones((2, 3)), np.float64(0.5)]) == "[<Liar>, <object>, array of shape (2, 3), 0.5]"
    )
    assert describe(type("T" * 500, (), {})()) == "a value of type " + "T" * 60


def test_bytes_are_shown_as_hexadecimal_numbers() -> None:
    assert [describe(value) for value in (b"", b"\x9e\x00")] == ["no bytes", "bytes 9e 00"]
    assert describe(bytes(40)) == "40 bytes " + "00 " * 16 + "..."
    assert short([b"\x01", 2]) == "[bytes 01, 2]"


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((1.0, 2.0), ["1", "2"]),
        ((0.1, 0.123456789), ["0.1", "0.123457"]),
        ((1.0, 1.0000001), ["1", "1.0000001"]),
        ((0.3, 0.1 + 0.2), ["0.3", "0.30000000000000004"]),
        ((0.0, float("nan")), ["0", "nan"]),
        ((True, 0), ["True", "0"]),
        ((10**20, 10**20 + 1), ["100000000000000000000", "100000000000000000001"]),
        ((1 + 2j, 1 - 2j), ["1+2j", "1-2j"]),
        ((np.float32(0.5), np.int8(3)), ["0.5", "3"]),
    ],
)
def test_digits_show_as_many_as_tell_two_numbers_apart(values: tuple[object, ...], texts: list[str]) -> None:
    assert digits(*values) == texts


def test_no_framework_is_imported_to_look_at_a_value() -> None:
    code = (
        "import sys; from labkit._values import numbers, is_tensor, dtype_name; import numpy as np\n"
        "numbers([1, 2]); is_tensor(object()); dtype_name(np.ones(2))\n"
        "print({'torch', 'tensorflow', 'keras'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.frameworks
def test_torch_tensors_are_read_detached_and_on_the_host() -> None:
    import torch

    wanted = [1.0, 2.5]
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn):
        tensor = torch.tensor(wanted).to(dtype)
        assert numbers(tensor).tolist() == wanted
        assert is_tensor(tensor)
        assert dtype_name(tensor) == str(dtype).removeprefix("torch.")
    assert numbers(torch.tensor(wanted, requires_grad=True) * 1).tolist() == wanted
    assert numbers(torch.nn.Parameter(torch.tensor(wanted))).tolist() == wanted
    assert numbers([torch.tensor(1.0), torch.tensor(2.5)]).tolist() == wanted
    assert numbers(torch.tensor([1 + 1j]).conj()).tolist() == [1 - 1j]
    assert plain(torch.Size([2, 3])) == (2, 3)


def test_an_array_in_the_byte_order_of_another_machine_is_named() -> None:
    assert dtype_name(np.ones(2, np.float32)) == "float32"
    assert dtype_name(type("Said", (list,), {"dtype": "float32"})()) == ""
    assert dtype_name(np.ones(2, np.float32).astype(np.dtype(np.float32).newbyteorder())) == "float32, bytes swapped"


@pytest.mark.frameworks
def test_a_tensor_without_values_is_named_and_not_taken_for_an_unfinished_task() -> None:
    import torch

    with pytest.raises(NotNumbers, match="a tensor that cannot be read \\(Cannot copy out of meta tensor"):
        numbers(torch.empty(2, device="meta"))
    with pytest.raises(NotNumbers, match="a tensor that cannot be read \\(can't convert Sparse layout tensor"):
        numbers(torch.eye(2).to_sparse())


@pytest.mark.frameworks
def test_a_class_derived_from_a_tensor_is_none() -> None:
    import torch

    class LyingTensor(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *args: object, **kwargs: object) -> object:
            return torch.tensor([1.0, 2.0])

    liar = torch.tensor([7.0]).as_subclass(LyingTensor)
    assert not is_tensor(liar)
    with pytest.raises(NotNumbers):
        numbers(liar)


@pytest.mark.slow
@pytest.mark.frameworks
@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_tensorflow_and_keras_values_are_read(backend: str) -> None:
    code = """
import keras
from labkit._values import dtype_name, numbers
values = [keras.Variable([1.0, 2.5]), keras.Variable([1.0, 2.5], dtype="bfloat16")]
values += [keras.ops.convert_to_tensor([1.0, 2.5])]
assert dtype_name(values[0]) == "float32"
if keras.backend.backend() == "tensorflow":
    import tensorflow as tf
    values += [tf.constant([1.0, 2.5]), tf.Variable([1.0, 2.5]), tf.constant([1.0, 2.5], tf.bfloat16)]
    assert dtype_name(values[-1]) == "bfloat16"
for value in values:
    assert numbers(value).tolist() == [1.0, 2.5], value
try:
    numbers(keras.Input((2,)))
except TypeError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            "KERAS_BACKEND": backend,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "PATH": "/usr/bin:/bin",
            "CUDA_VISIBLE_DEVICES": "",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a value of type KerasTensor\n"
