"""The claims that need a GPU, measured on this machine's: a result card each, beside the modelled ones of the labs.

Times are compared in turns on one machine; a number is the median over the rounds, its spread half the distance of the
quartiles, as each note says.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.common import SEEDS, folder, solution
from benchmarks.gpu.run import KEPT

# isort: split
import numpy as np
import torch

from labkit import _machine, compare, device, load, result_card

__all__ = ["main"]

Ratio = tuple[float, float, float]
ROUNDS = 21
SPREAD = "Spread: half the distance of the quartiles."


def main() -> int:
    """Measure and write all cards; a measurement that fails is named, and the rest go on."""
    if device() != "cuda":
        raise SystemExit("no CUDA device here: these cards are measured on one\nhint: labkit doctor says why")
    failed = 0
    for measure in (training, memory, narrow_products, tensor_cores, slow_loop, sparse_layer, one_graph, recomputing):
        try:
            measure()
        except Exception as error:
            failed += 1
            print(f"{measure.__name__}: {type(error).__name__}: {error}")
    return int(failed > 0)


def card(lab: str, name: str, claim: str, ratio: Ratio, note: str, **more: Any) -> None:
    """Write the card of a ratio that `compare` found, and print it."""
    low, middle, high = ratio
    settings: dict[str, Any] = {"unit": "x", "n": ROUNDS, "spread": (high - low) / 2} | more
    path = folder(lab) / "cards" / f"{name}.json"
    note = note if settings["spread"] is None else f"{note} {SPREAD}"
    made = result_card(claim, middle, lab=lab, note=note, path=path, **settings)
    print(f"{lab} {name}: {made.value:.3g} ± {made.spread or 0:.2g} {made.unit}", flush=True)


def versus(slow: Callable[[], Any], fast: Callable[[], Any], rounds: int = ROUNDS) -> Ratio:
    """Return quartiles of how many times as long the first takes, measured in turns."""
    return compare({"slow": slow, "fast": fast}, repeat=rounds).ratio("slow", "fast")


def training() -> None:
    """A step of two layers: the GPU over one core, and over all cores of the machine."""
    ns, cores = solution("04_gpu_training"), torch.get_num_threads()
    source = {"source": "A: training is at least 10x faster on GPUs than on CPUs", "seed_value": 10}
    by_width = {}
    torch.set_num_threads(1)
    for width in (32, 64, 128, 256, 512, 1024, 2048):
        step = {where: ns["two_layers"](width, where) for where in ("cpu", "cuda")}
        by_width[width] = versus(step["cpu"], step["cuda"])
        print(f"  width {width}: {by_width[width][1]:.2f} x one core", flush=True)
    keep_crossover({width: round(ratio[1], 2) for width, ratio in by_width.items()})
    note = f"At width 32 it is {by_width[32][1]:.2f} x, at 256 {by_width[256][1]:.1f} x: only large work is faster."
    claim = "training is faster on a GPU than on a CPU (a step of two layers of width 2048, GPU over one core)"
    card("04_gpu_training", "gpu_speedup_measured", claim, by_width[2048], note, **source)
    threads = max(1, int(_machine.cores()))
    torch.set_num_threads(threads)
    step = {where: ns["two_layers"](2048, where) for where in ("cpu", "cuda")}
    claim = f"the same step, GPU over all {threads} cores of its machine"
    note = "The fair comparison: a server's processor is not one core."
    card("04_gpu_training", "gpu_speedup_all_cores", claim, versus(step["cpu"], step["cuda"]), note, **source)
    torch.set_num_threads(cores)


def keep_crossover(ratios: dict[int, float]) -> None:
    """Keep how many times as fast as one core the GPU is, by width: lab 04 draws it beside its models."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    kept["crossover"] = {str(width): ratio for width, ratio in ratios.items()}
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def memory() -> None:
    """What one core and the GPU read and write a second, and where the GPU's ridge is."""
    ns = solution("04_gpu_training")
    torch.set_num_threads(1)
    core = [ns["peaks"]("cpu")[1] for _ in SEEDS]
    roofs = [ns["peaks"]("cuda", n=8192, numbers=1 << 26) for _ in SEEDS]
    ratio = [fast[1] / slow for fast, slow in zip(roofs, core, strict=True)]
    tera = np.median([width for _, width in roofs]) / 1e12
    card(
        "04_gpu_training",
        "bandwidth_measured",
        "a GPU reads its memory faster than a CPU (triad, GPU over one core)",
        quartiles(ratio),
        f"{tera:.2f} TB/s on the GPU; all cores together read faster than one.",
        source="D: GPUs have memory of wide bandwidth",
        n=len(ratio),
    )
    card(
        "04_gpu_training",
        "ridge_measured",
        "work below this intensity is bound by memory on a GPU (FLOP a byte at its ridge in float32)",
        quartiles([peak / width for peak, width in roofs]),
        f"{np.median([peak for peak, _ in roofs]) / 1e12:.0f} Tflop/s in float32, no TF32. In 16 bits it lies higher.",
        source="A: one has to be careful that the GPU does not become bandwidth-bound",
        unit="",
        n=len(roofs),
    )


