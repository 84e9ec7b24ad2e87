"""Prints the numbers behind lab 09: eight bits and fewer, pruned channels, students, contractions; writes its cards.

python -m benchmarks.lab09 [--cards]
"""

from __future__ import annotations

import argparse
import functools
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import SEEDS, folder, mean_and_spread, solution
from labkit import compare, load, result_card

LAB = folder("09_small_models")
Found = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", action="store_true", help="write the result cards of the lab")
    cards = LAB / "cards" if parser.parse_args().cards else None
    ns = solution(LAB.name)
    glyphs, digits = load("glyphs"), load("digits")
    for name, split in (("train", glyphs.train), ("val", glyphs.validation), ("test", glyphs.test)):
        ns[f"x_{name}"], ns[f"y_{name}"] = ns["tensors"](split)
    found: Found = defaultdict(list)
    for seed in SEEDS:
        one_seed(ns, digits, seed, found)
        print(f"seed {seed}: " + "  ".join(f"{name} {values[-1]:.2f}" for name, values in found.items()), flush=True)
    for name, values in found.items():
        print(f"{name:40} {mean_and_spread(values, 2):>15}   {min(values):.2f} to {max(values):.2f}")
    if cards:
        write_cards(cards, found)


def one_seed(ns: dict[str, Any], digits: Any, seed: int, found: Found) -> None:
    """Train a reader and make it smaller in every way; add accuracies on test images, in percent."""
    x, y = ns["x_train"], ns["y_train"]

    def add(name: str, network: Any) -> None:
        found[name].append(100 * ns["accuracy"](network, ns["x_test"], ns["y_test"]))

    reader = ns["train_reader"](seed)
    folded = ns["fold"](reader)
    add("float32", folded)
    for bits in (8, 4, 3, 2):
        twin = ns["quantised"](folded, x[:256], bits)
        add(f"{bits} bits, rounded", twin)
        if bits in (2, 3):
            add(f"{bits} bits, trained", ns["fit"](twin, x, y, steps=100, lr=1e-3, seed=seed, adam=True))
    small = ns["prune"](reader, 16)
    add("16 of 48 channels, cut", small)
    small = ns["fold"](ns["fit"](small, x, y, steps=120, lr=0.03, seed=seed))
    add("16 of 48 channels, retrained", small)
    students(ns, reader, seed, add)
    for name, shape in (("dense", None), ("contracted", (24, 4, 3))):
        count, accuracy = ns["contraction_accuracy"](digits, shape, seed)
        found[f"parameters, {name}"].append(float(count))
        found[f"digits, {name}"].append(100 * accuracy)
    integers(ns, folded, found)
    runtimes(ns, folded, small, found)


def students(ns: dict[str, Any], reader: Any, seed: int, add: Any) -> None:
    """Train one student by labels, by the teacher, and by the teacher on synthetic images; then on all images."""
    x, y = ns["few_labels"](seed)
    add("student, labels", ns["train_student"](x, y, seed=seed))
    targets, loss = ns["from_teacher"](reader, x, y)
    add("student, teacher", ns["train_student"](x, targets, loss=loss, seed=seed))
    more = invented(ns, x, seed)
    targets, loss = ns["from_teacher"](reader, more)
    add("student, synthetic", ns["train_student"](more, targets, loss=loss, seed=seed))
    x, y = ns["x_train"], ns["y_train"]
    add("student, all labels", ns["train_student"](x, y, seed=seed))
    targets, loss = ns["from_teacher"](reader, x, y)
    add("student, all labels, teacher", ns["train_student"](x, targets, loss=loss, seed=seed))


def invented(ns: dict[str, Any], x: Any, seed: int) -> Any:
    import torch

    draw = np.random.default_rng(seed)
    new = [ns["synthetic"](x.numpy(), 0.3, 1.0, draw) for _ in range(8)]
    return torch.cat([x, torch.tensor(np.concatenate(new)).float()])


def integers(ns: dict[str, Any], folded: Any, found: Found) -> None:
    """Count the codes of the first convolution that differ from ONNX Runtime's, in a million."""
    seen = ns["activations"](folded, ns["x_train"][:256])
    (s_in, z_in), (s_out, z_out) = (ns["calibrate"](seen[name]) for name in ("input", "conv1"))
    layer = ns["quantise_layer"](folded, "conv1", s_in, s_out)
    q = np.clip(np.rint(ns["x_val"][:64].numpy() / s_in) + z_in, -128, 127).astype(np.int8)
    mine = ns["int8_conv"](q, z_in, *(layer[part] for part in ("w", "bias", "m", "k")), z_out)
    theirs = ns["runtime_conv"](q, z_in, s_in, layer, s_out, z_out)
    found["integers that differ, in a million"].append(1e6 * float((mine != theirs).mean()))
    found["largest difference"].append(float(np.abs(mine.astype(int) - theirs).max()))


