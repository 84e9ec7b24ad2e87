"""Load a data set by name: bundled, drawn on this machine, or downloaded when asked for."""

from __future__ import annotations

import contextlib
import difflib
import gzip
import hashlib
import math
import os
import runpy
import tarfile
import tempfile
import tomllib
import zipfile
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labkit._download import DataError, DownloadError, fetch, matches

__all__ = ["DataError", "Dataset", "DownloadError", "Entry", "Split", "cache_dir", "describe", "download", "load"]

_Raw: TypeAlias = tuple[NDArray[Any], NDArray[Any]]  # images as published, labels
_SPLITS = ("train", "validation", "test")
_OFFLINE = 'labkit.load("glyphs") and labkit.load("digits") need no network'
_CIFAR_RECORD = 1 + 3 * 32 * 32  # a label, then the red, green and blue planes


class Split(NamedTuple):
    """Images and the labels that belong to them; `x, y = split` takes them apart."""

    x: NDArray[np.float32]  # (n, height, width) or (n, height, width, 3), values in [0, 1]
    y: NDArray[np.int64]  # (n,), positions in `Dataset.classes`

    def __repr__(self) -> str:
        side = " x ".join(map(str, self.x.shape[1:]))
        return f"{len(self.y):6,} images of {side}, {self.x.dtype} in [{self.x.min():g}, {self.x.max():g}]"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set in three fixed parts.

    The arrays belong to this object alone: writing to them changes no other cell's `load`. They are not read-only
    because PyTorch warns about every tensor made from a read-only array.
    """

    name: str
    train: Split
    validation: Split
    test: Split
    classes: tuple[str, ...]
    licence: str

    def __repr__(self) -> str:
        parts = [f"  {part:<10} {getattr(self, part)!r}" for part in _SPLITS]
        return "\n".join([f"{self.name}: {len(self.classes)} classes, licence {self.licence}", *parts])


class File(NamedTuple):
    """A published file: its name, its size in bytes, its SHA-256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Entry:
    """What datasets/catalog.toml says about one data set."""

    name: str
    title: str
    kind: Literal["bundled", "generated", "download"]
    format: Literal["npz", "glyphs", "idx", "cifar"]
    shape: tuple[int, ...]
    classes: tuple[str, ...]
    splits: dict[str, int]
    licence: str
    source: str
    citation: str
    levels: int = 255
    seed: int = 0
    mirrors: tuple[str, ...] = ()
    files: tuple[File, ...] = ()

    @property
    def size(self) -> int:
        """Bytes that are bundled or downloaded; 0 for a generated set."""
        return sum(file.size for file in self.files)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where its files are, or will be."""
        if self.kind == "generated":
            return (_drawn_path(self),)
        folder = _datasets_dir() if self.kind == "bundled" else cache_dir() / self.name
        return tuple(folder / file.name for file in self.files)

    @property
    def ready(self) -> bool:
        """Whether `load` needs no network."""
        return self.kind != "download" or all(path.is_file() for path in self.paths)


def load(name: str, *, download: bool = False) -> Dataset:
    """Return a data set with its fixed training, validation and test parts.

    Images are float32 in [0, 1], shape (n, height, width) or (n, height, width, 3); labels are int64, shape (n,).
    Nothing is downloaded unless `download` is true. `labkit data list` shows the names.

    Raises DataError for an unknown name, a data set that was not downloaded yet, and a damaged file.
    """
    entry = _entry(name)
    if download:
        _obtain(entry)
    readers = {"npz": _read_npz, "glyphs": _read_glyphs, "idx": _read_idx, "cifar": _read_cifar}
    raw = readers[entry.format](entry)
    train, validation, test = (_split(entry, part, *raw[part]) for part in _SPLITS)
    return Dataset(name, train, validation, test, entry.classes, entry.licence)


def describe() -> list[Entry]:
    """Return every data set of the catalogue, in its order."""
    table = tomllib.loads((_datasets_dir() / "catalog.toml").read_text(encoding="utf-8"))
    return [_parse(name, fields) for name, fields in table.items()]


def download(name: str) -> tuple[Path, ...]:
    """Make a data set ready for work without a network and return its files.

    Raises DataError for an unknown name, DownloadError when no mirror delivers a file.
    """
    entry = _entry(name)
    _obtain(entry)
    return entry.paths


def cache_dir() -> Path:
    """Return the folder for downloaded and generated data: `LABKIT_DATA`, or the platform's cache folder for labkit."""
    from platformdirs import user_cache_path

    chosen = os.environ.get("LABKIT_DATA")
    return Path(chosen).expanduser() if chosen else user_cache_path("labkit")