def quartiles(values: list[float]) -> Ratio:
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return float(low), float(middle), float(high)


def narrow_products() -> None:
    """Matrix products of 4096 in float32, bfloat16, int8 and E4M3, all in turns."""
    at = torch.randn(4096, 4096, device="cuda")
    half, whole = at.bfloat16(), (30 * at).clamp(-127, 127).to(torch.int8)
    ways: dict[str, Callable[[], Any]] = {
        "float32": lambda: at @ at,
        "bf16": lambda: half @ half,
        "int8": lambda: torch._int_mm(whole, whole.t()),
        "int8 by rows": lambda: torch._int_mm(whole, whole),
    }
    if torch.cuda.get_device_capability() >= (8, 9):
        tiny, one = at.to(torch.float8_e4m3fn), torch.ones((), device="cuda")
        ways["E4M3"] = lambda: torch._scaled_mm(tiny, tiny.t(), one, one, out_dtype=torch.bfloat16)
    found = compare(ways, repeat=ROUNDS)
    print(found, flush=True)
    others = ", ".join(
        f"{name} {found.ratio('float32', name)[1]:.1f} x" for name in ways if name not in ("float32", "int8")
    )
    card(
        "03_number_formats",
        "int8_speed_gpu",
        "8-bit integers multiply faster than float32 on a GPU (4096 x 4096 x 4096)",
        found.ratio("float32", "int8"),
        f"Tensor Cores against float32 without TF32, both by cuBLAS. In the same turns: {others}.",
        source="D: three times on a CPU by fixed-point arithmetic (Vanhoucke 2011)",
        seed_value=3,
    )


def tensor_cores() -> None:
    """A training step of four layers of width 4096, in float32, TF32 and under autocast to bfloat16."""
    wide = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(4)]).to("cuda")
    batch = torch.randn(4096, 4096, device="cuda")

    def step(precision: str = "highest", *, autocast: bool = False) -> None:
        torch.set_float32_matmul_precision(precision)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=autocast):
            loss = wide(batch).float().square().mean()
        loss.backward()
        wide.zero_grad()
        torch.set_float32_matmul_precision("highest")

    found = compare(
        {"float32": step, "TF32": lambda: step("high"), "bfloat16": lambda: step(autocast=True)}, repeat=ROUNDS
    )
    print(found, flush=True)
    card(
        "07_mixed_precision",
        "step_speed_gpu",
        "Tensor Cores speed up training (a step of four layers of width 4096, float32 over bfloat16 autocast)",
        found.ratio("float32", "bfloat16"),
        f"TF32, which keeps float32 tensors, in the same turns: {found.ratio('float32', 'TF32')[1]:.1f} x. "
        "12 x compares Volta with the generation before.",
        source="A: Volta is 12x faster thanks to TensorCores",
        seed_value=12,
    )


def slow_loop() -> None:
    """Lab 04's two loops over the digits, on the GPU."""
    ns, digits = solution("04_gpu_training"), load("digits")
    data = torch.tensor(digits.train.x)[:, None], torch.tensor(digits.train.y)

    def run(name: str) -> Callable[[], Any]:
        start = ns["make_training"](0, "cuda")
        return lambda: ns[name](*start, *data, "cuda", epochs=1, batch_size=32)

    card(
        "04_gpu_training",
        "slow_loop_gpu",
        "six habits slow a training loop down (time of an epoch, with over without, on a GPU)",
        versus(run("slow_training"), run("fast_training"), 11),
        "A batch of 32 digits is little work: both loops wait for the host most of the time.",
        n=11,
    )


