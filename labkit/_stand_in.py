"""The numbers of tensors on a device that has none: they are computed beside it, on the CPU."""

from __future__ import annotations

from typing import Any

__all__ = ["Numbers"]


class Numbers:
    """For each storage of the stand-in one on the CPU, as large, in which every operator is run again.

    By storage and not by tensor: views, gradients that were taken over and what autograd unpacks are other tensors.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}  # both are kept, so that no address comes twice

    def of(self, tensor: Any) -> Any:
        """Return a view, on the CPU, of a stand-in's numbers; zeros if nothing is known about them."""
        import torch

        storage = tensor.untyped_storage()
        if storage._cdata not in self._known:
            self._known[storage._cdata] = storage, torch.zeros(storage.nbytes(), dtype=torch.uint8).untyped_storage()
        _, real = self._known[storage._cdata]
        view = torch.empty(0, dtype=tensor.dtype)
        return view.set_(real, tensor.storage_offset(), tensor.size(), tensor.stride())

    def real(self, values: Any) -> Any:
        """Return nested arguments or results with the numbers, and the CPU, in the place of the stand-in."""
        import torch
        from torch.utils._pytree import tree_map

        def one(value: Any) -> Any:
            if isinstance(value, torch.Tensor) and value.is_meta:
                return self.of(value)
            return torch.device("cpu") if isinstance(value, torch.device) and value.type == "meta" else value

        return tree_map(one, values)

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Run an operator again with numbers, and keep them for the tensors that it made."""
        from torch.utils._pytree import tree_leaves

        if func.is_view:
            return
        for made, value in zip(
            tree_leaves(result), tree_leaves(func(*self.real(args), **self.real(kwargs))), strict=True
        ):
            self.keep(made, value)

    def keep(self, made: Any, value: Any) -> None:
        """Remember the numbers of a new tensor on the stand-in; one that was there before has them already."""
        if getattr(made, "is_meta", False) and made.untyped_storage()._cdata not in self._known:
            self.of(made).copy_(value)