def _datasets_dir() -> Path:
    """Return the catalogue's folder: in an installed package, or next to the package in a checkout."""
    package = Path(__file__).parent
    installed = package / "_datasets"
    return installed if installed.is_dir() else package.parent / "datasets"


def _parse(name: str, fields: dict[str, Any]) -> Entry:
    lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
    files = tuple(File(**file) for file in lists.pop("files", ()))
    return Entry(**{**fields, **lists, "name": name, "files": files})


def _entry(name: str) -> Entry:
    entries = {entry.name: entry for entry in describe()}
    if name in entries:
        return entries[name]
    near = difflib.get_close_matches(name, entries, n=1)
    hint = f'did you mean labkit.load("{near[0]}")?' if near else "`labkit data list` says what each one is"
    raise DataError(f"labkit.load: there is no data set {name!r}, only {', '.join(sorted(entries))}", hint=hint)


def _obtain(entry: Entry) -> None:
    if entry.kind == "generated":
        _read_glyphs(entry)
    elif entry.kind == "download":
        hint = f"try again later (what has arrived is kept), or work offline: {_OFFLINE}"
        for file, path in zip(entry.files, entry.paths, strict=True):
            urls = [mirror + file.name for mirror in entry.mirrors]
            fetch(urls, path, size=file.size, sha256=file.sha256, hint=hint)


def _verified(entry: Entry) -> tuple[Path, ...]:
    """Return the files of a bundled or downloaded data set; raise DataError unless all are there and undamaged."""
    again = f'labkit.load("{entry.name}", download=True) or `labkit data get {entry.name}` downloads it'
    if not entry.ready:
        what = f"labkit.load: {entry.name} ({entry.size / 1e6:.1f} MB) is not in {cache_dir()}"
        raise DataError(what, hint=f"{again}; {_OFFLINE}")
    for file, path in zip(entry.files, entry.paths, strict=True):
        if not matches(path, file.sha256):
            hint = again if entry.kind == "download" else "install labkit again, or restore the file with git"
            raise DataError(f"{path}: damaged or missing (its SHA-256 is not the published one)", hint=hint)
    return entry.paths


def _split(entry: Entry, part: str, images: NDArray[Any], labels: NDArray[Any]) -> Split:
    expected = (entry.splits[part], *entry.shape)
    if images.shape != expected or labels.shape != expected[:1] or labels.max() >= len(entry.classes):
        found = f"images {images.shape}, labels {labels.shape} up to {labels.max(initial=0)}"
        wanted = f"images {expected} of {len(entry.classes)} classes"
        raise DataError(f"{entry.name} ({part}): {found}; the catalogue says {wanted}")
    # order="C": CIFAR's colour planes come transposed, and the result would keep that layout.
    return Split(np.divide(images, np.float32(entry.levels), order="C"), labels.astype(np.int64))


def _read_npz(entry: Entry) -> dict[str, _Raw]:
    (path,) = _verified(entry)
    with np.load(path) as arrays:
        images, labels = arrays["images"], arrays["labels"]
        return {part: (images[arrays[part]], labels[arrays[part]]) for part in _SPLITS}


