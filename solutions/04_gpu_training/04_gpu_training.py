# %% [markdown]
# # 04. What bounds a training step
#
# **What bounds a training step, and when does a GPU pay?**
# A chip computes so many operations a second, and its memory delivers so many bytes.
# Which of the two your code waits for can be counted on paper, before you optimise anything.
# You count it here, draw it, measure it without fooling yourself,
# step through the circuit inside a TPU, and repair a training loop that wastes most of its time.

# %% [markdown]
# | | |
# |---|---|
# | Prerequisites | PyTorch: modules and training loops (lab 02), threads |
# | Time | about 5 hours, in two sittings: what a chip can do (Tasks 1 to 5), and what your loop makes of it (the rest) |
# | Points | 20: 16 from checks, 4 from two written answers |
# | Hardware | one CPU core; with a GPU, the last experiment measures what it otherwise models |
# | Source | A, a lecture on scalable machine learning (`docs/claims.md` compares its numbers with ours) |

# %% [markdown]
# ## How this notebook works
#
# Each task asks for one function or class: replace each line that raises `NotImplementedError`, keep name and arguments.
# Then run the look cell and the check below it, and read the first case that fails.
# Hidden cases test what the text promises, with other numbers, when your work is graded.
# Your functions change no result that they have returned before.
# No check looks at a clock: seconds are shown, counts are graded.
# Cells that begin with `# explore` are yours to change and are not run then:
# a helper or an import that a task needs belongs in the task's cell, and your own plots are read as saved.

# %% nbgrader={"grade_id": "setup", "locked": true}
import math
import queue
import threading
import time

import numpy as np
import torch
from torch import nn

from labkit import bench, check, compare, count, device, load, plot, result_card

# One core: what it does is easier to understand than what two share.
torch.set_num_threads(1)
digits = load("digits")
print(digits)

# %% [markdown]
# ## Count before you measure
#
# ### Task 1. FLOPs and bytes (2 points)
#
# A *FLOP* is one addition or multiplication of two numbers.
# The least that an operator $y = \mathrm{op}(a, b)$ must move is $a$ and $b$ in and $y$ out, each once.
#
# | op | shapes | $y$ | FLOPs |
# |---|---|---|---|
# | `"multiply"` | $a$, $b$: equal | the same | one an entry of $y$ |
# | `"matmul"` | $a$: $(m, k)$, $b$: $(k, n)$ | $(m, n)$ | $2k$ an entry of $y$ |
# | `"conv"` | $a$: $(n, c, h, w)$, $b$: $(o, c, r, s)$ | $(n, o, h-r+1, w-s+1)$ | $2crs$ an entry of $y$ |

# %% [markdown]
# A convolution slides $o$ windows of $r \times s$ weights over the $c$ channels of an image (the numbers at each of its places, such as red, green and blue; inside a network
# the output of each window is a channel of the next image), one place at a time
# (stride 1), inside of it only (no padding).
# A sum of $k$ products counts as $k$ multiplications and $k$ additions.

# %% [markdown]
# All three are linear in $a$ and linear in $b$, so their way back is alike:
# one operator of the same cost makes $da$ from $dy$ and $b$, another makes $db$ from $dy$ and $a$.
# Each touches three arrays of the same three shapes.
# So backward costs twice the FLOPs and twice the bytes of forward.
#
# `flops_and_bytes(op, a, b, backward, itemsize)` takes two shapes
# and returns two whole numbers, of the way forward, or of the way back alone if `backward` is true.
# `itemsize` is the bytes of one number.
# For `"matmul"`, `(2, 3)` and `(3, 4)` they are `48` and `104`. An unknown op raises `ValueError`.
# About 13 lines.


# %% nbgrader={"grade_id": "flops-and-bytes", "solution": true}
def flops_and_bytes(
    op: str,
    a: tuple[int, ...],
    b: tuple[int, ...],
    backward: bool = False,
    itemsize: int = 4,
) -> tuple[int, int]:
    """Return the FLOPs of op on shapes a and b, and the least bytes moved."""
    ### BEGIN SOLUTION
    if op == "multiply":
        y, each = a, 1
    elif op == "matmul":
        y, each = (a[0], b[1]), 2 * a[1]
    elif op == "conv":
        y = (a[0], b[0], a[2] - b[2] + 1, a[3] - b[3] + 1)
        each = 2 * b[1] * b[2] * b[3]
    else:
        raise ValueError(f"unknown operator {op!r}")
    times = 2 if backward else 1
    moved = math.prod(a) + math.prod(b) + math.prod(y)
    return times * each * math.prod(y), times * moved * itemsize
    ### END SOLUTION


# %% explore=true
operators = {
    "multiply, a million numbers": ("multiply", (1_000_000,), (1_000_000,)),
    "matmul, one row": ("matmul", (1, 1024), (1024, 1024)),
    "matmul, 64 rows": ("matmul", (64, 1024), (1024, 1024)),
    "matmul, 1024 rows": ("matmul", (1024, 1024), (1024, 1024)),
    "conv, 1 channel to 8": ("conv", (32, 1, 28, 28), (8, 1, 3, 3)),
    "conv, 64 channels to 64": ("conv", (32, 64, 28, 28), (64, 64, 3, 3)),
}
print(f"{'':28} {'MFLOP':>8} {'MB':>7} {'FLOP a byte':>12}")
intensities = []
for name, sizes in operators.items():
    flops, moved = flops_and_bytes(*sizes)
    each = flops / moved
    intensities.append(each)
    print(f"{name:28} {flops / 1e6:8.1f} {moved / 1e6:7.2f} {each:12.2f}")
spans = max(intensities) / min(intensities)
print(f"largest over smallest: {spans:,.0f}")

# %% [markdown]
# The last column is the *arithmetic intensity*: how much work each byte brings along.
# From one operator to another it spans three powers of ten.
# One row times a matrix uses each weight once; 1024 rows use each weight 1024 times.
# For a linear layer it is the batch that raises the intensity;
# for a convolution the channels do so as well.

# %% nbgrader={"grade_id": "flops-and-bytes-check", "grade": true, "points": 2}
import torch
from torch.utils.flop_counter import FlopCounterMode

from labkit import check

BACK = "the way back alone, without the one forward: how many operators is it?"


def counted_by_torch(operator, a, b):
    """Return PyTorch's own count, forward and backward, for these shapes."""
    left, right = (
        torch.ones(a, requires_grad=True),
        torch.ones(b, requires_grad=True),
    )
    with FlopCounterMode(display=False) as forward:
        y = operator(left, right)
    with FlopCounterMode(display=False) as backward:
        y.sum().backward()
    return forward.get_total_flops(), backward.get_total_flops()


with check.case(
    "the worked example",
    hint=(
        "FLOPs: how many products and sums make an entry of y? bytes: "
        "which arrays move, of which shapes?"
    ),
    more="both numbers, FLOPs first: 2 k m n, and 4 bytes each",
):
    flops, moved = flops_and_bytes("matmul", (2, 3), (3, 4))
    check.close(flops, 48, rtol=0, name="FLOPs")
    check.close(moved, 104, rtol=0, name="bytes")
with check.case(
    "multiply: one FLOP an entry, three arrays",
    hint=(
        "FLOPs: how many for an entry of y? bytes: which arrays move, "
        "of how many numbers each?"
    ),
):
    flops, moved = flops_and_bytes("multiply", (5, 7), (5, 7))
    check.close(flops, 35, rtol=0, name="FLOPs")
    check.close(moved, 420, rtol=0, name="bytes")
with check.case(
    "matmul: FLOPs as torch.utils.flop_counter counts them",
    hint=(
        "what is one entry of y made of, and how many entries has it? "
        "which sides do both shapes share?"
    ),
    more=(
        "2 k for each of the m n entries; "
        "with backward=True twice that, not three times"
    ),
    essential=True,
):
    shapes = (6, 5), (5, 9)
    forward, backward = counted_by_torch(torch.matmul, *shapes)
    check.close(
        flops_and_bytes("matmul", *shapes)[0], forward, rtol=0, name="forward"
    )
    check.close(
        flops_and_bytes("matmul", *shapes, True)[0],
        backward,
        rtol=0,
        name="backward",
        hint=BACK,
    )
with check.case(
    "conv: FLOPs as torch.utils.flop_counter counts them",
    hint=(
        "an entry of y is a sum over which window and channels? how "
        "many windows fit, down and across?"
    ),
    more=(
        "2 c r s for each entry of y; "
        "y is smaller than the image by r - 1 and s - 1"
    ),
    essential=True,
):
    shapes = (2, 3, 9, 8), (4, 3, 2, 5)
    forward, backward = counted_by_torch(torch.nn.functional.conv2d, *shapes)
    check.close(
        flops_and_bytes("conv", *shapes)[0], forward, rtol=0, name="forward"
    )
    check.close(
        flops_and_bytes("conv", *shapes, True)[0],
        backward,
        rtol=0,
        name="backward",
        hint=BACK,
    )
with check.case(
    "an unknown op raises ValueError",
    hint=(
        "is the op looked up by its name, and what happens when it is "
        "none of the three?"
    ),
    guard=True,
):
    check.raises(ValueError, flops_and_bytes, "softmax", (2, 3), (3, 4))
    shapes = (1, 1, 4, 4), (1, 1, 3, 3)
    check.raises(ValueError, flops_and_bytes, "pool", *shapes)
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "conv: the bytes of image, filters and result",
    hint=(
        "conv, all sides different: bytes: numbers of which arrays, "
        "each once? FLOPs: entries of y, times what?"
    ),
):
    sizes = 6 * 2 * 9 * 8 + 5 * 2 * 3 * 4 + 6 * 5 * 7 * 5
    flops, moved = flops_and_bytes("conv", (6, 2, 9, 8), (5, 2, 3, 4))
    check.close(moved, 4 * sizes, rtol=0, name="bytes")
    check.close(flops, 2 * 2 * 3 * 4 * 6 * 5 * 7 * 5, rtol=0, name="FLOPs")
with check.hidden_case(
    "large counts, to the last digit",
    hint=(
        "very large sides: are both counts whole numbers throughout, to"
        " the last digit?"
    ),
):
    side = 1_000_003
    flops, moved = flops_and_bytes("matmul", (side, side), (side, side))
    check.equal(flops, 2 * side**3, name="FLOPs")
    check.equal(moved, 12 * side**2, name="bytes")
with check.hidden_case(
    "backward: twice the bytes, and twice the FLOPs, of each operator",
    hint=(
        "backward, every op: how many operators of the forward's cost, "
        "in FLOPs and in bytes?"
    ),
):
    for op, a, b, numbers, forward in (
        ("multiply", (11,), (11,), 33, 11),
        ("matmul", (2, 3), (3, 4), 26, 48),
        ("conv", (1, 1, 4, 4), (1, 1, 3, 3), 29, 72),
    ):
        flops, moved = flops_and_bytes(op, a, b, True)
        check.close(moved, 8 * numbers, rtol=0, name=f"bytes of {op}")
        check.close(flops, 2 * forward, rtol=0, name=f"FLOPs of {op}")
with check.hidden_case(
    "numbers of other sizes",
    hint=(
        "an itemsize is given: which of the two numbers depends on it, "
        "forward and back, and how?"
    ),
):
    flops, moved = flops_and_bytes("matmul", (4, 8), (8, 2), itemsize=2)
    check.close(moved, 2 * (32 + 16 + 8), rtol=0, name="bytes")
    check.close(flops, 128, rtol=0, name="FLOPs")
    flops, moved = flops_and_bytes("multiply", (3,), (3,), True, 8)
    check.close(moved, 2 * 8 * 9, rtol=0, name="bytes of the way back")
    check.close(flops, 6, rtol=0, name="FLOPs of the way back")
with check.hidden_case(
    "rectangular matrices",
    hint=(
        "a is (m, k), b is (k, n): which side has y, which the sum? "
        "does each array move whole?"
    ),
):
    check.close(
        flops_and_bytes("matmul", (1, 100), (100, 7)), (1400, 4 * 807), rtol=0
    )
with check.hidden_case(
    "multiply: arrays with any number of axes",
    hint=(
        "any number of axes, or one: how many numbers in all? FLOPs and"
        " bytes, for each of the three arrays?"
    ),
):
    check.close(
        flops_and_bytes("multiply", (2, 3, 4), (2, 3, 4)), (24, 288), rtol=0
    )
    check.close(flops_and_bytes("multiply", (1,), (1,)), (1, 12), rtol=0)
with check.hidden_case(
    "large matrices: every digit of the FLOPs",
    hint=(
        "sides of thousands: in which type are FLOPs and bytes counted,"
        " and do they fit?"
    ),
):
    flops, moved = flops_and_bytes("matmul", (4097, 4096), (4096, 4096))
    check.close(flops, 2 * 4097 * 4096**2, rtol=0, atol=0, name="FLOPs")
    check.close(
        moved, 4 * (2 * 4097 * 4096 + 4096**2), rtol=0, atol=0, name="bytes"
    )
with check.hidden_case(
    "an unknown op raises ValueError, whatever the shapes are",
    hint=(
        "other names, also ones that contain a known one: is the whole "
        "name compared, before the shapes?"
    ),
    guard=True,
):
    for op, a, b in (
        ("add", (5, 7), (5, 7)),
        ("matmuls", (2, 3), (3, 4)),
        ("correlate", (1, 1, 4, 4), (1, 1, 3, 3)),
    ):
        check.raises(ValueError, flops_and_bytes, op, a, b, True)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 2. The roofline (1 point)
#
# A machine has a peak $P$ in FLOP/s and a bandwidth $B$ in bytes/s.
# If it computes and moves at the same time, an operator takes at least
# $\max(\text{FLOPs}/P,\ \text{bytes}/B)$ seconds.
# Where the first is the larger the operator is *compute-bound*, else *memory-bound*.
# The two meet at the *ridge*, $P/B$ FLOP a byte (Williams, Waterman & Patterson 2009).
#
# `roofline(peak, bandwidth, flops, moved)` returns the seconds
# and `"compute"` or `"memory"`; at the ridge itself `"compute"`.
# With a peak of 100, a bandwidth of 10, 400 FLOPs and 20 bytes they are `4.0` and `"compute"`.
# About 4 lines.


# %% nbgrader={"grade_id": "roofline", "solution": true}
def roofline(
    peak: float, bandwidth: float, flops: float, moved: float
) -> tuple[float, str]:
    """Return the least seconds for this work, and which roof sets them."""
    ### BEGIN SOLUTION
    computing, moving = flops / peak, moved / bandwidth
    if computing >= moving:
        return computing, "compute"
    return moving, "memory"
    ### END SOLUTION


# %% nbgrader={"grade_id": "roofline-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "the worked example",
    hint=(
        "which two times are compared, each of what over what? which "
        "one, and which name, come back?"
    ),
):
    seconds, bound = roofline(100.0, 10.0, 400, 20)
    check.close(seconds, 4.0, name="seconds")
    check.equal(bound, "compute", name="bound")
