"""The course of memory: what autograd keeps, and what lives."""

from __future__ import annotations

import gc
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from labkit import count

X = torch.ones(8, 4)


def _weight() -> torch.Tensor:
    return torch.ones(4, 4).requires_grad_()


def _backward(y: Any) -> None:
    y.backward()


def test_what_is_kept_rises_forward_and_is_gone_after_backward() -> None:
    w = _weight()
    with count.Kept(without=[X, w]) as held:
        y = torch.tanh(torch.tanh(X @ w) @ w).sum()
        assert held.now == held.peak == 2 * X.nbytes
        _backward(y)
    assert (held.now, held.peak) == (0, 2 * X.nbytes)
    assert held.timeline == [0, 128, 256, 128, 0]


def test_memory_that_several_tensors_share_counts_once_and_whole() -> None:
    w = _weight()
    with count.Kept(without=[X, w]) as held:
        y = X @ w
        z = (y * y).sum() + (y[:1] ** 2).sum()
    assert held.now == y.nbytes
    _backward(z)
    assert held.now == 0


def test_weights_and_their_views_do_not_count() -> None:
    w, x = _weight(), X.clone().requires_grad_()
    with count.Kept(without=[x, w]) as held:
        y = x @ w.T[:, :2]
    assert held.now == 0
    _backward(y.sum())
    assert w.grad is not None


def test_what_is_dropped_without_a_backward_pass_is_gone() -> None:
    w = _weight()
    gc.disable()
    try:
        with count.Kept(without=[X, w]) as held:
            y = torch.tanh(X @ w)
            del y
        assert (held.now, held.peak) == (0, 128)
    finally:
        gc.enable()


def test_a_tensor_without_numbers_counts_too() -> None:
    x, w = torch.empty(8, 4, device="meta"), torch.empty(4, 4, device="meta", requires_grad=True)
    with count.Kept(without=[x, w]) as held:
        _backward(torch.tanh(torch.tanh(x @ w) @ w).sum())
    assert (held.now, held.peak) == (0, 256)


def test_all_that_lives_counts_gradients_too() -> None:
    w = _weight()
    course = count.alive(lambda: _backward(torch.tanh(X @ w).sum()))
    assert course.now == w.nbytes
    assert course.peak >= X.nbytes + w.nbytes


def test_memory_from_before_does_not_count() -> None:
    course = count.alive(lambda: X.view(4, 8).mul_(1.0))
    assert course.timeline == [0]


def test_a_checkpoint_lowers_the_peak_of_what_lives() -> None:
    w = [_weight() for _ in range(12)]

    def run(layers: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        for one in layers:
            x = torch.tanh(x @ one)
        return x

    def parts() -> None:
        x = X
        for at in range(0, 12, 4):
            x = checkpoint(run, w[at : at + 4], x, use_reentrant=False)
        _backward(x.sum())

    whole = count.alive(lambda: _backward(run(w, X).sum())).peak
    for one in w:
        one.grad = None
    assert count.alive(parts).peak < whole
