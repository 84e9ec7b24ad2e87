"""Make digits.npz from scikit-learn's digits; print its size and SHA-256 for catalog.toml.

Usage: python datasets/make_digits.py [FILE]
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["build", "pack", "split"]

_VALIDATION, _TEST = 359, 360
_SEED = 20260101


def build() -> bytes:
    """Return digits.npz: images (1797, 8, 8) of grey values 0 to 16, labels, and the positions of each split."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    labels = digits.target.astype(np.uint8)
    train, validation, test = split(labels)
    images = digits.images.astype(np.uint8)
    return pack({"images": images, "labels": labels, "train": train, "validation": validation, "test": test})


def split(labels: NDArray[np.uint8]) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]:
    """Return sorted positions for training, validation and test, every class in the same share of each.

    Shuffled labels are sorted by class and dealt out at even distances, so that a split's class counts differ from
    the exact share by less than two.
    """
    order = np.random.default_rng(_SEED).permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    held_out = np.zeros(labels.size, bool)
    held_out[_even(_VALIDATION + _TEST, labels.size)] = True
    for_test = np.zeros(_VALIDATION + _TEST, bool)
    for_test[_even(_TEST, for_test.size)] = True
    parts = order[~held_out], order[held_out][~for_test], order[held_out][for_test]
    train, validation, test = (np.sort(part).astype(np.uint16) for part in parts)
    return train, validation, test


def _even(count: int, total: int) -> NDArray[np.int64]:
    return np.arange(count) * total // count


def pack(arrays: dict[str, NDArray[np.generic]]) -> bytes:
    """Return an .npz archive with the same bytes on every machine and day.

    np.savez stamps the time, and compressed bytes differ between builds of zlib: this stamps 1980 and only stores.
    """
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as members:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")  # dated 1980-01-01
            info.create_system = 3  # Unix, whatever this is: ZipInfo would note the real one
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            members.writestr(info, member.getvalue())
    return archive.getvalue()


if __name__ == "__main__":
    path = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).with_name("digits.npz")
    path.write_bytes(build())
    print(f"{path}: bytes = {path.stat().st_size}, sha256 = {hashlib.sha256(path.read_bytes()).hexdigest()}")