with check.case(
    "few FLOPs, many bytes",
    hint=(
        "which of the two times is longer here? are these the seconds, "
        "and is its name spelt as in the text?"
    ),
    more="the seconds are bytes / bandwidth",
    essential=True,
):
    seconds, bound = roofline(100.0, 10.0, 400, 80)
    check.close(seconds, 8.0, name="seconds")
    check.equal(bound, "memory", name="bound")
with check.case(
    "at the ridge it is compute",
    hint="both times are equal here: which name does the text give then?",
):
    seconds, bound = roofline(64.0, 4.0, 32, 2)
    check.close(seconds, 0.5, name="seconds")
    check.equal(bound, "compute", name="bound")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "a copy has no FLOPs",
    hint=(
        "no FLOPs: which two times are compared, and is anything "
        "divided by the FLOPs or the intensity?"
    ),
):
    took, roof = roofline(1e12, 5e9, 0, 1e9)
    check.close(took, 0.2, name="seconds")
    check.equal(roof, "memory", name="bound")
with check.hidden_case(
    "computing and moving overlap",
    hint=(
        "both times count: are they added, or does one of them decide? "
        "which one, and its name?"
    ),
):
    took, roof = roofline(2e12, 4e11, 3e9, 5e8)
    check.close(took, 1.5e-3, name="seconds")
    check.equal(roof, "compute", name="bound")
with check.hidden_case(
    "nothing moved",
    hint=(
        "no bytes: which two times are compared, and is anything "
        "divided by the bytes?"
    ),
):
    took, roof = roofline(1e9, 1e9, 1e6, 0)
    check.close(took, 1e-3, name="seconds")
    check.equal(roof, "compute", name="bound")
with check.hidden_case(
    "a little beside the ridge",
    hint=(
        "close to the ridge: are the times compared themselves, "
        "unrounded, and returned so?"
    ),
):
    for flops, moved, seconds, bound in (
        (600.9, 14.0, 600.9 / 300.3, "compute"),
        (600.9, 14.03, 14.03 / 7.007, "memory"),
    ):
        took, roof = roofline(300.3, 7.007, flops, moved)
        check.close(took, seconds, name="seconds")
        check.equal(roof, bound, name="bound")
    took, roof = roofline(300.0, 7.0, 600, 14.0 + 2e-8)
    check.equal(roof, "memory", name="bound a billionth beside the ridge")
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### Your core's roof, measured, and two cards' roofs from their data sheets
#
# The peak of your core is the best that a large matrix product gets, or an operator of the table below, if one gets more.
# Its bandwidth comes from $z = x + 3y$ on large arrays, the *triad* of McCalpin's STREAM (1995).
# (`multiply` sets it, if that gets more.)
# The numbers for the GPUs are their maker's: nobody reaches them quite.
# Tensor Cores are units of a GPU that multiply small matrices of 2-byte numbers;
# PCIe is the bus between host and card.

# %% nbgrader={"grade_id": "data-sheets", "locked": true}
# FLOP/s (not the double that sheets print for weights of which half are 0),
# bytes/s of its memory,
# bytes/s from the host (PCIe 3 and 5, one way)
DATA_SHEETS = {
    "V100, float32": (15.7e12, 0.9e12, 16e9),
    "V100, Tensor Cores": (125e12, 0.9e12, 16e9),
    "H200, bfloat16": (989e12, 4.8e12, 64e9),
}


def peaks(
    where: str = "cpu", n: int = 1024, numbers: int = 1 << 25
) -> tuple[float, float]:
    """Return FLOP/s of an n x n product in float32, and bytes/s of a triad."""
    a, b = torch.rand(2, n, n, device=where)
    x, y, z = torch.ones(3, numbers, device=where)
    product = bench(lambda: torch.mm(a, b), repeat=5)
    triad = bench(lambda: torch.add(x, y, alpha=3.0, out=z), repeat=5)
    return 2 * n**3 / product.median_s, 3 * 4 * numbers / triad.median_s


# %% explore=true
peak, bandwidth = peaks()
print(
    f"this core, by one product and one sum: {peak / 1e9:.0f} GFLOP/s "
    f"and {bandwidth / 1e9:.1f} GB/s"
)
roofs = {}  # this core's, when its operators have been timed
if device() != "cpu":
    roofs[f"{device()}, float32, measured"] = peaks(
        device(), n=8192, numbers=1 << 26
    )
roofs |= {name: sheet[:2] for name, sheet in DATA_SHEETS.items()}
for name, (top, width) in roofs.items():
    print(f"{name:23} ridge at {top / width:6.1f} FLOP a byte")

# %% explore=true
timed = {}
for n in (4, 16, 64, 1024):
    a, b = torch.rand(2, n, n)
    timed[f"matmul {n}"] = (
        flops_and_bytes("matmul", a.shape, b.shape),
        bench(torch.mm, a, b),
    )
row, square = torch.rand(1, 4096), torch.rand(4096, 4096)
timed["one row"] = (
    flops_and_bytes("matmul", row.shape, square.shape),
    bench(torch.mm, row, square),
)
x, y, z = torch.ones(3, 1 << 24)
size = flops_and_bytes("multiply", x.shape, y.shape)
timed["multiply"] = size, bench(lambda: torch.mul(x, y, out=z))
images_in, filters = torch.rand(16, 32, 28, 28), torch.rand(64, 32, 3, 3)
size = flops_and_bytes("conv", images_in.shape, filters.shape)
timed["conv"] = size, bench(torch.conv2d, images_in, filters)

# %% explore=true
fastest_s = {name: min(t.samples_s) for name, (_, t) in timed.items()}
best = {name: timed[name][0][0] / s for name, s in fastest_s.items()}
if max(best.values()) > peak:
    peak = max(best.values())
    print(f"{max(best, key=best.get)} gets more: {peak / 1e9:.0f} GFLOP/s")
bandwidth = max(bandwidth, timed["multiply"][0][1] / fastest_s["multiply"])
roofs = {"this core, measured": (peak, bandwidth), **roofs}
print(f"this core's ridge: {peak / bandwidth:.1f} FLOP a byte")

# %% explore=true
intensity = 10.0 ** np.linspace(-1.5, 3, 60)
lines = {}
for name, (top, width) in roofs.items():
    seconds = [roofline(top, width, value, 1)[0] for value in intensity]
    lines[name] = (intensity, intensity / np.array(seconds) / 1e9)
words = {
    "title": "Rooflines, and what your core reaches under its own",
    "xlabel": "FLOP a byte",
    "ylabel": "GFLOP/s",
    "logx": True,
    "logy": True,
}
reached = [
    (flops / moved, best[name] / 1e9)
    for name, ((flops, moved), _) in timed.items()
]
ax = plot.curves(lines, **words)
ax.figure.set_size_inches(8.5, 4.5)
plot.scatter(
    {"operators, measured": tuple(zip(*reached, strict=True))},
    names={"operators, measured": list(timed)},
    ax=ax,
    **words,
)
ax.collections[-1].set(sizes=[55], facecolor="black", alpha=1, zorder=4)
for text in ax.texts:
    text.set(zorder=5, bbox={"color": "white", "alpha": 0.75, "pad": 0.5})

# %% explore=true
print("operator        FLOP a byte   GFLOP/s   of this core's roof")
for name, ((flops, moved), _) in timed.items():
    seconds, bound = roofline(peak, bandwidth, flops, moved)
    print(
        f"{name:14} {flops / moved:12.2f} {best[name] / 1e9:9.2f}"
        f" {seconds / fastest_s[name]:8.0%}, {bound}"
    )

# %% [markdown]
# Left of its ridge each roof is a slope: more bytes a second would help, more FLOP/s would not.
# Right of it the roof is flat.
#
# * Products of side 4 and 16 stay far below it: they wait for neither, but for Python and the library to start them.
# * The operator that gets most sets the flat roof: one product by one library need not be the best that the core can do,
#   and the large product here may stay far below it.
# * Any with more than 100 % under the slope: a cache holds what is read, `one row`'s matrix for example,
#   or another program ran while the slope was measured.

# %% [markdown]
# The two V100 roofs share one slope.
# Tensor Cores multiply the peak by eight and move the ridge by as much, from 17 to 139 FLOP a byte:
# with the same bytes, whatever lies left of 17 gains nothing from them.
# (*12x thanks to Tensor Cores*, in source A, is against the card before, which had 10.6 TFLOP/s in float32.)

# %% [markdown]
# ## Measure without fooling yourself
#
# A GPU is *asynchronous*.
# A call launches work: it puts it into the GPU's queue and returns at once, long before the work is done.
#
# ![Two time lines. Above, the host: launch, launch, then a naive timer that stops at once. Below, the device: idle, then work that ends much later; a second timer stops there, after synchronise.](figures/timeline.svg)
#
# `Stream`, below, behaves like one, with a simulated clock: nothing sleeps, and every run gives the same numbers.
# `launch(seconds)` takes 5 µs of the host's time and queues work that takes the device `seconds`.
# `synchronise()` waits until the queue is empty.


# %% nbgrader={"grade_id": "stream", "locked": true}
class Stream:
    """A device with a queue; its clock moves only when something happens."""

    def __init__(self) -> None:
        self.now, self.free_at = 0.0, 0.0

    def launch(self, seconds: float) -> None:
        """Queue work; return before it is done."""
        self.now += 5e-6
        self.free_at = max(self.free_at, self.now) + seconds

    def synchronise(self) -> None:
        """Wait until the queue is empty."""
        self.now = max(self.now, self.free_at)

    def clock(self) -> float:
        """Return the seconds so far, as time.perf_counter() would."""
        return self.now


# %% [markdown]
# ### Task 3. A benchmark that waits (2 points)
#
# `measure(fn, clock, synchronise, warmup, repeat)` calls `fn()` first `warmup` times, not counted:
# first calls compile, allocate and fill caches.
# Then it takes `repeat` samples of one call each.
# For each sample synchronise, read the clock, call `fn()`, synchronise, read the clock:
# the first wait keeps older work out, also what others queue between two samples; the second keeps this work in.
#
# It returns three numbers: median, first and third quartile of the samples
# (below which half, a quarter and three quarters of them lie), in seconds,
# as `np.percentile` computes them.
# Samples of 1, 2, 3, 4 and 100 ms give `(0.003, 0.002, 0.004)`: one interruption changes nothing.
# About 10 lines.


# %% nbgrader={"grade_id": "measure", "solution": true}
def measure(
    fn, clock, synchronise, warmup: int = 2, repeat: int = 9
) -> tuple[float, float, float]:
    """Return median, first and third quartile of the seconds fn() takes."""
    ### BEGIN SOLUTION
    for _ in range(warmup):
        fn()
    samples = []
    for _ in range(repeat):
        synchronise()
        start = clock()
        fn()
        synchronise()
        samples.append(clock() - start)
    low, middle, high = np.percentile(samples, [25, 50, 75])
    return float(middle), float(low), float(high)
    ### END SOLUTION


# %% explore=true
def timer(wait_before: bool, wait_after: bool) -> float:
    """Time 1 ms of work on a stream that still has 20 ms in its queue."""
    stream = Stream()
    stream.launch(0.020)
    if wait_before:
        stream.synchronise()
    start = stream.clock()
    stream.launch(0.001)
    if wait_after:
        stream.synchronise()
    return stream.clock() - start


# %% explore=true
stream = Stream()
stream.launch(0.020)
found = {
    "no waiting": timer(False, False),
    "wait before": timer(True, False),
    "wait after": timer(False, True),
    "yours": measure(
        lambda: stream.launch(0.001), stream.clock, stream.synchronise
    )[0],
}
milliseconds = {name: 1e3 * seconds for name, seconds in found.items()}
places, heights = np.arange(4), np.array(list(milliseconds.values()))
ax = plot.scatter(
    {"reported": (places, heights)},
    names={"reported": [f"{height:.3g} ms" for height in heights]},
    ylabel="milliseconds",
    title="One millisecond of work, as four timers report it",
    logy=True,
)
ax.set_xticks(places, milliseconds)
_ = ax.axhline(1, color="grey", linestyle=":")

# %% [markdown]
# Without waiting you time the launch: 0.005 ms whatever the work is.
# Waiting only at the end charges this call for the 20 ms that were queued before it.
#
# `labkit.bench` does what yours does, with PyTorch's clock and `torch.cuda.synchronize`.

# %% nbgrader={"grade_id": "measure-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


class Device:
    """Runs its queue call by call; counts launches, which cost host time."""

    def __init__(self, durations, pending=0.0, host=0.0):
        self.durations, self.now, self.free_at = list(durations), 0.0, pending
        self.launches, self.host = 0, host

    def launch(self):
        self.now += self.host
        self.free_at = (
            max(self.free_at, self.now) + self.durations[self.launches]
        )
        self.launches += 1

    def synchronise(self):
        self.now = max(self.now, self.free_at)

    def clock(self):
        return self.now


def measured(durations, pending=0.0, host=0.0, **options):
    """Return what the student's function says, and how many calls it made."""
    queue = Device([*durations, *[9.0] * 20], pending, host)
    return measure(
        queue.launch, queue.clock, queue.synchronise, **options
    ), queue.launches


with check.case(
    "the worked example: median, first quartile, third quartile",
    hint=(
        "how many samples are there, the last too? which three numbers "
        "come back, and in which order?"
    ),
    more="np.percentile takes several percentages at once",
):
    found, calls = measured(
        [0.001, 0.002, 0.003, 0.004, 0.100], warmup=0, repeat=5
    )
    check.close(found, (0.003, 0.002, 0.004), name="median and quartiles")
with check.case(
    "the work is waited for",
    hint=(
        "has the work ended when the clock is read the second time? is "
        "a sample the later less the earlier?"
    ),
    more="synchronise after fn(), before the second look at the clock",
    essential=True,
):
    found, calls = measured([0.25] * 3, warmup=0, repeat=3)
    check.close(found[0], 0.25, name="median")
with check.case(
    "work that was queued before is not charged",
    hint=(
        "what may still run when the clock is read the first time, in "
        "each sample?"
    ),
    more="synchronise before that, in every sample",
    essential=True,
):
    found, calls = measured([0.5], pending=7.0, warmup=0, repeat=1)
    check.close(found, (0.5, 0.5, 0.5), name="median and quartiles")
with check.case(
    "warm-up calls are made and not counted",
    hint=(
        "how many calls come before the samples, and does any of them "
        "become one?"
    ),
):
    found, calls = measured([60.0, 30.0, 0.5, 0.5, 0.5], warmup=2, repeat=3)
    check.close(found, (0.5, 0.5, 0.5), name="median and quartiles")
    check.equal(calls, 5, name="calls of fn")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "each sample is one call",
    hint=(
        "how many calls of fn, in all, for other warmup and repeat? one"
        " to a sample, the last too?"
    ),
):
    for warmup, repeat in ((0, 1), (1, 4), (3, 2)):
        check.equal(
            measured([0.1] * 9, warmup=warmup, repeat=repeat)[1],
            warmup + repeat,
        )
