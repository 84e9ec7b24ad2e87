"""labkit.load: the bundled, the drawn and the downloaded data sets, the cache, and the file formats."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import labkit
from labkit import _data
from labkit._data import DataError, DownloadError, describe, download, load

if TYPE_CHECKING:
    from tests.mirror import Mirror

DATASETS = Path(__file__).parents[3] / "datasets"
OFFLINE = [entry.name for entry in describe() if entry.kind != "download"]
SMALL = {"train": 52, "validation": 26, "test": 26}


def toml(tables: dict[str, dict[str, Any]]) -> str:
    """Write tables of strings, numbers, lists and inline tables; JSON's spelling of those is TOML's too."""

    def value(it: Any) -> str:
        if isinstance(it, dict):
            return "{" + ", ".join(f"{key} = {value(item)}" for key, item in it.items()) + "}"
        return "[" + ", ".join(map(value, it)) + "]" if isinstance(it, list) else json.dumps(it)

    lines = []
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {value(item)}" for key, item in table.items())]
    return "\n".join(lines)


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """The real catalogue's tables, to be changed and then written by `publish`."""
    folder = tmp_path / "datasets"
    folder.mkdir()
    shutil.copy(DATASETS / "glyphs.py", folder)
    monkeypatch.setattr(_data, "_datasets_dir", lambda: folder)
    return tomllib.loads((DATASETS / "catalog.toml").read_text(encoding="utf-8"))


def publish(catalogue: dict[str, dict[str, Any]]) -> None:
    (_data._datasets_dir() / "catalog.toml").write_text(toml(catalogue), encoding="utf-8")


@pytest.fixture
def few_glyphs(catalogue: dict[str, dict[str, Any]], cache: Path) -> Path:
    """A catalogue with a quick `glyph_letters`; the cache folder."""
    catalogue["glyph_letters"]["splits"] = SMALL
    publish(catalogue)
    return cache


def offer(mirror: Mirror, catalogue: dict[str, dict[str, Any]], name: str, files: dict[str, bytes]) -> None:
    """Let `mirror` serve `files` as the data set `name`."""
    mirror.files.update(files)
    catalogue[name]["mirrors"] = [mirror.url]
    catalogue[name]["files"] = [
        {"name": file, "size": len(body), "sha256": hashlib.sha256(body).hexdigest()} for file, body in files.items()
    ]
    publish(catalogue)


