"""What a function on arrays multiplies, and the bytes that it holds."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from labkit import count

A, B = np.arange(6.0).reshape(2, 3) + 2, np.arange(12.0).reshape(3, 4) + 2


@pytest.mark.parametrize(
    ("fn", "products"),
    [
        (lambda a, b: a @ b, 24),
        (lambda a, b: np.einsum("ik,kj->ij", a, b), 24),
        (lambda a, b: np.tensordot(a, b, 1), 24),
        (lambda a, b: a[:, :1] * b[:1], 8),
        (lambda a, b: [a[i, k] * b[k] for i in range(2) for k in range(3)], 24),
        (lambda a, b: a.sum() + b.sum(), 0),
        (lambda a, b: np.pad(a, 1) @ np.ones((5, 2)), 0),
    ],
    ids=["matmul", "einsum", "tensordot", "multiply", "loops", "sums", "zeros"],
)
def test_products_are_counted_whatever_makes_them(fn: Any, products: int) -> None:
    assert count.multiplications(fn, A, B)["products"] == products


def test_a_sum_into_zeros_of_the_same_dtype_is_followed() -> None:
    def doubled(a: Any, b: Any) -> Any:
        out = np.zeros((2, 4), a.dtype)
        out += a @ b
        return out[0] * out[1]

    assert count.multiplications(doubled, A, B)["products"] == 24 + 4


def test_constants_are_counted_apart_and_only_where_a_multiplier_is_needed() -> None:
    constants = np.array([[0, 1, -1], [0.5, 2, 1], [1, 0, 3]])
    found = count.multiplications(lambda a, b: a @ constants, A, B)
    assert found == {"products": 0, "by constants": 2 * 3, "in transforms": 0}
    assert count.multiplications(lambda a, b: (2.0 * a, a / 4, -a, a - 1, 1 - a), A, B)["by constants"] == 12


def test_a_complex_product_is_four_of_real_numbers() -> None:
    def spectra(a: Any, b: Any) -> Any:
        return count.rfft2(a) * count.rfft2(b[:2, :3]).conj() * 1j

    assert count.multiplications(spectra, A, B) == {
        "products": 4 * 4,
        "by constants": 4 * 4,
        "in transforms": 2 * round(6 * np.log2(6)),
    }


def test_transforms_are_those_of_numpy_and_cost_by_their_size() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 7))
    assert (count.rfft2(x) == np.fft.rfft2(x)).all()
    assert (count.rfft2(x, (8, 8)) == np.fft.rfft2(x, (8, 8))).all()
    spectra = np.fft.rfft2(x)
    assert (count.irfft2(spectra, (5, 7)) == np.fft.irfft2(spectra, (5, 7))).all()
    kept = []

    def there_and_back(a: Any, b: Any) -> None:
        kept.append(count.irfft2(count.rfft2(a, (8, 8)), (8, 8)))

    found = count.multiplications(there_and_back, x, B)
    assert found == {"products": 0, "by constants": 0, "in transforms": 2 * 6 * 64 * 6}
    np.testing.assert_allclose(kept[0][..., :5, :7].astype(float), x)


def test_arguments_stay_and_others_are_handed_on() -> None:
    a = A.copy()
    seen = []
    count.multiplications(lambda x, w, *rest, **more: seen.append((x.shape, rest, more)), a, B, 3, stride=2)
    assert seen == [((2, 3), (3,), {"stride": 2})]
    assert (a == A).all()


def test_a_number_may_not_be_divided_by_another() -> None:
    with pytest.raises(TypeError):
        count.multiplications(lambda a, b: a[0, 0] / b[0, 0], A, B)


@pytest.mark.parametrize(("fn", "held"), [
    (lambda x: x + 1, 0),
    (lambda x: (x + 1) * 2, 80_000),
    (lambda x: (x + 1)[:10].copy(), 80_000),
    (lambda x: x[:10], 0),
])  # fmt: skip
def test_bytes_are_counted_beyond_arguments_and_result(fn: Any, held: int) -> None:
    assert abs(count.workspace(fn, np.zeros(10_000)) - held) < 4_000


def test_a_trace_that_was_running_goes_on() -> None:
    tracemalloc.start()
    try:
        count.workspace(np.ones, 100)
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
    count.workspace(np.ones, 100)
    assert not tracemalloc.is_tracing()