with check.hidden_case(
    "the order of the samples does not matter",
    hint=(
        "samples in any order: which percentiles, of all of them, the "
        "first and the last? returned in order?"
    ),
):
    spent = [0.8, 0.1, 0.4, 0.2, 3.0, 0.3]
    low, middle, high = np.percentile(spent, [25, 50, 75])
    found, calls = measured([5.0, *spent], warmup=1, repeat=6)
    check.close(found, (middle, low, high), name="median and quartiles")
with check.hidden_case(
    "warm-up work does not leak into the first sample",
    hint=(
        "a warm-up call may still run: what happens before the first "
        "look at the clock?"
    ),
):
    found, calls = measured([40.0, 0.75], warmup=1, repeat=1)
    check.close(found[0], 0.75, name="median")
with check.hidden_case(
    "what others queue between two samples is not charged",
    hint=(
        "others queue work between samples: does each sample wait, and "
        "then look at the clock anew?"
    ),
):

    class Shared(Device):
        """Others queue 7 s of work after each second look at the clock."""

        looks = 0

        def clock(self):
            self.looks += 1
            if self.looks % 2 == 0:
                self.free_at = self.now + 7.0
            return self.now

    shared = Shared([0.5] * 4)
    found = measure(
        shared.launch, shared.clock, shared.synchronise, warmup=0, repeat=4
    )
    check.close(found, [0.5, 0.5, 0.5], name="median, quartiles")
with check.hidden_case(
    "the host's time to start the work counts",
    hint=(
        "starting the work takes time, too: on which side of fn() is "
        "the first look at the clock?"
    ),
):
    found, calls = measured([0.25] * 3, host=0.125, warmup=1, repeat=2)
    check.close(found, (0.375, 0.375, 0.375), name="median and quartiles")
with check.hidden_case(
    "microseconds keep their digits",
    hint=(
        "times of microseconds: is anything rounded or narrowed before "
        "it is returned?"
    ),
):
    found, calls = measured([3.25e-6, 1.5e-6, 7.125e-6], warmup=0, repeat=3)
    check.close(
        found,
        (3.25e-6, 2.375e-6, 5.1875e-6),
        atol=0,
        name="median and quartiles",
    )