def _read_glyphs(entry: Entry) -> dict[str, _Raw]:
    """Read the images drawn earlier, or draw them: without a cache that works, that only takes longer."""
    (path,) = entry.paths
    damage = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            return {part: (arrays[f"{part}_0"], arrays[f"{part}_1"]) for part in _SPLITS}
    except damage:
        raw = _draw(entry)
    with contextlib.suppress(OSError):
        _store(path, raw)
    return raw


def _draw(entry: Entry) -> dict[str, _Raw]:
    generate = runpy.run_path(str(_datasets_dir() / "glyphs.py"))["generate"]
    seeds = np.random.SeedSequence(entry.seed).spawn(len(_SPLITS))
    counts = [entry.splits[part] // len(entry.classes) for part in _SPLITS]
    return {
        part: generate("".join(entry.classes), per_class=count, seed=seed)
        for part, count, seed in zip(_SPLITS, counts, seeds, strict=True)
    }


def _drawn_path(entry: Entry) -> Path:
    """Name the cached images after all that shapes them, so that none outlives a change of the generator."""
    generator = (_datasets_dir() / "glyphs.py").read_text(encoding="utf-8")
    recipe = (generator, entry.classes, entry.splits, entry.seed, version("numpy"), version("matplotlib"))
    key = hashlib.sha256(repr(recipe).encode()).hexdigest()[:16]
    return cache_dir() / f"{entry.name}-{key}.npz"


def _store(path: Path, raw: dict[str, _Raw]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".drawing-") as folder:
        whole = Path(folder, path.name)
        arrays: dict[str, Any] = {f"{part}_{at}": raw[part][at] for part in _SPLITS for at in (0, 1)}
        np.savez(whole, **arrays)
        whole.replace(path)


def _read_idx(entry: Entry) -> dict[str, _Raw]:
    arrays = [_idx(gzip.decompress(path.read_bytes()), path.name) for path in _verified(entry)]
    return _held_out(entry, (arrays[0], arrays[1]), (arrays[2], arrays[3]))


def _read_cifar(entry: Entry) -> dict[str, _Raw]:
    (path,) = _verified(entry)
    batches = {}
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content and member.name.endswith(".bin"):
                batches[Path(member.name).stem] = _cifar_batch(content.read(), member.name)
    test = batches.pop("test_batch")
    images, labels = zip(*(batches[name] for name in sorted(batches)), strict=True)
    return _held_out(entry, (np.concatenate(images), np.concatenate(labels)), test)


def _held_out(entry: Entry, train: _Raw, test: _Raw) -> dict[str, _Raw]:
    """Take the validation part from the end of a published training set."""
    cut = len(train[0]) - entry.splits["validation"]
    images, labels = train
    return {"train": (images[:cut], labels[:cut]), "validation": (images[cut:], labels[cut:]), "test": test}


def _idx(data: bytes, source: str) -> NDArray[np.uint8]:
    """Read unsigned bytes in IDX form: 00 00 08, the number of axes, their lengths (big-endian, 4 bytes), values."""
    axes = data[3] if data[:3] == b"\0\0\x08" and len(data) > 3 else 0
    start = 4 + 4 * axes
    if not axes or len(data) < start:
        raise DataError(f"{source}: not IDX data of unsigned bytes (begins with {data[:4].hex(' ') or 'nothing'})")
    shape = tuple(int.from_bytes(data[at : at + 4], "big") for at in range(4, start, 4))
    if len(data) - start != math.prod(shape):
        raise DataError(f"{source}: {len(data) - start} values for an array of {shape}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def _cifar_batch(data: bytes, source: str) -> _Raw:
    """Read records of a label and 32 x 32 red, green and blue bytes as images (n, 32, 32, 3) and labels (n,)."""
    if not data or len(data) % _CIFAR_RECORD:
        raise DataError(f"{source}: {len(data)} bytes are not whole records of {_CIFAR_RECORD} bytes")
    records = np.frombuffer(data, np.uint8).reshape(-1, _CIFAR_RECORD)
    return records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), records[:, 0]