def runtimes(ns: dict[str, Any], folded: Any, small: Any, found: Found) -> None:
    """Write ONNX files, float32 and int8, and compare bytes, accuracy and time."""
    with tempfile.TemporaryDirectory() as directory:
        paths = {name: str(Path(directory, f"{name}.onnx")) for name in ("float32", "int8", "pruned")}
        ns["to_onnx"](folded, paths["float32"])
        ns["to_onnx"](small, paths["pruned"])
        ns["to_int8"](paths["float32"], paths["int8"])
        sizes = {name: Path(path).stat().st_size for name, path in paths.items()}
        run = {name: ns["onnx_session"](path) for name, path in paths.items()}
    found["ONNX: bytes, float32 over int8"].append(sizes["float32"] / sizes["int8"])
    right = run["int8"](ns["x_test"]).argmax(1) == ns["y_test"].numpy()
    found["ONNX int8"].append(100 * float(right.mean()))
    batch = ns["x_val"][:64]
    times = compare({name: functools.partial(r, batch) for name, r in run.items()}, repeat=15)
    found["ONNX: time, float32 over int8"].append(times.ratio("float32", "int8")[1])
    found["ONNX: time, whole over pruned"].append(times.ratio("float32", "pruned")[1])


def difference(found: Found, name: str, other: str) -> dict[str, Any]:
    away = np.subtract(found[name], found[other])
    return {"value": float(away.mean()), "spread": float(away.std()), "n": len(away)}


def write_cards(cards: Path, found: Found) -> None:
    cards.mkdir(exist_ok=True)
    mean = {name: float(np.mean(values)) for name, values in found.items()}
    common: dict[str, Any] = {"unit": "points", "lab": LAB.name}
    result_card(
        "fixed point after training costs nothing (test accuracy, ONNX Runtime's int8 minus float32)",
        **difference(found, "ONNX int8", "float32"),
        **common,
        source="A: fixed-point numbers after training",
        seed_value="no loss named",
        note=f"The file is {mean['ONNX: bytes, float32 over int8']:.1f} times smaller and runs without a framework.",
        path=cards / "int8.json",
    )
    result_card(
        "training with rounding in place recovers 2 bits (test accuracy, after 100 steps minus before)",
        **difference(found, "2 bits, trained", "2 bits, rounded"),
        **common,
        note=f"{mean['2 bits, rounded']:.0f} % become {mean['2 bits, trained']:.0f} %. With 3 bits "
        f"{mean['3 bits, rounded']:.0f} and {mean['3 bits, trained']:.0f} %; 4 bits need none: "
        f"{mean['4 bits, rounded']:.1f} of {mean['float32']:.1f} %.",
        path=cards / "two_bits.json",
    )
    student_cards(cards, found, mean)
    shape_cards(cards, found, mean)
    integer_card(cards, found["integers that differ, in a million"])


def shape_cards(cards: Path, found: Found, mean: dict[str, float]) -> None:
    saved = 1 - mean["parameters, contracted"] / mean["parameters, dense"]
    result_card(
        "a tensor contraction layer saves parameters (share of the dense layers' parameters)",
        100 * saved,
        unit="%",
        lab=LAB.name,
        source="C: almost 44 percent savings in the dense layers, accuracy equal or better",
        seed_value=44,
        note="Not quite at equal accuracy here; test accuracy, ten pairs: "
        f"{difference(found, 'digits, contracted', 'digits, dense')['value']:+.2f} points. "
        "A small network on digits of 8 x 8 pixels, not AlexNet; the saving follows from the chosen shape.",
        kind="counted",
        path=cards / "contraction.json",
    )
    faster = found["ONNX: time, whole over pruned"]
    result_card(
        "pruned channels save time (16 of 48 inner channels, ONNX Runtime, one core, times as fast)",
        float(np.median(faster)),
        n=len(faster),
        spread=float(np.subtract(*np.percentile(faster, [75, 25])) / 2),
        unit="x",
        lab=LAB.name,
        note="Median and half of the middle half, on a busy machine; 2.2 times fewer multiplications. Test accuracy "
        f"{difference(found, '16 of 48 channels, retrained', 'float32')['value']:+.2f} points after 120 steps.",
        path=cards / "channels.json",
    )


def integer_card(cards: Path, apart: list[float]) -> None:
    result_card(
        "integer arithmetic agrees with the runtime's (codes that differ from ONNX Runtime's, in a million)",
        float(np.mean(apart)),
        n=len(apart),
        spread=float(np.std(apart)),
        lab=LAB.name,
        note="By 1 at most: its factor has 24 bits and ours 31. The accumulators are the same integers.",
        path=cards / "integers.json",
    )


def student_cards(cards: Path, found: Found, mean: dict[str, float]) -> None:
    synthetic = difference(found, "student, synthetic", "student, labels")["value"]
    result_card(
        "a small network taught by a large one errs less (test accuracy, 360 images, teacher minus labels)",
        **difference(found, "student, teacher", "student, labels"),
        unit="points",
        lab=LAB.name,
        source="D: a small model taught by a large one errs less",
        seed_value="errs less",
        note=f"From {mean['student, labels']:.0f} %; with synthetic images {synthetic:+.1f} points. "
        "The teacher has seen all 14,400 labels, so the gain is larger than in the papers.",
        path=cards / "student.json",
    )


if __name__ == "__main__":
    main()