with check.hidden_case(
    "two warm-up calls and nine samples, if nobody says otherwise",
    hint=(
        "nothing is said of warmup and repeat: are the stub's defaults "
        "as they were?"
    ),
    weight=0.5,
):
    found, calls = measured(
        [60.0, 30.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    )
    check.equal(calls, 11, name="calls of fn")
    check.close(found, (5.0, 3.0, 7.0), name="median and quartiles")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## Inside the chip: use again what you have fetched
#
# The bytes of Task 1 are the least possible: each number fetched once.
# The textbook's three loops do worse: by the time a row of $b$ is needed again, the cache has dropped it.

# %% [markdown]
# ### Task 4. Multiply in blocks (1 point)
#
# A product of two $n \times n$ matrices is $n^3$ steps $c_{ij} \mathrel{+}= a_{ik} b_{kj}$, in any order.
# Cut $i$, $j$ and $k$ into ranges of `block` indices (the last may be shorter),
# and finish all steps of three ranges before you go on.
# They touch three pieces of at most `block * block` numbers.
# A cache fetches a line of $w$ neighbours at a time.
# If the three pieces fit into it, and `block` divides $n$ and $w$ divides `block`,
# at most $3n^3/(\mathtt{block}\, w)$ lines are fetched in all;
# where something is left over, or lines reach over the edge of a piece, somewhat more.

# %% [markdown]
# `blocked_order(n, block)` returns the list of all $n^3$ triples `(i, j, k)`, each once, in such an order.
# The eight steps of `blocked_order(4, 2)` that come first touch only four numbers of each matrix. About 8 lines.


# %% nbgrader={"grade_id": "blocked-order", "solution": true}
def blocked_order(n: int, block: int) -> list[tuple[int, int, int]]:
    """Return every (i, j, k) below n once, block by block."""
    ### BEGIN SOLUTION
    starts = range(0, n, block)
    order = []
    for i0 in starts:
        for j0 in starts:
            for k0 in starts:
                for i in range(i0, min(i0 + block, n)):
                    for j in range(j0, min(j0 + block, n)):
                        order += [
                            (i, j, k) for k in range(k0, min(k0 + block, n))
                        ]
    return order
    ### END SOLUTION


# %% [markdown]
# A cache of a given number of lines, each holding `width` neighbours of a row.
# A new line replaces the one that was not used for longest (*LRU*).
# `misses` counts the fetches of a whole product.

# %% nbgrader={"grade_id": "cache", "locked": true}


def misses(order, n: int, lines: int, width: int) -> int:
    """Return how many lines c += a b fetches in this order of (i, j, k)."""
    # A dictionary keeps the order in which keys came.
    kept: dict[tuple[str, int], None] = {}
    fetched = 0
    for i, j, k in order:
        for line in (
            ("a", (i * n + k) // width),
            ("b", (k * n + j) // width),
            ("c", (i * n + j) // width),
        ):
            if line in kept:
                del kept[line]
            else:
                fetched += 1
                if len(kept) == lines:
                    del kept[next(iter(kept))]
            kept[line] = None
    return fetched


# %% explore=true
n, lines, width = 64, 128, 8  # 1,024 numbers in the cache, 4,096 in each matrix
blocks = np.array([1, 2, 4, 8, 16, 32, 64])
found = [
    misses(blocked_order(n, int(block)), n, lines, width) for block in blocks
]
fits = blocks[3 * blocks**2 <= lines * width]  # three pieces, in the cache
ax = plot.curves(
    {
        "yours, counted": (blocks, found),
        "bound: 3 n^3 / (block w)": (fits, 3 * n**3 / (fits * width)),
        "each number once": (blocks, np.full(7, 3 * n * n / width)),
    },
    xlabel="block",
    ylabel="cache lines fetched",
    title="The same FLOPs, in other orders",
    logx=True,
    logy=True,
)
full = math.sqrt(lines * width / 3)
ax.axvline(full, color="grey", linestyle=":")
ax.text(1.05 * full, 3e3, "three pieces\nno longer fit")
ax.set_xticks(blocks, blocks)
ax.set_xticks([], minor=True)
a, b, c = np.random.default_rng(0).normal(size=(3, 8, 8))
c[:] = 0
for i, j, k in blocked_order(8, 4):
    c[i, j] += a[i, k] * b[k, j]
print(f"difference from NumPy's product: {np.abs(c - a @ b).max():.0e}")

# %% [markdown]
# Up to 16 larger blocks fetch less, in all some six times less: three blocks of 256 numbers fit.
# At 32 they do not, and all is lost, with the same FLOPs in the same number of steps.
# The block of 64 is the textbook's triple loop, and so is that of 1.
#
# This is how a large matrix product can come near the flat roof:
# libraries cut it into blocks for registers, for each cache and, on a GPU, for the shared memory of its cores.

# %% nbgrader={"grade_id": "blocked-order-check", "grade": true, "points": 1}
from collections import OrderedDict

from labkit import check


def lines_fetched(order, n, capacity, width):
    """Count the misses of a fully associative cache that replaces by LRU."""
    cache, fetched = OrderedDict(), 0
    for i, j, k in order:
        for matrix, row, column in ((0, i, k), (1, k, j), (2, i, j)):
            line = (matrix, (row * n + column) // width)
            if line in cache:
                cache.move_to_end(line)
                continue
            fetched += 1
            cache[line] = True
            if len(cache) > capacity:
                cache.popitem(last=False)
    return fetched


def triples(n, block):
    """Return the student's order as tuples of whole numbers."""
    return [
        tuple(int(index) for index in step) for step in blocked_order(n, block)
    ]


def lines_of(n, block, capacity, width):
    """Return the lines that the order fetches, if it has each step once."""
    order = triples(n, block)
    check.equal(len(set(order)), n**3, name="number of different steps")
    return lines_fetched(order, n, capacity, width)


with check.case(
    "the first eight of blocked_order(4, 2) touch four numbers of each matrix",
    hint=(
        "where does each range of a block end, of i, of j and of k? "
        "which loops run over blocks, which inside one?"
    ),
):
    first = triples(4, 2)[:8]
    check.equal(len(set(first)), 8, name="different steps")
    for name, at in (("a", (0, 2)), ("b", (2, 1)), ("c", (0, 1))):
        touched = {(step[at[0]], step[at[1]]) for step in first}
        check.equal(len(touched), 4, name=f"numbers of {name}")
with check.case(
    "every step occurs once",
    hint=(
        "where does each block begin and end, the last too? does every "
        "triple occur, and once?"
    ),
):
    order = triples(6, 3)
    check.equal(len(order), 216, name="number of steps")
    check.equal(len(set(order)), 216, name="number of different steps")
# Three blocks of 8 x 8 are 48 lines. The bound is the text's;
# the plain order fetches 3,744.
with check.case(
    "blocks that fit are fetched at most 3 n^3 / (block w) times",
    hint=(
        "which of the six loops fetches whole rows and columns? do i, j"
        " and k each have a block?"
    ),
    more="all k of a block belong inside it, as its i and j do",
    essential=True,
):
    check.at_most(lines_of(24, 8, 64, 4), 3 * 24**3 / (8 * 4), name="lines")
### BEGIN HIDDEN TESTS


def blocks_begun(order, block):
    """Return how often a step is in another block than the step before it."""
    blocks = [tuple(index // block for index in step) for step in order]
    return sum(
        new != old for new, old in zip(blocks, [None, *blocks], strict=False)
    )


with check.hidden_case(
    "the last block may be shorter",
    hint=(
        "a block that does not divide n, or exceeds it: where does the "
        "last one end? are all triples there?"
    ),
    more="at n: each range ends there, or a block further, if that is less",
):
    for n, block in ((7, 3), (5, 4), (3, 8)):
        order = triples(n, block)
        check.equal(
            len(order), n**3, name=f"number of steps for n={n}, block={block}"
        )
        every = {
            (i, j, k) for i in range(n) for j in range(n) for k in range(n)
        }
        check.true(set(order) == every, f"every step of range({n}) once")
# The bound counts n / block rounded up: 3 blocks a side,
# 27 products of at most 3 * 64 numbers. Where rows do not begin at a line,
# a row of 8 numbers may lie in 3 lines of 4: half as many again.
with check.hidden_case(
    "a size that the block does not divide stays in the cache as well",
    hint=(
        "the last block is shorter: are its steps finished before the "
        "next block begins, in i, j and k?"
    ),
):
    check.at_most(lines_of(22, 8, 90, 4), 27 * 3 * 64 / 4 * 1.5, name="lines")
with check.hidden_case(
    (
        "a block is finished before the next begins, "
        "at the edge and with a side of 1 too"
    ),
    hint=(
        "edges, a side of 1: do i, j and k run inside the loops over "
        "blocks, and end with their block?"
    ),
):
    for n, block in ((6, 2), (7, 3), (5, 4), (3, 1), (1, 2)):
        begun, sides = blocks_begun(triples(n, block), block), -(-n // block)
        check.equal(
            begun, sides**3, name=f"blocks begun for n={n}, block={block}"
        )
with check.hidden_case(
    "a list of its own, which has a length",
    hint="what type comes back, has it a length, and is it a new one?",
):
    order = blocked_order(3, 2)
    check.equal(len(order), 27, name="length")
    check.separate(blocked_order(3, 1), order)
with check.hidden_case(
    "the block is the argument's",
    hint=("another block: is it the length of a side, in all three indices?"),
):
    check.at_most(lines_of(24, 4, 16, 4), 3 * 24**3 / (4 * 4), name="lines")
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### Task 5. A systolic array, cycle by cycle (2 points)
#
# The TPU goes further (Jouppi et al. 2017): in its matrix unit no cell fetches anything.
# $d \times d$ cells each hold one weight. Inputs move right, sums down, one cell a cycle.
#
# ![A grid of three by three cells, each holding a weight. Inputs enter from the left, the second row one cycle later and the third two cycles later. Sums flow down and leave below.](figures/systolic.svg)

# %% [markdown]
# `systolic_step(w, x, s, feed)` makes one cycle.
# `x[i, j]` is the input that cell $(i, j)$ used in the cycle before, `s[i, j]` the sum that it put out.
# Now it uses its left neighbour's input, in column 0 `feed[i]`,
# adds `w[i, j]` times that to its upper neighbour's sum, in row 0 to 0, and puts the result out.
# Return the new `x` and `s`; change no argument.
# Each of the four may hold whole numbers or fractions: cut none off. About 4 lines.


# %% nbgrader={"grade_id": "systolic-step", "solution": true}
def systolic_step(w, x, s, feed) -> tuple[np.ndarray, np.ndarray]:
    """Return the (d, d) inputs and sums a cycle later; feed has shape (d,)."""
    ### BEGIN SOLUTION
    x = np.column_stack([feed, x[:, :-1]])
    above = np.vstack([np.zeros(len(w)), s[:-1]])
    return x, above + w * x
    ### END SOLUTION


# %% [markdown]
# For $y = a w$ the product $a_{ri} w_{ij}$ must meet the sum of row $r$ just when it passes.
# So column $i$ of $a$ enters row $i$ of the array, $i$ cycles late:
# in cycle $t$ row $i$ is fed $a_{t-i,\,i}$, and 0 where there is no such row.
#
# `skew(a, d)` takes `a` of shape `(m, k)`, $k \le d$, and returns all feeds,
# shape $(m + 2d - 2,\ d)$: one row a cycle, until the last sum has left.
# They hold the numbers of `a` unrounded, in any type that can; `skew` does not change `a`, either.
# For `a = [[1, 2], [3, 4]]` and `d = 2` they are `[[1, 0], [3, 2], [0, 4], [0, 0]]`. About 4 lines.


# %% nbgrader={"grade_id": "skew", "solution": true}
def skew(a: np.ndarray, d: int) -> np.ndarray:
    """Return what enters the d rows in each cycle, shape (m + 2 d - 2, d)."""
    ### BEGIN SOLUTION
    m, k = a.shape
    feeds = np.zeros((m + 2 * d - 2, d))
    for i in range(k):
        feeds[i : i + m, i] = a[:, i]
    return feeds
    ### END SOLUTION


# %% [markdown]
# `systolic_cycles(m, k, n, d)` returns the cycles that a product of shapes $(m, k)$ and $(k, n)$ takes.
# The weights are cut into tiles of $d \times d$, the last ones padded with zeros.
# Each tile is loaded in $d$ cycles, then all $m$ rows pass in $m + 2d - 2$; nothing overlaps.
# For `(10, 3, 5, 4)` that is $2 \cdot (4 + 16) = 40$. About 2 lines.


# %% nbgrader={"grade_id": "systolic-cycles", "solution": true}
def systolic_cycles(m: int, k: int, n: int, d: int) -> int:
    """Return the cycles of a product (m, k) x (k, n) on d x d cells."""
    ### BEGIN SOLUTION
    tiles = math.ceil(k / d) * math.ceil(n / d)
    return tiles * (d + m + 2 * d - 2)
    ### END SOLUTION


# %% explore=true
d, m = 4, 6
a, w = (
    1.0 + np.arange(m * d).reshape(m, d) // d,
    np.random.default_rng(0).normal(size=(d, d)),
)
x, s = np.zeros((2, d, d))
pictures, product = [], np.zeros((m, d))
for cycle, feed in enumerate(skew(a, d)):
    x, s = systolic_step(w, x, s, feed)
    pictures.append(x)
    for column in range(d):
        row = cycle - (d - 1) - column
        if 0 <= row < m:
            product[row, column] = s[d - 1, column]
names = [f"cycle {cycle}" for cycle in range(len(pictures))]
title = "Which row of a is in each cell: brighter is later, black is idle"
plot.images(pictures, titles=names, columns=6, title=title)
print("largest difference from a @ w:", np.abs(product - a @ w).max())

# %% explore=true
rows = 2 ** np.arange(0, 15)
shares = {}
for d in (32, 128, 256):
    cycles = np.array([systolic_cycles(int(m), 1024, 1024, d) for m in rows])
    shares[f"{d} x {d} cells"] = rows, rows * 1024**2 / (cycles * d**2)
title = "Share of the cells' cycles with useful work"
axes = {"xlabel": "rows of a (the batch)", "ylabel": "share busy", "logx": True}
plot.curves(shares, title=title, **axes)
one = systolic_cycles(1, 1024, 1024, 256)
print(f"one row on 256 x 256 cells: {1024**2 / one / 256**2:.2%} of the peak")

# %% [markdown]
# A diagonal front enters at the top left and leaves at the bottom right.
# While it fills and drains, most cells idle:
# one row keeps a 256 x 256 array busy for a tenth of a percent of its cycles,
# and the larger the array, the larger the batch that it needs.
#
# The real TPU loads the next tile while the last one computes.
# It cannot hide the other limit: 92 tera-operations a second against weights coming at 34 GB/s,
# a ridge of some 2700 FLOP a byte. Four of the paper's six networks were memory-bound on it.

# %% nbgrader={"grade_id": "systolic-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


def run(a, w):
    """Drive the array through all cycles; return what leaves, put in place."""
    m, d = len(a), len(w)
    x, s, y = np.zeros((d, d)), np.zeros((d, d)), np.full((m, d), np.nan)
    feeds = np.array(skew(a, d))
    check.shape(feeds, (m + 2 * d - 2, d), name="feeds")
    for cycle, feed in enumerate(feeds):
        x, s = (np.array(part) for part in systolic_step(w, x, s, feed))
        for column in range(d):
            if 0 <= cycle - d + 1 - column < m:
                y[cycle - d + 1 - column, column] = s[d - 1, column]
    return y


with check.case(
    "one cycle: inputs move right, sums move down",
    hint=(
        "x: what does each cell take from the left? s: what from above,"
        " plus which product, with which x?"
    ),
    more=(
        "new x: feed, then x without its last column; "
        "above: zeros, then s without its last row"
    ),
):
    old_x, old_s = (
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        np.array([[10.0, 20.0], [30.0, 40.0]]),
    )
    weights = np.array([[1.0, 2.0], [3.0, 4.0]])
    x, s = systolic_step(weights, old_x, old_s, np.array([5.0, 6.0]))
    check.close(x, [[5, 1], [6, 3]], name="x")
    check.close(s, [[5, 2], [28, 32]], name="s")
with check.case(
    "skew: the worked example",
    hint=(
        "how many rows and columns have the feeds? column i of a: where"
        " does it go, and how late?"
    ),
    more="it fills m rows of the feeds' column i, from row i on",
):
    fed = skew(np.array([[1.0, 2.0], [3.0, 4.0]]), 2)
    check.close(fed, [[1, 0], [3, 2], [0, 4], [0, 0]], name="feeds")
with check.case(
    "cycles: the worked example",
    hint=(
        "how many tiles, down and across, rounded how? cycles of one "
        "tile: loading, and how many rows pass?"
    ),
    more="each side rounded up; a tile takes d to load, m + 2 d - 2 to pass",
):
    check.close(systolic_cycles(10, 3, 5, 4), 40, rtol=0, name="cycles")
with check.case(
    "the array computes a product of two matrices",
    hint=(
        "does each input meet its row's sum? check skew, new x, and "
        "what is added, for negative numbers too"
    ),
    essential=True,
):
    draw = np.random.default_rng(1)
    a, w = draw.normal(size=(5, 3)), draw.normal(size=(3, 3))
    check.close(run(a, w), np.einsum("mk,kn->mn", a, w), name="y")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "skew: fewer columns than the array has rows",
    hint=(
        "fewer columns than d: how many rows have the feeds? is each "
        "number kept, sign and digits?"
    ),
):
    large = 2.0**24 + 1  # no float32
    given = np.array([[1.5, -2.0], [large, 4.25], [-0.125, 6.0]])
    with check.unchanged(
        a=given, hint="is `a` written to? into which array do the numbers go?"
    ):
        fed = skew(given, 4)
    late = [
        [1.5, 0, 0, 0],
        [large, -2, 0, 0],
        [-0.125, 4.25, 0, 0],
        [0, 6, 0, 0],
        *[[0] * 4] * 5,
    ]
    check.close(fed, late, rtol=0, name="feeds")
with check.hidden_case(
    "fewer columns than the array has rows",
    hint=(
        "fewer columns than d: which rows of the array get 0, and do "
        "negative numbers keep their sign?"
    ),
):
    draw = np.random.default_rng(2)
    a, w = draw.normal(size=(4, 2)), draw.normal(size=(4, 4))
    check.close(run(a, w), np.einsum("mk,kn->mn", a, w[:2]), name="y")
with check.hidden_case(
    "one row, and one cell",
    hint=(
        "one row, or one cell: how many cycles, and does every array "
        "keep its two axes?"
    ),
):
    draw = np.random.default_rng(3)
    for m, d in ((1, 4), (6, 1)):
        a, w = draw.normal(size=(m, d)), draw.normal(size=(d, d))
        check.close(run(a, w), a @ w, name=f"y for {m} rows, {d} x {d} cells")
with check.hidden_case(
    "fractions on top of a state of whole numbers",
    hint=(
        "fractions in some arguments: which type have the new arrays, "
        "and what do they cut off?"
    ),
):
    x, s = systolic_step(
        np.full((2, 2), 0.5),
        np.array([[1, 2], [3, 4]]),
        np.array([[10, 20], [30, 40]]),
        np.array([0.5, 1.5]),
    )
    check.close(x, [[0.5, 1], [1.5, 3]], name="x")
    check.close(s, [[0.25, 0.5], [10.75, 21.5]], name="s")
with check.hidden_case(
    "fractions, whichever argument holds whole numbers",
    hint=(
        "whole numbers in one argument, fractions in others: which "
        "argument decides the type of x and s?"
    ),
):
    halves = {
        "w": np.array([[0.5, 2.5], [1.5, 0.25]]),
        "x": np.array([[1.25, 9.0], [3.5, 9.0]]),
        "s": np.array([[10.75, 20.5], [9.0, 9.0]]),
        "feed": np.array([1.5, 1.75]),  # whole: twice 1
    }
    for whole, halved in halves.items():
        given = halves | {whole: halved.astype(int)}
        w, x, s, feed = given.values()
        used = [[feed[0], x[0, 0]], [feed[1], x[1, 0]]]
        sums = [
            [w[0, 0] * feed[0], w[0, 1] * x[0, 0]],
            [s[0, 0] + w[1, 0] * feed[1], s[0, 1] + w[1, 1] * x[1, 0]],
        ]
        new_x, new_s = systolic_step(w, x, s, feed)
        check.close(new_x, used, name=f"x, with whole numbers in {whole}")
        check.close(new_s, sums, name=f"s, with whole numbers in {whole}")
with check.hidden_case(
    "no argument is changed, and no earlier result",
    hint=(
        "w, x, s or feed: which is written to, directly or through a "
        "slice? are x, s and feeds made anew?"
    ),
    guard=True,
):
    w, x, s, feed = np.eye(3), np.ones((3, 3)), np.ones((3, 3)), np.arange(3.0)
    with check.unchanged(w=w, x=x, s=s, feed=feed):
        first = systolic_step(w, x, s, feed)
        fed = skew(w, 3)
    check.separate(systolic_step(w, s + x, x, feed), *first)
    check.separate(skew(2 * w, 3), fed)
with check.hidden_case(
    "cycles of other shapes",
    hint=(
        "other shapes: which sides are cut into tiles, each rounded "
        "how? how long does each tile take?"
    ),
):
    for (m, k, n, d), cycles in {
        (1, 256, 256, 256): 767,
        (200, 1000, 600, 256): 11592,
        (7, 4, 4, 1): 16 * 8,
        (10, 3, 3, 4): 20,
        (33, 9, 16, 8): 4 * 55,
    }.items():
        check.close(
            systolic_cycles(m, k, n, d),
            cycles,
            rtol=0,
            name=f"cycles of {m, k, n, d}",
        )
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## A training loop for any device
#
# PyTorch's device `"meta"` has tensors with a shape and a type and no numbers.
# Nothing is computed there, but operators start and tensors move as on a GPU.
# A tensor that was left on the CPU is an error there (one of shape `()` or of indices may pass).
# `labkit.count.operations(f, ...)` runs a function and counts what would cost time on a GPU:
#
# | counted | what it is |
# |---|---|
# | `launches` | operators that start a kernel, a program that runs on the GPU |
# | `transfers`, `bytes moved` | copies between devices |
# | `synchronisations` | numbers read back (`item`, `float`, `bool`, `cpu`): the host waits for the whole queue |
# | `bytes allocated` | results in new memory |
# | `largest saved` | bytes of the largest tensor kept for a backward pass |

# %% explore=true
weights = torch.rand(64, 64, device="meta")


def look_twice(images):
    hidden = (images.to("meta") @ weights).relu()
    # A question about numbers: the host has to wait for the answer.
    if hidden.max() > 100:
        print("large")
    return hidden.mean().item()


for name, value in count.operations(look_twice, torch.rand(32, 64)).items():
    print(f"{name:18} {value:10,}")

# %% [markdown]
# One transfer of 8,192 bytes, a few launches, and two synchronisations:
# `item()` is one, and the innocent `if` is the other.

# %% [markdown]
# ### Task 6. One epoch, on cpu, cuda, mps or meta (2 points)
#
# `train_epoch(model, optimizer, batches, device)` trains on every batch once, in order.
# `batches` yields pairs of images and labels on the CPU; move each of them to `device`, and change none.
# The loss of a batch is `nn.functional.cross_entropy`, a mean over its images.
# Then the usual three: clear the gradients, go back, take a step
# (`optimizer.zero_grad()`, `loss.backward()`, `optimizer.step()`).

# %% [markdown]
# It returns the mean loss over all images of the epoch, so a shorter last batch counts less.
# Return it as a float32 tensor, whatever the model's type (MPS, the GPUs of Macs, has no float64), without a graph, of shape `()`, on `device`
# (`loss.detach()` is the number without its graph, where it was),
# and read no number on the way: whoever wants to print it waits then, once.
# Two transfers a batch, no synchronisation. `make_training` is given. About 11 lines.


# %% nbgrader={"grade_id": "make-training", "locked": true}
def make_training(
    seed: int,
    device: str,
    lr: float = 0.1,
    old: float | None = None,
    dropout: float = 0.0,
):
    """Return a small CNN for 8 x 8 images, on the device, and its optimiser.

    old: a number in all gradients that the network comes with.
    dropout: the share of the linear layer's inputs that training drops.
    """
    torch.manual_seed(seed)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        *([nn.Dropout(dropout)] if dropout else []),
        nn.Linear(128, 10),
    ).to(device)
    for part in model.parameters() if old else ():
        part.grad = torch.full_like(part, old)
    return model, torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)


# %% nbgrader={"grade_id": "train-epoch", "solution": true}
def train_epoch(model, optimizer, batches, device: str) -> torch.Tensor:
    """Train on each (images, labels); return the mean loss over all images."""
    ### BEGIN SOLUTION
    total, seen = torch.zeros((), device=device), 0
    for images, labels in batches:
        logits = model(images.to(device))
        loss = nn.functional.cross_entropy(logits, labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(labels)
        seen += len(labels)
    return total / seen
    ### END SOLUTION


# %% explore=true
x_train = torch.tensor(digits.train.x)[:, None]
y_train = torch.tensor(digits.train.y)
x_test = torch.tensor(digits.test.x)[:, None]
y_test = torch.tensor(digits.test.y)
where = device()
model, optimizer = make_training(0, where)
for _ in range(20):
    order = torch.randperm(len(x_train)).split(32)
    batches = [(x_train[i], y_train[i]) for i in order]
    train_epoch(model, optimizer, batches, where)
with torch.no_grad():
    right = (model(x_test.to(where)).argmax(1).cpu() == y_test).float().mean()
print(f"on {where}: {right:.1%} of {len(y_test)} test digits")
one_batch = [(x_train[:32], y_train[:32])]
asked = count.operations(
    train_epoch, *make_training(0, "meta"), one_batch, "meta"
)
for name, value in asked.items():
    print(f"{name:18} {value:10,}")

# %% [markdown]
# The same function trained on this machine's device and ran on one that cannot compute.
# That second run is a test which you can write for any loop of yours, without a GPU:
# it fails where a tensor was forgotten on the CPU, and its counts show where the host would wait.
#
# Some thirty launches for 32 images of 64 pixels:
# a GPU would spend most of this step being started.

# %% nbgrader={"grade_id": "train-epoch-check", "grade": true, "points": 2}
import torch

from labkit import check, count


def some_batches(*sizes):
    """Return batches of random images and labels, the same for equal sizes."""
    draw = torch.Generator().manual_seed(len(sizes))
    return [
        (
            torch.randn(n, 1, 8, 8, generator=draw),
            torch.randint(10, (n,), generator=draw),
        )
        for n in sizes
    ]


def drawn(seed, model):
    """Draw and return make_training's parameters; expect them in the model."""
    torch.manual_seed(seed)
    layers = torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.Linear(128, 10)
    own = [part.detach() for layer in layers for part in layer.parameters()]
    for theirs, part in zip(list(model.parameters()), own, strict=True):
        check.close(
            theirs.detach(), part, rtol=1e-6, name="a parameter at the start"
        )
    return own


def twin_epoch(parameters, batches, lr=0.1):
    """Train copies of the parameters by hand; return the mean loss and them."""
    parts = [part.clone().requires_grad_() for part in parameters]
    speed, total, seen = [torch.zeros_like(part) for part in parts], 0.0, 0
    for images, labels in batches:
        hidden = torch.nn.functional.conv2d(
            images, parts[0], parts[1], padding=1
        ).relu()
        hidden = torch.nn.functional.max_pool2d(hidden, 2).flatten(1)
        loss = torch.nn.functional.cross_entropy(
            hidden @ parts[2].T + parts[3], labels
        )
        gradients = torch.autograd.grad(loss, parts)
        speed = [0.9 * v + g for v, g in zip(speed, gradients, strict=True)]
        parts = [
            (p.detach() - lr * v).requires_grad_()
            for p, v in zip(parts, speed, strict=True)
        ]
        total, seen = (
            total + float(loss.detach()) * len(labels),
            seen + len(labels),
        )
    return total / seen, [part.detach() for part in parts]


def both(*sizes, seed=0):
    """Train the student's way and by hand; return losses and parameters."""
    model, optimizer = make_training(seed, "cpu")
    expected = twin_epoch(drawn(seed, model), some_batches(*sizes))
    loss = train_epoch(model, optimizer, some_batches(*sizes), "cpu")
    return loss, [part.detach() for part in model.parameters()], *expected


def expect_trained(weights, wanted, before):
    """Expect the linear layer to step the right way, as only training does.

    What other cases ask for, its length to the last digit and clean gradients,
    is not asked again.
    """
    step, right = (weights - before).flatten(), (wanted - before).flatten()
    along = float(step @ right) / float(right @ right)
    hint = "backward, and optimizer.step()"
    check.at_least(
        along,
        0.3,
        name="way along the step by hand, as a share of it",
        hint=hint,
    )
    along = float(torch.nn.functional.cosine_similarity(step, right, dim=0))
    check.at_least(
        along, 0.7, name="cosine of the angle to the step by hand", hint=hint
    )


def count_on_meta(*sizes):
    """Return what an epoch asks of meta, if it does there what it does here.

    `count.computed` counts as `count.operations` does,
    and computes the numbers beside it.
    """
    (model, optimizer), (first, _) = (
        make_training(0, "meta"),
        make_training(0, "cpu"),
    )
    start = drawn(0, first)
    here, weights, _, want = both(*sizes)
    seen = count.computed(
        train_epoch, model, optimizer, some_batches(*sizes), "meta", start=first
    )
    hint = "is it this call's own loss, and the same on every device?"
    check.close(
        seen["returned"],
        float(here),
        rtol=1e-4,
        name="loss there and here",
        hint=hint,
    )
    check.close(
        seen["parameters"][2],
        weights[2],
        atol=1e-5,
        name="weights there",
        hint=hint,
    )
    expect_trained(weights[2], want[2], start[2])
    return seen["counts"]


# Float32 sums of other orders differ by some 1e-6 after a few steps.
with check.case(
    "one batch: the loss, and the weights after the step",
    hint=(
        "which loss, of which images? which three steps follow, in "
        "which order, and is each made?"
    ),
    more="forward, loss; then zero_grad, backward, step",
):
    loss, weights, want_loss, want = both(8)
    check.close(loss, want_loss, rtol=1e-4, name="loss")
    check.close(
        weights[2], want[2], atol=1e-5, name="weights of the linear layer"
    )
with check.case(
    "four batches: gradients are cleared, every batch is trained on",
    hint=(
        "what is in .grad when the second batch begins? is every batch "
        "trained on, and its loss counted?"
    ),
    more="gradients add up: the optimiser clears them for each batch",
):
    loss, weights, want_loss, want = both(8, 8, 8, 8)
    check.close(loss, want_loss, rtol=1e-4, name="loss")
    check.close(
        weights[0], want[0], atol=1e-5, name="weights of the convolution"
    )
with check.case(
    "nothing waits: no number is read",
    hint=(
        "which line needs a number, not a tensor? a RuntimeError: what "
        "was left on the CPU, such as the total?"
    ),
    more="item(), float() and `if loss > ...` wait; a sum of tensors does not",
    essential=True,
):
    check.equal(
        count_on_meta(6, 6)["synchronisations"], 0, name="synchronisations"
    )
with check.case(
    "two transfers a batch",
    hint=(
        "what crosses for each batch, and how often? a RuntimeError: "
        "what was left, or made, on the CPU?"
    ),
):
    transfers = count_on_meta(6, 6, 6)["transfers"]
    check.at_least(transfers, 6, name="transfers for three batches")
    # One may bring the first 0.
    check.at_most(transfers, 7, name="transfers for three batches")
with check.case(
    "the mean is on the device",
    hint=(
        "where was the total made, and the mean? is it this call's own loss?"
    ),
    more="torch.zeros takes a device",
):
    count_on_meta(4)
    loss = train_epoch(*make_training(0, "meta"), some_batches(4), "meta")
    check.true(
        hasattr(loss, "device"),
        "a tensor, not a number",
        hint=(
            "is the mean read on the way, or left to the caller as a tensor?"
        ),
    )
    check.equal(loss.device.type, "meta", name="device of the loss")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "a shorter last batch counts less",
    hint=(
        "a short last batch: what is each loss multiplied by, and the "
        "sum divided by?"
    ),
):
    mean, _, expected, _ = both(12, 12, 1, seed=3)
    check.close(mean, expected, rtol=1e-4, name="mean loss over all images")
with check.hidden_case(
    "the mean is a tensor without a graph",
    hint=(
        "does the mean have a graph, and which shape? is it that of "
        "both batches?"
    ),
):
    first = drawn(1, make_training(1, "cpu")[0])
    computed, weights, _, want = both(4, 4, seed=1)
    check.equal(computed.requires_grad, False, name="requires_grad")
    check.shape(computed, (), name="loss")
    expect_trained(weights[2], want[2], first[2])
with check.hidden_case(
    "the mean is in float32",
    hint=(
        "another type of model: in which type are losses added, and "
        "returned? are all batches counted?"
    ),
):
    given = some_batches(4, 3)
    model, optimizer = make_training(1, "cpu")
    start = drawn(1, model)
    mean = train_epoch(model, optimizer, given, "cpu")
    check.close(
        mean,
        twin_epoch(start, given)[0],
        rtol=1e-4,
        dtype="float32",
        name="loss",
    )
    model, optimizer = make_training(1, "cpu")
    model.double()
    wide = [(images.double(), labels) for images, labels in given]
    mean = train_epoch(model, optimizer, wide, "cpu")
    check.equal(mean.dtype, torch.float32, name="dtype for a float64 model")
with check.hidden_case(
    "the batches stay as they are",
    hint="are images or labels written to, or the list itself?",
    guard=True,
):
    given = some_batches(4, 3)
    with check.unchanged(batches=given):
        train_epoch(*make_training(1, "cpu"), given, "cpu")
with check.hidden_case(
    "the optimiser is the one that was handed in, from one epoch to the next",
    hint=(
        "two epochs, another rate: whose optimiser steps, and does it "
        "remember? each mean over its own images?"
    ),
):
    model, optimizer = make_training(4, "cpu", lr=0.02)
    first, batches = drawn(4, model), some_batches(6, 3, 4)
    expected, wanted = twin_epoch(first, batches, lr=0.02)
    early, late = (
        train_epoch(model, optimizer, b, "cpu")
        for b in (batches[:2], batches[2:])
    )
    check.separate(late, early, name="the second mean")
    check.close(
        (9 * early + 4 * late) / 13,
        expected,
        rtol=1e-4,
        name="loss over both epochs",
    )
    found = [part.detach() for part in model.parameters()]
    check.close(
        found[2], wanted[2], atol=1e-5, name="weights of the linear layer"
    )
with check.hidden_case(
    "gradients of before do not count",
    hint=(
        "the model comes with old gradients: when are they cleared, "
        "before the first batch, too?"
    ),
):
    model, optimizer = make_training(2, "cpu", old=1.0)
    first = drawn(2, model)
    train_epoch(model, optimizer, some_batches(5, 3), "cpu")
    _, wanted = twin_epoch(first, some_batches(5, 3))
    found = [part.detach() for part in model.parameters()]
    check.close(
        found[2], wanted[2], atol=1e-5, name="weights of the linear layer"
    )
with check.hidden_case(
    "batches may come from a generator",
    hint=(
        "batches may have no length, and be walked through once: is the"
        " mean over all that came?"
    ),
):
    generator = (pair for pair in some_batches(5, 3))
    found = train_epoch(*make_training(0, "cpu"), generator, "cpu")
    check.close(found, both(5, 3)[2], rtol=1e-4, name="loss")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## A pipeline that hides its latency
#
# ### Task 7. Read ahead (2 points)
#
# While the device works on one batch, the host could read the next.
# `prefetch(source, depth)` yields what `source` yields, in the same order, while a thread reads ahead of it.
# `depth` is 1 or more: a queue holds at most so many items that wait; another one may be in the thread's hands.

# %% [markdown]
# Three things go wrong in most first versions:
#
# * The source raises: the consumer must get that exception, after the items before it. It must not wait for ever.
# * The source ends: the consumer's loop must end as well.
# * The consumer stops early: the thread must end, not wait for a free place for the rest of its days.
#
# Given are the queue, an event that tells the thread to stop, and `offer`,
# which puts a pair of a kind and a value into the queue, and gives up when the event is set.

# %% [markdown]
# Write two parts.
# `read` runs in the thread: offer each item by `offer("item", item)`, stop reading once `stop` is set
# (ask after each item), call `offer("end", None)` last,
# or `offer("error", error)` if the source raised an `Exception`. About 8 lines.
#
# The second part starts the thread `reader`.
# Then it takes pairs from `ready`, yields items, returns at the end, raises an error.
# Whatever happens, set `stop` and join the thread: a `finally` does both.
# A consumer may also close the generator, or throw an exception into it:
# then your `yield` raises `GeneratorExit`, or that exception.
# (`items = prefetch(source, 2)`, `next(items)`, `items.close()` does so, and so does a `for` loop left by `break` when the generator is thrown away.)
# About 11 lines.


# %% nbgrader={"grade_id": "prefetch", "solution": true}
def prefetch(source, depth: int = 2):
    """Yield source's items in order; a thread reads up to depth + 1 ahead."""
    ready, stop = queue.Queue(maxsize=depth), threading.Event()

    def offer(kind: str, value) -> None:
        while not stop.is_set():
            try:
                ready.put((kind, value), timeout=0.02)
                return
            except queue.Full:
                pass

    def read() -> None:
        ### BEGIN SOLUTION
        try:
            for item in source:
                offer("item", item)
                if stop.is_set():
                    return
            offer("end", None)
        except Exception as error:
            offer("error", error)
        ### END SOLUTION

    # Daemon: it never keeps Python alive.
    reader = threading.Thread(target=read, daemon=True)
    ### BEGIN SOLUTION
    reader.start()
    try:
        while True:
            kind, value = ready.get()
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
    finally:
        stop.set()
        reader.join()
    ### END SOLUTION


# %% explore=true
def reading(log, items=12, seconds=0.02):
    """Stand for a slow disk: items take a while, and leave the core free."""
    for item in range(items):
        start = time.perf_counter()
        time.sleep(seconds)
        log.append((start, time.perf_counter()))
        yield item


def training(items, log, seconds=0.02):
    """Stand for a step on a GPU: the host waits for it."""
    for _ in items:
        start = time.perf_counter()
        time.sleep(seconds)
        log.append((start, time.perf_counter()))


# %% explore=true
totals = {}
for ax, depth in zip(plot.panels(2), (0, 2), strict=True):
    reads, spent = [], []
    items = reading(reads)
    training(prefetch(items, depth) if depth else items, spent)
    begin = reads[0][0]
    lanes = ((1, plot.PALETTE[0], reads), (0, plot.PALETTE[1], spent))
    for height, colour, spans in lanes:
        bars = [((a - begin) * 1e3, (b - a) * 1e3) for a, b in spans]
        look = {"facecolor": colour, "edgecolor": "white"}
        ax.broken_barh(bars, (height - 0.3, 0.6), **look)
    title = "your prefetch" if depth else "one after the other"
    totals[title] = 1e3 * (spent[-1][1] - begin)
    ax.set_yticks([0, 1], ["step", "read"])
    ax.set_xlim(0, 1.05 * max(totals.values()))
    ax.set_xlabel("milliseconds")
    ax.set_title(title, loc="left", fontsize=11)
for title, milliseconds in totals.items():
    print(f"{title:20} {milliseconds:5.0f} ms")

# %% [markdown]
# On the right reading and stepping overlap, and the whole takes little more than the longer of the two.
# A pipeline hides a latency; it does not add bandwidth:
# if reading takes twice as long as a step, every step waits, however deep the queue is.
#
# Reading from a disk or a socket lets other threads run, and so does most of NumPy's and PyTorch's work.
# Python code of your own does not: for that `torch.utils.data.DataLoader` starts processes.

# %% nbgrader={"grade_id": "prefetch-check", "grade": true, "points": 2}
from labkit import check, count

OWN = "start the thread: reader.start(); only read() walks through the source"


def watched(**options):
    """Hand prefetch a source that counts; return what `read_ahead` saw of it.

    The source itself would pass most of what is asked for below:
    so a thread has to read it.
    """
    seen = count.read_ahead(prefetch, **options)
    # The error says more than a list without items.
    if seen["error"] and not seen["items"] and not options.get("fails"):
        check.equal(seen["error"], "", name="error")
    else:
        own = seen["own thread"]
        check.equal(
            own, True, name="source read by a thread of its own", hint=OWN
        )
    return seen


with check.case(
    "everything arrives, in order, and the loop ends",
    hint=(
        "who tells the consumer that nothing more comes? an empty list:"
        " which error ended the thread?"
    ),
):
    seen = watched(items=7, depth=2)
    check.equal(seen["items"], [0, 1, 2, 3, 4, 5, 6], name="items")
    check.equal(seen["error"], "", name="error")
with check.case(
    "another thread reads ahead, by depth and at most one more",
    hint=(
        "who walks through source, and what makes the thread wait when "
        "nobody takes? how many wait at most?"
    ),
    more="the queue's size, which is depth: no list(source)",
    essential=True,
):
    seen = watched(items=50, depth=3, take=4)
    check.at_least(
        seen["read"], 4 + 3, name="items read when 4 were taken, depth 3"
    )
    check.at_most(
        seen["read"], 4 + 3 + 1, name="items read when 4 were taken, depth 3"
    )
with check.case(
    (
        "an exception of the source reaches the consumer, "
        "after the items before it"
    ),
    hint=(
        "who can raise the exception, how does it get there, and after "
        "which items?"
    ),
    more="it comes through the queue as items do, with another kind",
):
    seen = watched(items=3, depth=2, fails=True)
    check.equal(seen["items"], [0, 1, 2], name="items")
    check.equal(seen["error"], "OSError: the disk is gone", name="error")
    check.equal(
        seen["same error"], True, name="the object that the source raised"
    )
with check.case(
    "the thread ends when the consumer stops early",
    hint=(
        "the consumer stops early: where is the thread told to stop, "
        "and who waits for it?"
    ),
    more="there the thread is told to stop, and waited for",
):
    seen = watched(items=50, depth=2, take=5)
    check.equal(seen["items"], [0, 1, 2, 3, 4], name="items")
    check.equal(seen["alive"], 0, name="threads that still run")
    check.equal(
        seen["running"],
        0,
        name="threads that run when the generator has been closed",
    )
    check.at_most(
        seen["read after"],
        5 + 2 + 2,
        name="items read in the end",
        hint="told to stop: does read give up, or go on with the source?",
    )
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "an empty source",
    hint=("an empty source: does the end arrive without an item before it?"),
):
    seen = watched(items=0, depth=2)
    check.equal((seen["items"], seen["error"]), ([], ""))
with check.hidden_case(
    "a source that fails at once",
    hint=(
        "the source fails before its first item: is the whole loop over"
        " it inside the try?"
    ),
):
    seen = watched(items=0, depth=4, fails=True)
    check.equal(
        (seen["items"], seen["error"]), ([], "OSError: the disk is gone")
    )
with check.hidden_case(
    "fewer items than the queue holds",
    hint=(
        "fewer items than the queue holds: all in order, then the end, "
        "and does the thread end?"
    ),
):
    seen = watched(items=3, depth=10)
    check.equal(
        (seen["items"], seen["alive"]),
        ([0, 1, 2], 0),
        name="items, threads that run",
    )
with check.hidden_case(
    "items of any kind, None too",
    hint=(
        "None, empty and odd items: how do you tell an item from the "
        "end, by its kind or its value?"
    ),
):
    values = [None, False, [], "end", "error", 0, "item"]
    seen = watched(values=values, depth=3)
    check.equal(
        (seen["error"], seen["items"]), ("", values), name="error and items"
    )
with check.hidden_case(
    "an exception of any kind",
    hint=(
        "another kind of exception: which ones are caught, and is the "
        "very object passed on?"
    ),
):
    seen = watched(items=1, depth=1, fails="ZeroDivisionError")
    check.equal(seen["items"], [0], name="items")
    check.equal(
        seen["error"], "ZeroDivisionError: the disk is gone", name="error"
    )
with check.hidden_case(
    "two items wait if nobody says otherwise",
    hint=(
        "no depth is given: is the stub's default as it was, and the "
        "queue of that size?"
    ),
    weight=0.5,
):
    seen = watched(items=50, depth=2, take=3, default=True)
    check.at_least(seen["read"], 3 + 2, name="items read when 3 were taken")
    check.at_most(seen["read"], 3 + 2 + 1, name="items read when 3 were taken")
with check.hidden_case(
    "the thread ends when an exception reaches the generator",
    hint=(
        "an exception reaches the generator: which block runs then, and"
        " does it wait for the thread?"
    ),
):
    seen = watched(items=50, depth=2, take=5, throws=True)
    check.equal(len(seen["items"]), 5, name="items taken")
    check.equal(seen["running"], 0, name="threads that run on")
with check.hidden_case(
    "another depth",
    hint=(
        "a larger depth: is it the queue's size, and does nothing else "
        "hold items back?"
    ),
):
    seen = watched(items=50, depth=8, take=2)
    check.at_least(
        seen["read"], 2 + 8, name="items read when 2 were taken, depth 8"
    )
    check.at_most(
        seen["read"], 2 + 8 + 1, name="items read when 2 were taken, depth 8"
    )
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## Six things wrong with a training loop
#
# `slow_training` trains the network of Task 6, correctly.
# Six of its habits together cost more than the training itself.
# `prepare` normalises images with the mean and spread of the whole data set.
# `capture` traces a model into a graph of its operators (it runs it once, with placeholders in place of tensors),
# as `torch.compile` does before it compiles;
# the graph has the same parameters as the model, not copies.

# %% nbgrader={"grade_id": "slow-training", "locked": true}


def capture_model(model: nn.Module) -> nn.Module:
    """Return the model as a graph of operators, with the same parameters."""
    return torch.fx.symbolic_trace(model)


def prepare_images(images: torch.Tensor) -> torch.Tensor:
    """Return the images with mean 0 and deviation 1 over the whole data set."""
    return (images - images.mean()) / images.std()


def slow_training(
    model, optimizer, images, labels, device, *,
    epochs, batch_size, seed=0, prepare=prepare_images, capture=capture_model,
) -> dict[str, list[float]]:  # fmt: skip
    """Train on data from the CPU; return epochs' mean losses and accuracies."""
    generator = torch.Generator().manual_seed(seed)
    history = {"loss": [], "accuracy": []}
    for _ in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(images), generator=generator).split(
            batch_size
        ):
            x, y = prepare(images).to(device), labels.to(device)
            network = capture(model)
            logits, wanted = network(x[batch]), y[batch]
            each = [
                nn.functional.cross_entropy(logits[i], wanted[i])
                for i in range(len(batch))
            ]
            loss = torch.stack(each).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        right = capture(model)(x).argmax(dim=1) == y
        history["loss"].append(total / len(images))
        history["accuracy"].append(right.float().mean().item())
    return history


# %% [markdown]
# ### Where does its time go?
#
# A profiler says what ran, how often and for how long.
# Here are the ten operators that were called most.

# %% explore=true
import os

from torch.profiler import ProfilerActivity, profile

os.environ["KINETO_LOG_LEVEL"] = "99"  # the profiler's remarks about itself

some = x_train[:256], y_train[:256]
with profile(activities=[ProfilerActivity.CPU]) as trace:
    slow_training(
        *make_training(0, "cpu"), *some, "cpu", epochs=1, batch_size=32
    )
rows = sorted(trace.key_averages(), key=lambda row: -row.count)[:10]
print(f"{'operator':44} {'calls':>6} {'own ms':>8}")
for row in rows:
    key = row.key.removeprefix("autograd::engine::evaluate_function: ")
    print(f"{key[:44]:44} {row.count:6} {row.self_cpu_time_total / 1e3:8.2f}")
on_meta = count.operations(
    slow_training,
    *make_training(0, "meta"),
    *some,
    "meta",
    epochs=1,
    batch_size=32,
)
print("\nin 8 steps of 32 images, on a device that is not the CPU:")
for name, value in on_meta.items():
    print(f"{name:18} {value:10,}")

# %% [markdown]
# Eight steps, and hundreds of calls: something runs once an image.
# The profile does not show all six.
# What Python does between operators appears in no row,
# and transfers and waiting cost nothing on a CPU: only the counts below the table betray them.

# %% [markdown]
# ### Task 8. The same training, without the waste (3 points)
#
# `fast_training` takes the same arguments, leaves images and labels as they are,
# and returns the same two lists of numbers (no tensors), equal up to the rounding of float32; with `epochs=0` both are empty.
# As there, the model stays in its mode (`train` or `eval`), also for the accuracy,
# and the orders come from a generator of their own: PyTorch's, which dropout draws from, is neither seeded nor used.
# About 20 lines; most are copied.

# %% [markdown]
# What it may spend:
#
# * Images and labels cross to the device once; besides, one tensor of indices may cross in each epoch.
#   (Indexing a tensor on the device with indices on the CPU is a transfer, too.)
# * No more than two numbers an epoch are read back, by `item`, `float`, `cpu` or `tolist`; all at the end is fine.
# * `prepare` and `capture` are called once each.
# * A step takes at most 40 launches, and an epoch 40 more.
# * Nothing larger than a batch's activations, the outputs of its layers, is kept for a backward pass.


# %% nbgrader={"grade_id": "fast-training", "solution": true}
def fast_training(
    model, optimizer, images, labels, device, *,
    epochs, batch_size, seed=0, prepare=prepare_images, capture=capture_model,
) -> dict[str, list[float]]:  # fmt: skip
    """Train as slow_training does: the same batches, losses and accuracies."""
    ### BEGIN SOLUTION
    draw, losses, accuracies = torch.Generator().manual_seed(seed), [], []
    x, y, network = (
        prepare(images).to(device),
        labels.to(device),
        capture(model),
    )
    for _ in range(epochs):
        summed = torch.zeros((), device=device)
        order = torch.randperm(len(images), generator=draw).to(device)
        for batch in order.split(batch_size):
            loss = nn.functional.cross_entropy(network(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            summed += loss.detach() * len(batch)
        with torch.no_grad():
            hits = network(x).argmax(dim=1) == y
        losses.append(summed.item() / len(images))
        accuracies.append(hits.float().mean().item())
    return {"loss": losses, "accuracy": accuracies}
    ### END SOLUTION


# %% explore=true
rows, histories = {}, {}
for name, function in {"slow": slow_training, "yours": fast_training}.items():
    calls = {
        "prepare": check.counted(prepare_images),
        "capture": check.counted(capture_model),
    }
    options = {"epochs": 2, "batch_size": 32}
    histories[name] = function(
        *make_training(0, "cpu"), *some, "cpu", **options
    )
    found = count.operations(
        function, *make_training(0, "meta"), *some, "meta", **options, **calls
    )
    rows[name] = {
        "prepare": calls["prepare"].count,
        "capture": calls["capture"].count,
    } | found
print(f"{'':18} {'slow':>12} {'yours':>12}")
for name in rows["slow"]:
    print(f"{name:18} {rows['slow'][name]:12,} {rows['yours'][name]:12,}")
away = np.subtract(histories["slow"]["loss"], histories["yours"]["loss"])
print(f"largest difference of the losses: {np.abs(away).max():.0e}")

# %% [markdown]
# The same training: the losses differ by float32's rounding.
# Each habit has a line of its own: calls of `prepare` and `capture`, launches for the loop over images,
# transfers, synchronisations, and the largest tensor kept for the evaluation's graph.

# %% [markdown]
# A profiler also says *when*. Below is the step of median length of each training: both on one scale of time, then yours alone.
# A bar is an operator that Python has called; a gap is Python.


# %% explore=true
def timeline(function):
    """Return (name, begin, length) of the operators of a run, in ms."""
    run = make_training(0, "cpu")
    with profile(activities=[ProfilerActivity.CPU]) as trace:
        function(*run, *some, "cpu", epochs=1, batch_size=32)
    return [
        (e.name, e.time_range.start / 1e3, e.time_range.elapsed_us() / 1e3)
        for e in trace.events()
        if e.cpu_parent is None and e.name.startswith(("aten", "auto", "Opt"))
    ]


def lasting(events):
    """Return the milliseconds from the first event to the last one's end."""
    return events[-1][1] + events[-1][2] - events[0][1]


def median_step(events):
    """Cut events after each optimiser's step; return the median part."""
    ends = [k for k, e in enumerate(events) if e[0].startswith("Optimizer.st")]
    steps = [
        events[a + 1 : b + 1] for a, b in zip(ends, ends[1:], strict=False)
    ]
    return sorted(steps, key=lasting)[len(steps) // 2]


def colour_of(name):
    """Return a place in the palette: forward, backward or optimiser."""
    return 1 if name.startswith("auto") else 2 if name[0] == "O" else 0


# %% explore=true
drawn = {
    "slow": median_step(timeline(slow_training)),
    "yours": median_step(timeline(fast_training)),
}
top, below = plot.panels(2, stacked=True)
kinds = ("forward", "backward", "optimiser")
for place, (title, events) in enumerate(drawn.items()):
    begin, whole = events[0][1], lasting(events)
    idle = 1 - sum(length for *_, length in events) / whole
    for lane, kind in enumerate(kinds):
        bars = [(at - begin, n) for e, at, n in events if colour_of(e) == lane]
        look = {"facecolor": plot.PALETTE[lane]}
        top.broken_barh(bars, (0.6 - place, 0.8), **look)
        if title == "yours":
            below.broken_barh(bars, (1.6 - lane, 0.8), label=kind, **look)
    print(f"{title:6} {whole:6.2f} ms, {len(events)} operators,", end=" ")
    print(f"{idle:.0%} of the time none runs")
slow = [(at - drawn["slow"][0][1], n) for _, at, n in drawn["slow"]]
pairs = zip(slow, slow[1:], strict=False)
length, at = max((b - a - n, a + n) for (a, n), (b, _) in pairs)
arrow = {"arrowstyle": "<->", "color": "grey"}
top.annotate("", (at, 1), (at + length, 1), arrowprops=arrow)
top.text(at + length / 2, 1.1, "capture: Python", ha="center")
top.set_yticks([1, 0], drawn)
below.set_yticks([2, 1, 0], kinds)
below.set_xlabel("milliseconds")
for ax, title in ((top, "Both, one step each"), (below, "Yours, close up")):
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    ax.set_xlim(left=0)

# %% [markdown]
# The comb in the first row is the loop over images; the wide gap before it is `capture`.
# On a GPU each bar would be a launch, and each gap would be time in which the device has nothing to do.
# How much faster yours is you cannot read here: the profiler takes time, too, most where many small operators run.


# %% nbgrader={"grade_id": "drawn-after", "locked": true}
def drawn_after(epochs, x, y):
    """Return PyTorch's next random number after so many epochs of yours."""
    untrained = make_training(2, "cpu")
    fast_training(*untrained, x, y, "cpu", epochs=epochs, batch_size=16)
    return float(torch.rand(()))


# %% nbgrader={"grade_id": "fast-training-check", "grade": true, "points": 3}
import numpy as np
import torch

from labkit import check, count

draw = np.random.default_rng(5)
images = torch.tensor(draw.random((96, 1, 8, 8)), dtype=torch.float32)
labels = torch.tensor(draw.integers(0, 10, 96))
images[torch.arange(96), 0, labels % 8, labels // 8] += 1.0
# What slow_training returns for three epochs in batches of 16, from seed 0.
SLOW = {
    "loss": [2.53915, 1.97662, 1.05152],
    "accuracy": [0.25, 0.635417, 0.916667],
}


def copied(tensor):
    """Stand for `prepare`."""
    return (tensor - tensor.mean()) / tensor.std()


def itself(model):
    """Stand for `capture`."""
    return model


kept = {}


def trained():
    """Train 3 epochs on the CPU; return history, prepare and capture calls."""
    if "cpu" not in kept:
        prepare, capture = check.counted(copied), check.counted(itself)
        options = {
            "epochs": 3,
            "batch_size": 16,
            "prepare": prepare,
            "capture": capture,
        }
        training = make_training(0, "cpu")
        history = fast_training(*training, images, labels, "cpu", **options)
        kept["cpu"] = history, prepare.count, capture.count
    return kept["cpu"]


def loss_of(parameters):
    """Return the loss over all images, in evaluation, with these parameters."""
    hidden = torch.nn.functional.conv2d(
        copied(images), *parameters[:2], padding=1
    ).relu()
    hidden = torch.nn.functional.max_pool2d(hidden, 2).flatten(1)
    logits = hidden @ parameters[2].T + parameters[3]
    return float(torch.nn.functional.cross_entropy(logits, labels))


def asked_of_a_device():
    """Count what the same three epochs ask of meta, if they train there.

    `count.computed` counts as `count.operations` does,
    and computes the numbers beside it.
    """
    if "meta" not in kept:
        options = {
            "epochs": 3,
            "batch_size": 16,
            "start": make_training(0, "cpu")[0],
        }
        training = make_training(0, "meta")
        kept["meta"] = count.computed(
            fast_training, *training, images, labels, "meta", **options
        )
    seen, hint = (
        kept["meta"],
        "train on every batch, in the same way on every device",
    )
    losses, name = (
        trained()[0]["loss"],
        "loss of each epoch, there and on the CPU",
    )
    check.close(
        seen["returned"]["loss"], losses, rtol=2e-3, name=name, hint=hint
    )
    # Half of what the untrained network has; SLOW's has 0.7.
    name = "loss of the network after it, from its parameters"
    check.at_most(loss_of(seen["parameters"]), 1.2, name=name, hint=hint)
    return seen["counts"]


# Another order of float32 sums moves the losses by 1e-6,
# and at most one image changes sides. slow_training, too, passes the guards:
# they count beside a case about what it wastes.
with check.case(
    "the losses and accuracies of slow_training",
    hint=(
        "same losses need same orders and steps: which generator and "
        "seed, which batches, which mean?"
    ),
    weight=2,
    essential=True,
    guard=True,
):
    history, *_ = trained()
    check.close(
        history["loss"], SLOW["loss"], rtol=2e-3, name="loss of each epoch"
    )
    check.close(
        history["accuracy"],
        SLOW["accuracy"],
        atol=0.011,
        name="accuracy of each epoch",
    )
    tensors = [
        value
        for value in (*history["loss"], *history["accuracy"])
        if torch.is_tensor(value)
    ]
    check.equal(
        len(tensors),
        0,
        name="tensors in the lists",
        hint=(
            "are the lists' entries numbers, or tensors that nobody has read?"
        ),
    )
with check.case(
    "one pass over the data set prepares it",
    hint=(
        "do the images change from epoch to epoch? where is prepare "
        "called, and on what?"
    ),
):
    asked_of_a_device()
    check.equal(trained()[1], 1, name="calls of prepare")
with check.case(
    "one graph is captured",
    hint=(
        "does the graph change when its parameters do? where is capture called?"
    ),
    more="it uses the model's own parameters: one is enough for all epochs",
):
    asked_of_a_device()
    check.equal(trained()[2], 1, name="calls of capture")
with check.case(
    "images, labels, and the order of each epoch cross; nothing else",
    hint=(
        "what must cross once, what once an epoch? a RuntimeError: what"
        " was left, or made, on the CPU?"
    ),
):
    # Images, labels, three orders;
    # and six numbers, if they are read with cpu() or tolist().
    check.at_most(
        asked_of_a_device()["transfers"],
        2 + 3 + 6,
        name="transfers in three epochs",
    )
    # In bytes, too: room for some numbers more,
    # and not for the labels a second time.
    most = 4 * images.numel() + 8 * (len(labels) + 3 * len(images) + 64)
    check.at_most(
        asked_of_a_device()["bytes moved"],
        most,
        name="bytes moved in three epochs",
    )
with check.case(
    "two numbers an epoch are read back",
    hint=(
        "which numbers does the host need before an epoch has ended, "
        "and how many after it?"
    ),
    more="none: sum on the device, then read one loss and one accuracy",
    essential=True,
):
    check.at_most(
        asked_of_a_device()["synchronisations"],
        6,
        name="synchronisations, 3 epochs",
    )
with check.case(
    "a step takes at most 40 launches",
    hint=(
        "which loop of slow_training runs over single images, or over "
        "single entries?"
    ),
    more="cross_entropy takes the whole batch, and means over it",
):
    launches = asked_of_a_device()["launches"]
    check.at_most(launches, 3 * (6 * 40 + 40), name="launches, three epochs")
# The largest activation of a batch: 16 images, 8 channels of 8 x 8,
# 4 bytes a number. max_pool2d keeps indices of 8 bytes, a quarter as many.
# All 96 images at once keep six times as much.
with check.case(
    "looking at the accuracy keeps no graph",
    hint=(
        "what is kept for a backward pass when only the accuracy is looked at?"
    ),
):
    check.at_most(
        asked_of_a_device()["largest saved"],
        2 * 16 * 8 * 8 * 8 * 4,
        name="bytes saved",
    )
### BEGIN HIDDEN TESTS


def reference(
    inputs, classes, epochs, batch_size, seed,
    lr=0.1, layers=5, prepare=copied, dropout=0.0,
):  # fmt: skip
    """Train the same another way; return losses, accuracies, last weights."""
    torch.manual_seed(2)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU(),
        torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(128, 10),
    )  # fmt: skip
    if dropout:
        model.insert(4, torch.nn.Dropout(dropout))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    generator, x, network = (
        torch.Generator().manual_seed(seed),
        prepare(inputs),
        model[:layers] if layers < 5 else model,
    )
    losses, accuracies = [], []
    for _ in range(epochs):
        order, summed = torch.randperm(len(x), generator=generator), 0.0
        for start in range(0, len(x), batch_size):
            batch = order[start : start + batch_size]
            optimizer.zero_grad()
            logs = network(x[batch]).log_softmax(1)
            loss = -logs[torch.arange(len(batch)), classes[batch]].mean()
            loss.backward()
            optimizer.step()
            summed += float(loss.detach()) * len(batch)
        losses.append(summed / len(x))
        found = network(x).argmax(1)
        accuracies.append(float((found == classes).float().mean()))
    return losses, accuracies, model[0 if layers < 5 else -1].weight.detach()


with check.hidden_case(
    (
        "a shorter last batch, another seed: "
        "the same losses, accuracies and weights"
    ),
    hint=(
        "a short last batch, a seed: what weighs each loss? a new order"
        " in each epoch? is every image used?"
    ),
    weight=2,
    guard=True,
):
    model, optimizer = make_training(2, "cpu")
    shifted = images[:50] - 0.5  # prepared, they are the same
    history = fast_training(
        model,
        optimizer,
        shifted,
        labels[:50],
        "cpu",
        epochs=2,
        batch_size=16,
        seed=9,
    )
    losses, accuracies, weights = reference(images[:50], labels[:50], 2, 16, 9)
    check.close(history["loss"], losses, rtol=1e-3, name="losses")
    check.close(history["accuracy"], accuracies, atol=0.021, name="accuracies")
    *_, last_weight, last_bias = [part.detach() for part in model.parameters()]
    check.close(
        last_weight, weights, atol=1e-3, name="weights of the linear layer"
    )
with check.hidden_case(
    "prepare and capture are those that were handed in",
    hint=(
        "other functions are handed in: are they used, on what, and how often?"
    ),
):
    double, parts = (
        check.counted(lambda tensor: 2.0 * tensor),
        (images[:32], labels[:32]),
    )
    model, optimizer = make_training(2, "cpu")
    history = fast_training(
        model, optimizer, *parts, "cpu", epochs=1, batch_size=16, prepare=double
    )
    check.equal(double.count, 1, name="calls of prepare")
    losses, *_ = reference(
        *parts, 1, 16, 0, prepare=lambda tensor: 2.0 * tensor
    )
    check.close(
        history["loss"],
        losses,
        rtol=1e-3,
        name="loss of the images that it prepared",
    )
with check.hidden_case(
    "what is trained and looked at is what capture returned",
    hint=(
        "capture returns something else: is it what is trained, and "
        "looked at, the model being past it?"
    ),
    guard=True,
):
    options = {
        "epochs": 2,
        "batch_size": 16,
        "capture": lambda model: model[:4],
    }
    history = fast_training(
        *make_training(2, "cpu"), images[:32], labels[:32], "cpu", **options
    )
    losses, accuracies, _ = reference(
        images[:32], labels[:32], 2, 16, 0, layers=4
    )
    check.close(history["loss"], losses, rtol=1e-3, name="losses")
    check.close(history["accuracy"], accuracies, atol=0.035, name="accuracies")
few = images[:37], labels[:37]
with check.hidden_case(
    "the numbers keep their digits",
    hint=(
        "a single step: are the loss's digits kept, and is it the mean "
        "over all images?"
    ),
    guard=True,
):
    history = fast_training(
        *make_training(2, "cpu"), *few, "cpu", epochs=1, batch_size=64
    )
    losses, *_ = reference(*few, 1, 64, 0)
    # One step: some 1e-6 apart.
    check.close(history["loss"], losses, rtol=2e-5, name="loss")
with check.hidden_case(
    (
        "the optimiser that was handed in takes the steps, "
        "and old gradients do not count"
    ),
    hint=(
        "another rate, old gradients: whose optimiser steps, and what "
        "is cleared before the first backward?"
    ),
    guard=True,
):
    model, optimizer = make_training(2, "cpu", lr=0.02, old=1.0)
    history = fast_training(
        model, optimizer, *few, "cpu", epochs=1, batch_size=64
    )
    losses, accuracies, weights = reference(*few, 1, 64, 0, lr=0.02)
    check.close(history["loss"], losses, rtol=1e-3, name="losses")
    check.close(history["accuracy"], accuracies, atol=0.028, name="accuracies")
    last_weight = [part.detach() for part in model.parameters()][2]
    check.close(
        last_weight, weights, atol=1e-4, name="weights of the linear layer"
    )
with check.hidden_case(
    "no epoch",
    hint=(
        "no epoch: what do the two lists hold, and is anything read "
        "before the loop?"
    ),
    guard=True,
):
    history = fast_training(
        *make_training(2, "cpu"), *few, "cpu", epochs=0, batch_size=64
    )
    check.equal(history, {"loss": [], "accuracy": []}, name="history")
with check.hidden_case(
    "the model's mode stays",
    hint=(
        "training or evaluation: does anything switch the model's mode,"
        " and not back?"
    ),
    guard=True,
):
    for mode in (True, False):
        model, optimizer = make_training(2, "cpu")
        model.train(mode)
        options = {"epochs": 1, "batch_size": 64, "capture": itself}
        fast_training(model, optimizer, *few, "cpu", **options)
        check.equal(model.training, mode, name="training mode afterwards")
with check.hidden_case(
    "the accuracy is looked at in the mode in which the model came",
    hint=(
        "dropout, either mode: which mode in training, which for the "
        "accuracy? in both epochs?"
    ),
    guard=True,
):
    # A layer that drops all it is given, in training mode only.
    for mode in (True, False):
        model, optimizer = make_training(2, "cpu", dropout=1.0)
        model.train(mode)
        options = {"epochs": 2, "batch_size": 16, "capture": itself}
        history = fast_training(model, optimizer, *few, "cpu", **options)
        losses, accuracies, _ = reference(*few, 2, 16, 0, dropout=1.0 * mode)
        check.close(history["loss"], losses, rtol=1e-3, name="losses")
        found = history["accuracy"]
        check.close(found, accuracies, atol=0.028, name="accuracies")
with check.hidden_case(
    "PyTorch's own random numbers are left to the network",
    hint=(
        "dropout draws from PyTorch's generator: who else draws from "
        "it, or seeds it?"
    ),
    guard=True,
):
    untrained = make_training(2, "cpu", dropout=0.5)
    options = {"epochs": 1, "batch_size": 16, "capture": itself}
    history = fast_training(*untrained, *few, "cpu", **options)
    losses, *_ = reference(*few, 1, 16, 0, dropout=0.5)
    check.close(history["loss"], losses, rtol=1e-3, name="loss with dropout")
    untouched = drawn_after(0, *few)
    check.close(drawn_after(2, *few), untouched, name="next random number")
with check.hidden_case(
    "images, labels and an earlier history stay as they are",
    hint=(
        "prepare and to() may return the very images: is anything "
        "written to in place afterwards?"
    ),
    guard=True,
):
    given = images[:20].clone(), labels[:20].clone()
    options = {"epochs": 2, "batch_size": 8, "prepare": lambda tensor: tensor}
    with check.unchanged(images=given[0], labels=given[1]):
        first, second = (
            fast_training(*make_training(0, "cpu"), *given, "cpu", **options)
            for _ in range(2)
        )
    check.separate(second, first)
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Predict, then measure (1 point)
#
# Commit to three numbers before you run the experiments below; the point is for writing them down.
#
# * `"slow loop"`: how many times as long `slow_training` takes as your `fast_training`, on this machine.
# * `"narrow"`: how many times as fast as this core a V100 takes one step of two linear layers of width 32,
#   with 256 rows that come from the host each time.
# * `"wide"`: the same with width 2048.
#
# If this machine has a GPU, that one answers instead of the V100.
# Else a model of the V100 in float32 does, made of your own counts and its data sheet.
#
# `predictions()` returns a dictionary with these three keys and a number above 0 for each, the same in each call. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return the three ratios that I expect, each above 0."""
    ### BEGIN SOLUTION
    return {"slow loop": 10.0, "narrow": 2.0, "wide": 50.0}
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "three predictions",
    hint=(
        "which three keys does the text name, and is each of them there once?"
    ),
):
    check.equal(sorted(predictions()), ["narrow", "slow loop", "wide"])
with check.case(
    "each is a ratio above 0",
    hint=("is each a ratio above 0? 0.5 means half as fast, 2 twice as fast"),
):
    for name in ("narrow", "slow loop", "wide"):
        check.at_least(predictions()[name], 1e-9, name=name)
with check.case(
    "the same in each call", hint="commit: draw nothing", guard=True
):
    check.equal(predictions(), predictions(), name="two calls")
check.score(1)

# %% [markdown]
# ### Experiment 1. What each habit costs here
#
# Five of the six habits of `slow_training`, each timed by itself on this CPU, for one step of 32 images;
# beside them a whole step of each loop (orange), the fastest runs of all;
# steps are timed by their thread's own clock, which stops when another program has the core.
# The sixth, keeping the evaluation's graph, costs memory.


# %% explore=true
def loop_over_images(logits, labels):
    each = [
        nn.functional.cross_entropy(logits[i], labels[i])
        for i in range(len(labels))
    ]
    torch.autograd.grad(torch.stack(each).mean(), logits)


everything, one_epoch = (x_train, y_train), {"epochs": 1, "batch_size": 32}
network, number = make_training(0, "cpu")[0], torch.rand(())
scores = torch.rand(32, 10, requires_grad=True)
both, ends = {}, {"slow": [], "fast": []}
for name, train in (("slow", slow_training), ("fast", fast_training)):
    run = make_training(0, "cpu")
    run[1].register_step_post_hook(  # after each update
        lambda *_, name=name: ends[name].append(time.thread_time())
    )
    both[name] = lambda run=run, train=train: train(
        *run, *everything, "cpu", **one_epoch
    )
epochs = compare(both, repeat=5)


# %% explore=true
def fastest(function, *args):
    """Return the milliseconds of the fastest call: nobody interrupted it."""
    return 1e3 * min(bench(function, *args).samples_s)


slow, own = (1e3 * min(np.diff(ends[name])) for name in ("slow", "fast"))
costs = {
    "capture": fastest(capture_model, network),
    "loop over\nimages": fastest(loop_over_images, scores, y_train[:32]),
    "prepare": fastest(prepare_images, x_train),
}
named = {"a slow step,\nall in all": slow, "your\nstep": own} | costs
title = "Milliseconds a step on this CPU, the fastest runs"
ax = plot.bars(named, ylabel="ms", title=title, fmt=".2g")
for bar in ax.patches[:2]:
    bar.set_color(plot.PALETTE[1])
small = {"read": fastest(number.item), "move": fastest(x_train.to, "cpu")}
for name, milliseconds in (costs | small).items():
    plain = name.replace("\n", " ")
    print(f"{plain:17} {milliseconds / own:8.2%} of a step of yours")
rest = slow - own - sum(costs.values())
print(f"of the slow step {slow:.2f} ms, not in these parts {rest:.2f} ms")
low, middle, high = epochs.ratio("slow", "fast")
print(
    f"epochs, slow over yours: {middle:.1f} ({low:.1f} to {high:.1f}),", end=" "
)
print(f"you predicted {predictions()['slow loop']:g}")

# %% [markdown]
# Capturing the graph and looping over images are Python and many small operators: they cost time on a CPU, too.
# Reading a number and moving cost too little here to draw:
# a person who measures here only would leave them in.
# (The parts leave a rest: a new graph is slower in its first run, and a call repeated alone finds everything in the cache.)
#
# On a GPU both cost: a copy of the whole data set over the bus, and a queue that runs empty in each step.
# Measure on the machine that it is for; where you have none, count.

# %% [markdown]
# ### Experiment 2. When does a GPU pay?
#
# Two linear layers of width $w$, 256 rows a step, which come from the host.
# This core is measured, and a GPU that is here.
# The cards of the data sheets are *modelled*, from your functions:
#
# * the rows cross the bus, at its data-sheet speed;
# * the host starts one operator after the other, each in the time that it takes here
#   when there is nothing to compute (layers of width 1);
# * the device works meanwhile, as long as your `roofline` says, layer by layer.
#
# $$\text{step} = \text{bytes moved}/\text{bus} + \max(\text{starting},\ \textstyle\sum \text{roofline})$$

# %% nbgrader={"grade_id": "crossover", "locked": true}


def two_layers(width: int, where: str):
    """Return a function: one training step on 256 rows from the host."""
    net = nn.Sequential(
        nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)
    ).to(where)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    rows, labels = torch.rand(256, width), torch.zeros(256, dtype=torch.long)

    def step() -> None:
        loss = nn.functional.cross_entropy(
            net(rows.to(where)), labels.to(where)
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def modelled(width: int, sheet, starting_s: float, itemsize: int = 4) -> float:
    """Return a step's seconds on a card, from counts, sheet and host's time."""
    top, memory, bus = sheet
    moved = count.operations(two_layers(width, "meta"))["bytes moved"]
    product = flops_and_bytes(
        "matmul", (256, width), (width, width), itemsize=itemsize
    )
    # 2 forward, 3 back: no gradient for the rows.
    work = 5 * roofline(top, memory, *product)[0]
    updates = flops_and_bytes("multiply", (width, width), (width, width))
    # The optimiser: gradient, weight in, weight out.
    work += 2 * roofline(top, memory, *updates)[0]
    return moved / bus + max(starting_s, work)


# %% explore=true
widths = np.array([32, 64, 128, 256, 512, 1024, 2048])
runs = {
    int(w): {"step": two_layers(int(w), "cpu"), "start": two_layers(1, "cpu")}
    for w in widths
}
pairs = [compare(run, repeat=9) for run in runs.values()]
# The fastest: nobody interrupted it.
starting = min(min(pair["start"].samples_s) for pair in pairs)
one_core = np.array([min(pair["step"].samples_s) for pair in pairs])
ratios = {}
if device() != "cpu":
    on_gpu = [min(bench(two_layers(w, device())).samples_s) for w in runs]
    ratios[f"{device()}, float32, measured"] = (
        widths,
        one_core / np.array(on_gpu),
    )
for name, sheet in DATA_SHEETS.items():
    size = 4 if "32" in name else 2  # bytes of a number
    found = [modelled(w, sheet, starting, size) for w in runs]
    ratios[f"{name}, model"] = (widths, one_core / np.array(found))
# One H100, and the 16 cores of its machine, as the course measured them.
H100, H100_16_CORES = [0.51, 0.61, 0.93, 2.02, 5.39, 15.9, 59.98], 7.78
ratios["H100, measured, over a core\nof its own machine"] = widths, H100
print(
    f"starting the operators of one step takes the host {starting * 1e6:.0f} µs"
)

# %% explore=true
ax = plot.curves(
    ratios,
    title="How many times as fast as one core, one training step",
    xlabel="width",
    ylabel="times as fast",
    logx=True,
    logy=True,
)
ax.figure.set_size_inches(9, 3.8)
for height, name, at in ((1, "one core", 1200), (10, "source A: 10", 32)):
    ax.axhline(height, color="grey", linewidth=1)
    ax.text(at, 1.1 * height, name, color="grey")
for line in ax.lines[: len(ratios)]:
    line.set_linewidth(3.5 if "measured" in line.get_label() else 1.2)
ax.set_xticks(widths, widths)
ax.minorticks_off()
first_device = next(iter(ratios))
narrow, *_, wide_ratio = ratios[first_device][1]
for width, ratio, key in ((32, narrow, "narrow"), (2048, wide_ratio, "wide")):
    print(f"{first_device}, width {width}: {ratio:.3g},", end=" ")
    print(f"you predicted {predictions()[key]:g}")
print(
    f"H100, measured: {H100[0]:.1f} at width 32, {H100[-1]:.0f} at 2048, "
    f"{H100_16_CORES:.0f} there over 16 cores"
)
for name, (top, memory, _) in DATA_SHEETS.items():
    size = 4 if "32" in name else 2
    work = [modelled(w, (top, memory, 1e99), 0.0, size) for w in runs]
    host = max(widths[np.array(work) < starting], default=0)
    print(f"{name:20} waits for the host up to width {host}")

# %% [markdown]
# Narrow layers gain little: the same Python starts the same operators, and up to the first of the printed widths
# the host bounds all cards, so that the modelled lines nearly lie on each other (the buses differ).
# The gain grows with the width, for the core needs longer and the cards hardly do.
# Source A says *at least 10x*. That is a statement about large enough work, not about GPUs.

# %% [markdown]
# Two warnings. A model that leaves things out is kind: at the middle widths it may promise ten times what the H100's line reached, or more, a faster card than a V100.
# Starting an operator on a GPU costs the host more than it does here, for it goes through the card's driver:
# with narrow layers the H100 loses against a core.
# And one core is not a CPU: over all 16 cores of its own machine the H100 misses the lecture's ten.

# %% [markdown]
# ### With a GPU
#
# The next two cells time a product with and without waiting, and your training loops where they were meant to run,
# or show what a recorded run printed.

# %% explore=true
from labkit import recorded

if device() == "cpu":
    print("No GPU here: skipped both loops on one. Their counts above must do.")
    print(recorded("04_gpu_training"))
else:
    here = device()
    a, b = torch.rand(2, 4096, 4096, device=here)
    # bench warms up, and leaves the queue empty.
    right = bench(torch.mm, a, b).median_s
    start = time.perf_counter()
    torch.mm(a, b)
    naive = time.perf_counter() - start
    print(f"a product takes {right * 1e3:.3f} ms,", end=" ")
    print(f"a timer that does not wait says {naive * 1e3:.3f} ms")

# %% explore=true
if device() != "cpu":
    loops = {
        "slow": lambda t=make_training(0, here): slow_training(
            *t, *some, here, **one_epoch
        ),
        "fast": lambda t=make_training(0, here): fast_training(
            *t, *some, here, **one_epoch
        ),
    }
    timings = compare(loops, repeat=5)
    low, middle, high = timings.ratio("slow", "fast")
    print(f"slow over yours on {here}: {middle:.1f} ({low:.1f} to {high:.1f})")
    alone = bench(
        lambda t=make_training(0, "cpu"): fast_training(
            *t, *some, "cpu", **one_epoch
        )
    )
    print(
        f"yours, {here} over one core: {timings['fast'].ratio(alone):.2f} "
        "times as long"
    )

# %% [markdown]
# In the recorded run an H100 took a tenth longer for a step of your loop than one CPU core:
# some thirty launches for 1,370 weights, each of which costs more than what it starts.
# The count of Task 6 said so without a GPU, and it is the answer to this lab's title for a network this small.
#
# "Slow over yours" is 5.8 there: with 256 images of 64 numbers a copy is short and nothing queues for long,
# so the loops in Python are the larger waste.

# %% [markdown]
# ## Open task: fewer launches (2 points)
#
# From the second step on, when the optimiser has its memory of earlier gradients,
# a step of Task 6 takes 31 launches, if the optimiser goes through the parameters one by one.
# That is PyTorch's default on `"meta"` and the CPU; on CUDA it is `foreach`, one launch for many parameters.
# How few can it take, with the same losses up to rounding?
# You choose what to change: the optimiser, its options or one of your own, the loss, the layers, how parameters lie in memory.
# Not the batch, nor the number of layers. The counts are exact, so you can compare them with your neighbours'.

# %% [markdown]
# Hand in, below and in the cell after it:
#
# 1. a figure of the launches of a step for at least four variants of yours, with labelled axes,
#    and for each the largest difference of its losses from Task 6's;
# 2. three or four sentences: what saved most and why, what you tried in vain,
#    and from which batch on fewer launches would no longer make a step on a GPU shorter
#    (without a GPU, estimate: Experiment 2's formula has a larger of two).


# %% explore=true
# Change this cell: two variants are a beginning.
def launches_and_losses(**options):
    """Return the launches of a later step, and the losses of five steps."""
    options = {"lr": 0.1, "momentum": 0.9, **options}
    model, _ = make_training(0, "meta")
    optimizer = torch.optim.SGD(model.parameters(), **options)
    _, one, two = (  # the first step differs: it makes the memory
        count.operations(train_epoch, model, optimizer, one_batch * n, "meta")
        for n in (1, 1, 2)
    )
    model, _ = make_training(0, "cpu")
    optimizer = torch.optim.SGD(model.parameters(), **options)
    losses = [
        train_epoch(model, optimizer, one_batch, "cpu").item() for _ in range(5)
    ]
    return two["launches"] - one["launches"], np.array(losses)


variants = {
    "one by one": launches_and_losses(foreach=False),
    "foreach": launches_and_losses(foreach=True),
}
for name, (launches, losses) in variants.items():
    away = np.abs(losses - variants["one by one"][1]).max()
    print(f"{name:12} {launches} launches, losses differ by {away:.0e}")
ax = plot.bars(
    {name: launches for name, (launches, _) in variants.items()},
    ylabel="launches a step",
    title="Launches of a step, for the same losses",
)

# %% [markdown] nbgrader={"grade_id": "launches", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# I tried: the optimiser one parameter after the other; `foreach=True`, one launch for all parameters of each of its operations;
# gradients set to zero in place instead of to none (more launches, not fewer); all parameters as views of one flat tensor,
# whose gradient lies flat, too, so that momentum and step are two operations for any number of parameters;
# and biases added inside the product and the convolution (they already were).
# The optimiser saved most: without `foreach` it launches for each parameter, and its work on 1,370 numbers is nothing.
# What is left is one launch for each operator forward and one or two back; only fusing them
# (`torch.compile`) or recording the step (a CUDA graph) goes further. The losses agree to 1e-7.
# With 3 µs a launch some 20 launches take 60 µs. A step of this network is longer than that on a V100 only from some thousand images on:
# from there the kernels bound it, and launches no longer matter.
#
# **Rubric.**
#
# * 1 point: the figure, with at least four variants from their own counts, labelled, and losses compared.
#   Half a point for three, or without the losses.
# * 1 point: what saved most, with a reason that speaks of one launch per operator and parameter (half);
#   something that did not help, and that large batches make kernels longer than launches (half).
#
# The number of launches earns nothing. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# `torch.compile` goes on from here: it fuses neighbouring elementwise operators into one kernel.
# A CUDA graph records all launches of a step once and repeats them with a single one.

# %% [markdown]
# ### In your words (2 points)
#
# A colleague trains a recommender in float32, without Tensor Cores, on a V100 and shows you a profile of one step, batch 16:
#
# | part | share of the step | FLOP a byte | launches |
# |---|---|---|---|
# | linear layers, 16 rows x (512, 512) | 22 % | 7.5 | 60 |
# | elementwise operators | 13 % | 0.1 | 420 |
# | copies from the host, one a feature | 9 % | | 90 |
# | no kernel runs | 56 % | | |
#
# `loss.item()` is called after each step. She wants to buy a card with eight times the FLOP/s and the same bandwidth.

# %% [markdown]
# 1. What bounds this step, and which numbers of the table say so?
#    Name two changes that you would make first, in order, and for each the count that must drop.
# 2. What does the new card change, part by part?
#    What will still bound the linear layers on the V100, and does that end from some batch on? From which? And on the new card?
#
# About 120 words.

# %% [markdown] nbgrader={"grade_id": "bounds", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# For 56 % of the step no kernel runs: the device waits for the host.
# 570 launches and copies in one step, most of them tiny, and an `item()` that empties the queue after each step,
# so that the host cannot run ahead: the step is bound by launches and synchronisation.
# First a larger batch, fused operators or a captured graph: the launches for each image must drop.
# Then one copy for all features, and `item()` once in many steps or once an epoch: transfers and synchronisations must drop.
#
# The new card changes next to nothing. Idle time, copies and launches stay.
# Elementwise operators at 0.1 and linear layers at 7.5 FLOP a byte both lie left of the V100's ridge of 17:
# they are memory-bound, and the bandwidth stays the same. The ridge only moves to 139.
# The linear layers fetch their weights for only 16 rows.
# With $m$ rows the intensity is $2 \cdot 512^2 m / (4 (512^2 + 2 \cdot 512 m))$, nearly $m/2$ at first;
# it reaches the V100's 17 at some 40 rows, and the new card's 139 never: it cannot exceed 128 with layers of 512.
#
# **Rubric.**
#
# * 1 point: bound by the host (launches, synchronisation), from the 56 % and the number of launches (half);
#   two changes in a sensible order, each with the count that drops (half).
# * 1 point: the new card helps nearly nothing; memory-bound parts by the ridge, the rest by launches (half);
#   on the V100 some 35 to 45 rows pass the ridge of 17, on the new card none do, since the intensity stays below 128 (half).
#
# Half a point off for claims without a reason. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## Your result card
#
# The ratio of Experiment 2, at the largest width, and beside it what an H100 reached:
# the model leaves out what Experiment 2 warns of.

# %% explore=true
said = "" if device() != "cpu" else f"; measured on an H100: {H100[-1]:.0f} x"
result_card(
    "a training step of two layers of width 2048 is faster on a GPU than on "
    f"one core ({first_device}{said})",
    wide_ratio,
    unit="x",
    seed_value=10,
    source="A: training is at least 10x faster on GPUs than on CPUs",
    lab="04_gpu_training",
    kind="modelled" if first_device.endswith("model") else "measured",
    note=f"One CPU core, measured; at width 32 it is {narrow:.1f} x. "
    f"A model is kind: an H100 reached {H100[-1]:.0f} x over a core, and "
    f"{H100_16_CORES:.0f} x over 16.",
)

# %% [markdown]
# ## What you take along
#
# * Count FLOPs and bytes first. Below the ridge only fewer bytes help; above it only fewer FLOPs or a faster chip.
# * A batch gives a linear layer its intensity and a systolic array its work, and makes a launch worth its time.
# * On an asynchronous device a timer must wait twice.
# * Reading numbers and moving tensors costs nothing on a CPU; on a GPU they are waits and copies,
#   which can be counted without one.
# * A GPU pays for large enough work. Say how large when you say how much faster.
#
# The next lab takes one operator, convolution, and asks why there are so many ways to compute it.