def idx(array: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    return b"\0\0\x08" + bytes([array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


def test_digits_are_split_without_overlap_and_loss() -> None:
    digits = load("digits")
    counts = [len(split.y) for split in (digits.train, digits.validation, digits.test)]
    assert counts == [1078, 359, 360]
    with np.load(DATASETS / "digits.npz") as arrays:
        positions = np.concatenate([arrays[part] for part in ("train", "validation", "test")])
    assert sorted(positions) == list(range(1797))


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_digits_have_each_class_in_its_share(part: str) -> None:
    digits = load("digits")
    every = np.bincount(np.concatenate([digits.train.y, digits.validation.y, digits.test.y]))
    labels = getattr(digits, part).y
    assert np.abs(np.bincount(labels) - every * labels.size / 1797).max() < 2


def test_digits_rebuild_to_the_same_bytes() -> None:
    build = runpy.run_path(str(DATASETS / "make_digits.py"))["build"]
    assert build() == (DATASETS / "digits.npz").read_bytes()


def test_images_are_float32_from_0_to_1_and_labels_int64() -> None:
    x, y = load("digits").train
    assert (x.dtype.name, x.shape) == ("float32", (1078, 8, 8))
    assert (y.dtype.name, y.shape) == ("int64", (1078,))
    assert (x.min(), x.max()) == (0, 1)


def test_writing_to_an_array_does_not_reach_the_next_load() -> None:
    load("digits").train.x[:] = 7
    assert load("digits").train.x.max() == 1


def test_a_data_set_shows_itself_in_four_lines() -> None:
    assert repr(load("digits")).splitlines() == [
        "digits: 10 classes, licence CC BY 4.0",
        "  train       1,078 images of 8 x 8, float32 in [0, 1]",
        "  validation    359 images of 8 x 8, float32 in [0, 1]",
        "  test          360 images of 8 x 8, float32 in [0, 1]",
    ]


def test_an_unknown_name_lists_the_names_and_suggests_the_nearest() -> None:
    with pytest.raises(DataError, match=r"no data set 'mnits', only cifar10, digits, .*\nhint: did you mean .*mnist"):
        load("mnits")


def test_nothing_is_downloaded_unless_asked_for(cache: Path) -> None:
    with pytest.raises(DataError) as error:
        load("mnist")
    assert f"mnist (11.6 MB) is not in {cache}" in str(error.value)
    for help_ in ('load("mnist", download=True)', "labkit data get mnist", 'load("digits")', 'load("glyphs")'):
        assert help_ in str(error.value)
    assert not cache.exists()


def test_every_entry_of_the_catalogue_is_complete() -> None:
    for entry in describe():
        assert list(entry.splits) == ["train", "validation", "test"]
        assert len(set(entry.classes)) == len(entry.classes) > 1
        assert all([entry.title, entry.licence, entry.source, entry.citation])
        assert all(len(file.sha256) == 64 and file.size > 0 for file in entry.files)
        assert (entry.kind == "download") == (len(entry.mirrors) >= 3)
        assert all(mirror.endswith("/") for mirror in entry.mirrors)
        assert entry.kind != "generated" or all(count % len(entry.classes) == 0 for count in entry.splits.values())


def test_the_documentation_has_a_row_for_every_entry() -> None:
    page = (DATASETS.parent / "docs" / "datasets.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    for entry in describe():
        row = rows.pop(entry.name)
        assert " / ".join(f"{count:,}" for count in entry.splits.values()) in row
        assert " x ".join(map(str, entry.shape)) in row
        assert f"| {len(entry.classes)} |" in row
        assert entry.licence.split(";")[0] in row
        assert entry.kind != "download" or f"{entry.size / 1e6:.1f} MB" in row
    assert not rows


def test_a_damaged_bundled_file_is_an_error(catalogue: dict[str, dict[str, Any]]) -> None:
    publish(catalogue)
    (_data._datasets_dir() / "digits.npz").write_bytes(b"?")
    with pytest.raises(DataError, match=r"digits\.npz: damaged or missing .*\nhint: .*git"):
        load("digits")


def test_glyphs_have_the_same_number_of_each_class(few_glyphs: Path) -> None:
    letters = load("glyph_letters")
    assert [np.bincount(split.y).tolist() for split in (letters.train, letters.test)] == [[2] * 26, [1] * 26]
    assert letters.train.x.shape == (52, 28, 28)


def test_glyphs_are_drawn_once_and_then_read_from_the_cache(few_glyphs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = load("glyph_letters")
    monkeypatch.setattr(_data, "_draw", pytest.fail)
    cached = load("glyph_letters")
    assert (drawn.train.x == cached.train.x).all()
    assert (drawn.test.y == cached.test.y).all()


def test_a_cache_file_is_not_used_for_another_generator(few_glyphs: Path) -> None:
    load("glyph_letters")
    with (_data._datasets_dir() / "glyphs.py").open("a") as generator:
        generator.write("# changed\n")
    load("glyph_letters")
    assert len(list(few_glyphs.glob("glyph_letters-*.npz"))) == 2


@pytest.mark.parametrize("at", [0, 70, 1000, -30])
@pytest.mark.parametrize("cut", [True, False])
def test_a_damaged_cache_file_is_made_again(few_glyphs: Path, at: int, cut: bool) -> None:
    first = load("glyph_letters")
    (path,) = few_glyphs.glob("*.npz")
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[at] ^= 0xFF
    path.write_bytes(whole[:at] if cut else damaged)
    assert (load("glyph_letters").train.x == first.train.x).all()
    with np.load(path) as arrays:
        assert arrays["train_0"].shape == (52, 28, 28)


def test_glyphs_need_no_cache(few_glyphs: Path) -> None:
    few_glyphs.write_text("a file where the cache folder should be")
    assert load("glyph_letters").train.x.shape == (52, 28, 28)


def test_drawing_leaves_only_the_images_in_the_cache(few_glyphs: Path) -> None:
    (path,) = download("glyph_letters")
    assert list(few_glyphs.iterdir()) == [path]


def test_another_seed_draws_other_images_and_the_same_seed_the_same() -> None:
    generate = runpy.run_path(str(DATASETS / "glyphs.py"))["generate"]
    first, again, other = (generate("AB", per_class=5, seed=seed)[0] for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_an_image_does_not_depend_on_how_many_are_warped_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    generate = runpy.run_path(str(DATASETS / "glyphs.py"))["generate"]
    whole, _ = generate("AB", per_class=5, seed=1)
    monkeypatch.setitem(generate.__globals__, "_CHUNK", 3)
    assert (generate("AB", per_class=5, seed=1)[0] == whole).all()


def test_without_a_warp_an_image_is_its_glyph() -> None:
    module = runpy.run_path(str(DATASETS / "glyphs.py"))
    still = module["Warp"](rotation_deg=0, scale=(1, 1), shift_px=0, shear=0, elastic=0, noise=0)
    (image,), _ = module["generate"]("E", per_class=1, seed=0, warp=still)
    # The pixels of an image lie half way between those of the prototype, so each is the mean of 2 x 2.
    means = module["prototypes"]("E")[0].reshape(-1, 28, 2, 28, 2).mean(axis=(2, 4))
    assert np.abs(means - image).max(axis=(1, 2)).min() <= 0.5


@pytest.mark.parametrize(("field", "value", "moved"), [("shift_px", 4.0, 4.0), ("scale", (0.9, 1.25), 0.5)])
def test_a_warp_moves_the_centre_of_mass_as_far_as_it_says(field: str, value: Any, moved: float) -> None:
    module = runpy.run_path(str(DATASETS / "glyphs.py"))
    still = {"rotation_deg": 0, "scale": (1, 1), "shift_px": 0, "shear": 0, "elastic": 0, "noise": 0}
    images, _ = module["generate"]("OX", per_class=200, seed=0, warp=module["Warp"](**still | {field: value}))
    mass = images.astype(float) / images.sum(axis=(1, 2), keepdims=True)
    centre = np.abs((mass.sum(axis=2) * np.arange(28)).sum(axis=1) - 13.5).max()
    assert moved - 0.5 < centre < moved + 0.5


def test_mnist_is_read_as_published(mirror: Mirror, catalogue: dict[str, dict[str, Any]], cache: Path) -> None:
    rng = np.random.default_rng(0)
    images, labels = rng.integers(256, size=(7, 28, 28), dtype=np.uint8), np.arange(7, dtype=np.uint8)
    names = [file["name"] for file in catalogue["mnist"]["files"]]
    bodies = [idx(images[:5]), idx(labels[:5]), idx(images[5:]), idx(labels[5:])]
    catalogue["mnist"]["splits"] = {"train": 3, "validation": 2, "test": 2}
    offer(mirror, catalogue, "mnist", dict(zip(names, map(gzip.compress, bodies), strict=True)))
    mnist = load("mnist", download=True)
    for split, part in ((mnist.train, slice(0, 3)), (mnist.validation, slice(3, 5)), (mnist.test, slice(5, 7))):
        assert (split.x == images[part] / np.float32(255)).all()
        assert (split.y == labels[part]).all()
    assert len(mirror.asked) == 4
    assert (load("mnist").test.y == mnist.test.y).all()


def test_cifar10_is_read_from_its_binary_version(
    mirror: Mirror, catalogue: dict[str, dict[str, Any]], cache: Path
) -> None:
    batches = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for label, name in enumerate(batches):
            planes = bytes([10 * label]) * 1024 + bytes(1024) + b"\xff" * 1024  # red, green, blue
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{name}.bin")
            info.size = 3073
            tar.addfile(info, io.BytesIO(bytes([label]) + planes))
    catalogue["cifar10"]["splits"] = {"train": 4, "validation": 1, "test": 1}
    offer(mirror, catalogue, "cifar10", {"cifar-10-binary.tar.gz": archive.getvalue()})
    cifar = load("cifar10", download=True)
    assert cifar.train.x.shape == (4, 32, 32, 3)
    assert cifar.train.x.flags.c_contiguous
    assert [split.y.tolist() for split in (cifar.train, cifar.validation, cifar.test)] == [[0, 1, 2, 3], [4], [5]]
    assert cifar.test.x[0, 0, 0].tolist() == [np.float32(50 / 255), 0, 1]


def test_a_download_that_was_damaged_later_is_an_error_and_downloaded_again(
    mirror: Mirror, catalogue: dict[str, dict[str, Any]], cache: Path
) -> None:
    names = [file["name"] for file in catalogue["mnist"]["files"]]
    images, labels = gzip.compress(idx(np.zeros((2, 28, 28), np.uint8))), gzip.compress(idx(np.zeros(2, np.uint8)))
    catalogue["mnist"]["splits"] = {"train": 1, "validation": 1, "test": 2}
    offer(mirror, catalogue, "mnist", dict(zip(names, [images, labels] * 2, strict=True)))
    paths = download("mnist")
    paths[0].write_bytes(b"?")
    with pytest.raises(DataError, match=r"damaged or missing .*\nhint: .*download=True"):
        load("mnist")
    load("mnist", download=True)
    assert len(mirror.asked) == 5


def test_a_file_that_contradicts_the_catalogue_is_an_error(
    mirror: Mirror, catalogue: dict[str, dict[str, Any]], cache: Path
) -> None:
    names = [file["name"] for file in catalogue["mnist"]["files"]]
    images, labels = gzip.compress(idx(np.zeros((2, 9, 9), np.uint8))), gzip.compress(idx(np.zeros(2, np.uint8)))
    catalogue["mnist"]["splits"] = {"train": 1, "validation": 1, "test": 2}
    offer(mirror, catalogue, "mnist", dict(zip(names, [images, labels] * 2, strict=True)))
    with pytest.raises(DataError, match=r"mnist \(train\): images \(1, 9, 9\), .* says images \(1, 28, 28\)"):
        load("mnist", download=True)


def test_without_a_network_the_error_names_the_offline_data_sets(
    mirror: Mirror, catalogue: dict[str, dict[str, Any]], cache: Path
) -> None:
    offer(mirror, catalogue, "mnist", {"absent": b"?"})
    mirror.files.clear()
    with pytest.raises(DownloadError, match=r'404 Not Found\nhint: .*labkit\.load\("glyphs"\)'):
        download("mnist")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "begins with nothing"),
        (b"\0\0\x0d\x01\0\0\0\x01?", "begins with 00 00 0d 01"),
        (b"\0\0\x08\x03\0\0", "begins with 00 00 08 03"),
        (b"\0\0\x08\x01\0\0\0\x02?", r"1 values for an array of \(2,\)"),
        (b"\0\0\x08\x01\0\0\0\x02???", r"3 values for an array of \(2,\)"),
    ],
)
def test_a_wrong_idx_file_is_an_error(data: bytes, what: str) -> None:
    with pytest.raises(DataError, match=f"labels: .*{what}"):
        _data._idx(data, "labels")


@pytest.mark.parametrize("data", [b"", bytes(3072), bytes(3074)])
def test_a_cifar_batch_of_broken_records_is_an_error(data: bytes) -> None:
    with pytest.raises(DataError, match=f"batch: {len(data)} bytes are not whole records"):
        _data._cifar_batch(data, "batch")


def test_the_cache_folder_is_the_platforms_unless_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_DATA", "~/data")
    assert _data.cache_dir() == Path.home() / "data"
    monkeypatch.delenv("LABKIT_DATA")
    assert _data.cache_dir().name == "labkit"


def test_an_installed_package_finds_its_own_data(tmp_path: Path) -> None:
    shutil.copytree(Path(labkit.__file__).parent, tmp_path / "labkit")
    shutil.copytree(DATASETS, tmp_path / "labkit" / "_datasets")
    code = "import labkit, pathlib; print(labkit.load('digits'), labkit._data._datasets_dir())"
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert str(tmp_path / "labkit" / "_datasets") in shown.stdout


@pytest.mark.parametrize("name", OFFLINE)
def test_every_data_set_that_needs_no_network_loads(name: str, cache: Path) -> None:
    data = load(name)
    assert len(data.train.y) == data.train.x.shape[0] > 1000