def sparse_layer() -> None:
    """A pruned layer for one input and for 64: CSR against dense."""
    w = torch.randn(8192, 8192, device="cuda")
    w *= torch.rand_like(w) < 0.07
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wide = w.to_sparse_csr()
        narrow = wide.crow_indices().int(), wide.col_indices().int()
        csr = torch.sparse_csr_tensor(*narrow, wide.values(), wide.shape)
    found = {}
    for rows in (1, 64):
        x = torch.randn(8192, rows, device="cuda")
        x = x[:, 0].contiguous() if rows == 1 else x
        found[rows] = versus(partial(torch.matmul, w, x), partial(torch.matmul, csr, x))
    card(
        "08_deep_compression",
        "speed_gpu",
        "a sparse layer is faster on a GPU (8192 x 8192, 7 % of the weights, one input, CSR against dense)",
        found[1],
        f"With 64 inputs {found[64][1]:.2f} x: dense products then reach the arithmetic units, sparse ones do not. "
        "The sparse product takes hardly longer than its launch, so runs differ: docs/gpu.md has the lab's own cell.",
        source="Han, Mao & Dally 2016: pruned layers, batch 1, on average",
        seed_value="3 to 4",
    )


def one_graph() -> None:
    """512 small networks in one graph against one of them."""
    ns = solution("10_search", also=("train_together",))
    ns["torch"] = torch  # which the lab imports in a cell of another kind
    rates = np.geomspace(1e-4, 10, 512).astype("f")
    together = ns["train_together"]
    ratio = versus(lambda: together(rates, 2, "cuda"), lambda: together(rates[:1], 2, "cuda"), 11)
    per_network = (512 / ratio[2], 512 / ratio[1], 512 / ratio[0])
    card(
        "10_search",
        "one_graph_gpu",
        "networks trained in one graph share a GPU (networks a second, 512 at once over one alone)",
        per_network,
        "Networks of 64, 32 and 10 units: one alone leaves the GPU idle between launches.",
        source="D: models trained in parallel as an ensemble, their outputs aggregated",
        n=11,
    )


def recomputing() -> None:
    """A chain of 256 layers on the GPU: the allocator's peak and the time, with `even_cuts` and with all kept."""
    ns, layers, width = solution("06_memory"), 256, 1024
    small = width**-0.5
    weights = [(small * torch.randn(width, width, device="cuda")).requires_grad_() for _ in range(layers)]
    functions, x = ns["tanh_layers"](weights), torch.randn(8192, width, device="cuda")

    def step(cuts: list[int]) -> Callable[[], None]:
        def run() -> None:
            for w in weights:
                w.grad = None
            ns["checkpoint_chain"](functions, x, cuts).sum().backward()

        return run

    kept, again = step(list(range(1, layers + 1))), step(ns["even_cuts"](layers))
    bytes_of = {run: _peak(run) for run in (kept, again)}
    saved = bytes_of[kept] / bytes_of[again]
    slower = versus(again, kept, 7)
    print(f"  peaks {bytes_of[kept] / 2**30:.2f} and {bytes_of[again] / 2**30:.2f} GiB", flush=True)
    card(
        "06_memory",
        "square_root_gpu",
        "segments of square-root length save a GPU's memory (the allocator's peak, all kept over in segments)",
        (saved, saved, saved),
        f"256 layers of width 1024, a batch of 8192: {bytes_of[kept] / 2**30:.1f} GiB and "
        f"{bytes_of[again] / 2**30:.1f}, weights and gradients not counted; the step takes {slower[1]:.2f} x as long. "
        "The same peak in every run.",
        source="C: sqrt(n), while requiring one extra forward pass in total",
        spread=None,
        n=1,
    )


def _peak(run: Callable[[], None]) -> int:
    """Return the largest number of bytes allocated during a run, over what stays allocated after it."""
    run()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


if __name__ == "__main__":
    raise SystemExit(main())
