# %% [markdown]
# # 09. Small models
#
# **How do I deploy a small model that is as good?**
# You make one trained network smaller, way by way,
# and end with a board of files for several runtimes.
#
# | part | the network becomes | hours |
# |---|---|---|
# | 1 | 8-bit integers | 2 |
# | 2 | fewer bits | 1 |
# | 3 | fewer channels | 0.5 |
# | 4 | a small student, which it teaches | 1 |
# | 5, a detour | another layer | 0.5 |
# | 6 | files, timed, and one of your own | 1.5 |
#
# Short of time? Leave out part 5 (1 point of 20) and LiteRT in part 6.

# %% [markdown]
# | | |
# |---|---|
# | Prerequisites | labs 02 (PyTorch), 03 (number formats) and 08 (pruning); lab 05 (convolution) helps |
# | Time | 6 to 7 hours |
# | Points | 20: 16 from checks, 4 from two written answers |
# | Hardware | one CPU core; one cell near the end uses a GPU |
# | Source | D, slides on deep learning at large scale |

# %% [markdown]
# ## How this notebook works
#
# Each task asks for one function.
# Replace the line that raises `NotImplementedError`
# and keep the name and the arguments.
# Then run what stands below it: most tasks have a cell
# that shows what your function does, and each has a check.
# Read the first case that fails.
# (One that "counts once another case passes" earns nothing alone.)
# Hidden cases test what the text promises, with other numbers.
# No function changes its arguments, or an earlier result, and no check looks at a clock.
#
# Cells that begin with `# explore` are yours to change.
# They are not run when your work is graded:
# a helper or an import that a task needs belongs in the task's cell,
# and your own plots are read as saved.

# %% nbgrader={"grade_id": "setup", "locked": true}
import contextlib
import copy
import importlib.util
import io
import logging
import math
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from labkit import check, compare, device, in_fresh_process
from labkit import load, plot, result_card

torch.set_num_threads(1)


def missing(*packages: str) -> bool:
    """Say in a line what is left out if one of the packages is not there."""
    gone = [p for p in packages if importlib.util.find_spec(p) is None]
    if gone:
        wanted = " ".join(gone).replace("_", "-")
        print(f"left out, no {wanted} here: pip install {wanted}")
    return bool(gone)


# %% [markdown]
# ## The network
#
# It reads letters and digits of 28 x 28 pixels, in 36 classes.
# Each square of 2 x 2 pixels becomes one place with 4 channels,
# so the first convolution sees 14 x 14 places.
# Six convolutions of 3 x 3, each followed by batch normalisation;
# the last four form two *residual blocks*,
# whose output is added to their input.
# The *head*, a linear layer, turns the means over all places into 36 *logits*,
# one score a class: the largest names the class, softmax makes probabilities.
# Activations are the numbers that a layer hands on to the next.


# %% nbgrader={"grade_id": "network", "locked": true}
def sizes_of(a: int, b: int) -> dict[str, tuple[int, int]]:
    """Return the channels into and out of each convolution, by its name."""
    sizes = {"conv1": (4, a), "conv2": (a, b)}
    return sizes | dict.fromkeys(("a1", "a2", "b1", "b2"), (b, b))


class Reader(nn.Module):
    """Six convolutions and a linear layer; images (n, 4, 14, 14)."""

    def __init__(self, a: int = 32, b: int = 48) -> None:
        super().__init__()
        self.conv, self.norm = nn.ModuleDict(), nn.ModuleDict()
        for name, (i, o) in sizes_of(a, b).items():
            self.conv[name] = nn.Conv2d(i, o, 3, padding=1, bias=False)
            self.norm[name] = nn.BatchNorm2d(o)
        self.head = nn.Linear(b, 36)

    def act(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return x  # a quantised twin rounds here

    def step(self, name: str, x: torch.Tensor, skip=0.0) -> torch.Tensor:
        y = self.norm[name](self.conv[name](x)) + skip
        return self.act(name, y.relu())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.act("input", x)
        x = functional.max_pool2d(self.step("conv1", x), 2)
        x = self.step("conv2", x)
        x = self.step("a2", self.step("a1", x), skip=x)
        x = self.step("b2", self.step("b1", x), skip=x)
        return self.head(x.mean((2, 3)))


# %% nbgrader={"grade_id": "training", "locked": true}
def fit(network, x, targets, *, steps, lr, seed=0, loss=None, adam=False):
    """Train in place on batches of 64: a rate that rises, then falls to 0."""
    loss = loss or functional.cross_entropy
    draw = torch.Generator().manual_seed(seed)
    if adam:
        optimizer = torch.optim.Adam(network.parameters(), lr)
    else:
        optimizer = torch.optim.SGD(
            network.parameters(),
            lr,
            momentum=0.9,
            weight_decay=5e-4,
            nesterov=True,
        )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, lr, total_steps=steps, pct_start=0.2, cycle_momentum=False
    )
    network.train()
    order = torch.randperm(len(x), generator=draw)
    for step in range(steps):
        at = 64 * step % (len(x) // 64 * 64)
        if at == 0:
            order = torch.randperm(len(x), generator=draw)
        some = order[at : at + 64]
        optimizer.zero_grad()
        loss(network(x[some]), targets[some]).backward()
        optimizer.step()
        schedule.step()
    return network.eval()


# %% nbgrader={"grade_id": "reading", "locked": true}
def accuracy(network, x, y) -> float:
    """Return the share of images that a network reads correctly."""
    with torch.no_grad():
        return float((network(x).argmax(1) == y).float().mean())


def tensors(split):
    """Return images as (n, 4, 14, 14) and labels, as tensors."""
    x = functional.pixel_unshuffle(torch.from_numpy(split.x)[:, None], 2)
    return x.contiguous(), torch.from_numpy(split.y)


def train_reader(seed: int, a: int = 32, b: int = 48) -> Reader:
    torch.manual_seed(seed)
    return fit(Reader(a, b), x_train, y_train, steps=450, lr=0.1, seed=seed)


# %% explore=true
glyphs = load("glyphs")
print(glyphs)
x_train, y_train = tensors(glyphs.train)
x_val, y_val = tensors(glyphs.validation)
x_test, y_test = tensors(glyphs.test)
# channels last in memory: these convolutions are faster so
x_train, x_val, x_test = (
    x.contiguous(memory_format=torch.channels_last)
    for x in (x_train, x_val, x_test)
)
reader = train_reader(0)
whole = accuracy(reader, x_val, y_val)
count = sum(p.numel() for p in reader.parameters())
print(f"{count:,} parameters, validation accuracy {whole:.1%}")

# %% explore=true
letters = glyphs.classes


def pictures(x) -> np.ndarray:
    """Return inputs (n, 4, 14, 14) as images (n, 28, 28)."""
    return functional.pixel_shuffle(x, 2)[:, 0].clamp(0, 1).numpy()


firsts = [int(np.flatnonzero(y_val == c)[0]) for c in range(36)]
plot.images(
    pictures(x_val[firsts]),
    columns=12,
    title="What it reads: the first image of each class",
)

# %% [markdown]
# ### Task 1. Predict (1 point)
#
# Commit to three numbers before you measure them;
# the point is for writing them down.
#
# * `"smaller"`: how many times smaller the file of an int8 network is
#   than the float32 one, both as ONNX files (a format for trained networks).
# * `"bits"`: the fewest bits, for weights and activations alike,
#   at which rounding *after* training costs less than 20 points of accuracy.
# * `"faster"`: how many times as fast the network runs when each block
#   keeps a third of its inner channels (48 become 16).
#
# `predictions()` returns a dictionary with these three keys
# and a number above 0 for each, the same in each call. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return a ratio, a number of bits and a ratio, each above 0."""
    ### BEGIN SOLUTION
    return {"smaller": 4.0, "bits": 6, "faster": 3.0}
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "three predictions",
    hint="return a dictionary with exactly the three keys of the text",
):
    check.equal(sorted(predictions()), ["bits", "faster", "smaller"])
with check.case(
    "each is above 0",
    hint="two are ratios, one a number of bits; half as fast is 0.5",
):
    for name in ("bits", "faster", "smaller"):
        check.at_least(predictions()[name], 1e-9, name=name)
with check.case(
    "the same in each call", hint="commit: draw nothing", guard=True
):
    check.equal(predictions(), predictions(), name="two calls")
check.score(1)

# %% [markdown]
# ## Part 1: eight bits
#
# ### Task 2. Fold batch normalisation (2 points)
#
# Batch normalisation subtracts the mean $\mu$ and divides by the spread $\sigma$, channel by channel,
# then scales by $\gamma$ and shifts by $\beta$. After training it is a fixed straight line per channel:
#
# $$y = \gamma\,\frac{(w * x) - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta .$$
#
# A convolution is linear, so the line can move into it:
# a new weight and a bias give the same $y$, and one layer is gone.

# %% [markdown]
# `fold_batchnorm(w, gamma, beta, mean, var, eps)` takes tensors:
# `w` of shape `(o, ...)` with any number of further axes,
# the others of shape `(o,)`, and a number `eps`.
# It returns the new weight, of `w`'s shape, and the bias, of shape `(o,)`,
# both of `w`'s dtype, whatever the dtype of the others.
#
# For one channel with `w = 2`, `gamma = 3`, `beta = 1`,
# `mean = 4`, `var = 3` and `eps = 1` they are `3` and `-5`.
# About 4 lines.


# %% nbgrader={"grade_id": "fold-batchnorm", "solution": true}
def fold_batchnorm(w, gamma, beta, mean, var, eps: float):
    """Return (weight, bias) that do what w and the normalisation do."""
    ### BEGIN SOLUTION
    factor = gamma / torch.sqrt(var + eps)
    shape = (-1,) + (1,) * (w.dim() - 1)
    weight, bias = w * factor.reshape(shape), beta - mean * factor
    return weight.to(w.dtype), bias.to(w.dtype)
    ### END SOLUTION


# %% nbgrader={"grade_id": "fold", "locked": true}
def fold(network: Reader) -> Reader:
    """Return a copy whose convolutions have a bias and no normalisation."""
    folded = copy.deepcopy(network).eval()
    for name, c in folded.conv.items():
        n = folded.norm[name]
        with torch.no_grad():
            w, bias = fold_batchnorm(
                c.weight, n.weight, n.bias, n.running_mean, n.running_var, n.eps
            )
        c.weight, c.bias = nn.Parameter(w), nn.Parameter(bias)
        folded.norm[name] = nn.Identity()
    return folded


# %% explore=true
folded = fold(reader)
with torch.no_grad():
    apart = (folded(x_val[:64]) - reader(x_val[:64])).abs().max()
print(f"logits differ by {apart:.1e} at most")
times = compare(
    {
        "with normalisation": lambda: reader(x_val[:64]),
        "folded": lambda: folded(x_val[:64]),
    }
)
print("largest weight of the widest channel over that of the narrowest")
for name in folded.conv:
    tops = [
        network.conv[name].weight.detach().abs().amax((1, 2, 3))
        for network in (reader, folded)
    ]
    before, after = (float(top.max() / top.min()) for top in tops)
    print(f"{name:6} before folding {before:.1f}, after {after:.1f}")
times

# %% [markdown]
# Nothing is lost but a layer.
# (In the column `vs`, 0.8x means 1 / 0.8 = 1.25 times as fast.)
#
# Every output channel was multiplied by a factor of its own.
# The list says how far apart the channels' ranges were before, and are now:
# in some layers folding may hardly move them.
# But apart they are, and one scale for a whole layer
# must reach as far as the widest channel,
# while the narrow ones use only some of its codes
# (Part 2 measures what that costs).
# So runtimes give *each output channel of the weights* a scale:
# a common factor of the whole sum, applied after it.

# %% nbgrader={"grade_id": "fold-batchnorm-check", "grade": true, "points": 2}
import numpy as np
import torch

from labkit import check


def bn_inputs(seed, shape, dtype=torch.float64):
    """Return w, gamma, beta, mean and var; signs vary, var is positive."""
    draw = torch.Generator().manual_seed(seed)
    w = torch.randn(shape, generator=draw, dtype=dtype)
    rest = torch.randn(4, shape[0], generator=draw, dtype=dtype)
    return w, rest[0], rest[1], rest[2], rest[3].abs() + 0.1


def bn_expect(got, want, dtype="float64"):
    w, b = got
    check.close(w, want[0], dtype=dtype, rtol=1e-5, name="weight")
    check.close(b, want[1], dtype=dtype, rtol=1e-5, atol=1e-6, name="bias")


with check.case(
    "the worked example",
    hint="what multiplies w in the formula, and in which shape? what is left "
    "if x is 0?",
):
    one = [torch.tensor([v]) for v in (3.0, 1.0, 4.0, 3.0)]
    got = fold_batchnorm(torch.tensor([[[[2.0]]]]), *one, 1.0)
    bn_expect(got, ([[[[3.0]]]], [-5.0]), "float32")
with check.case(
    "each output channel has its own factor",
    hint="to which axis of w does the factor belong? how many axes come after "
    "it, in w and in the factor?",
    more="broadcasting lines shapes up from the right; w has more axes",
    essential=True,
):
    w = torch.tensor([[1.0, 2], [3, 4]], dtype=torch.float64)[..., None, None]
    rest = [[3.0, 1], [1, 0], [4, 2], [3, 0]]
    rest = [torch.tensor(v, dtype=torch.float64) for v in rest]
    first = fold_batchnorm(w, *rest, 1.0)  # must outlive the next call
    second = fold_batchnorm(-w, *(v.flip(0) for v in rest), 1.0)
    bn_expect(first, ([[[[1.5]], [[3]]], [[[3]], [[4]]]], [-5, -2]))
    turned = [[[[-1]], [[-2]]], [[[-4.5]], [[-6]]]]
    bn_expect(second, (turned, [-2, -5]))
with check.case(
    "nothing is changed in place",
    hint="w *= factor changes the network's own weights",
    guard=True,
):
    case = bn_inputs(3, (3, 3, 3, 3))  # a factor of another axis fits, too
    names = dict(zip(("w", "g", "b", "m", "v"), case, strict=True))
    with check.unchanged(**names):
        fold_batchnorm(*case, 0.1)
### BEGIN HIDDEN TESTS


def bn_want(w, gamma, beta, mean, var, eps):
    f = gamma.numpy() / np.sqrt(var.numpy() + eps)
    b = beta.numpy() - mean.numpy() * f
    return np.stack([f[i] * w[i].numpy() for i in range(len(f))]), b


with check.hidden_case(
    "any signs, two layers of one shape",
    hint="which axis has a factor of its own? are all digits and signs "
    "kept, and is nothing kept from before?",
    essential=True,
):
    cases = [bn_inputs(seed, (3, 3, 3, 3)) for seed in (1, 2)]
    found = [fold_batchnorm(*case, 1e-3) for case in cases]
    for got, case in zip(found, cases, strict=True):
        bn_expect(got, bn_want(*case, 1e-3))
with check.hidden_case(
    "a linear layer, and one of a single axis more or less",
    hint="w may have two axes or five: count them",
):
    for shape in ((4, 4), (2, 3, 5), (3, 2, 2, 2, 2), (9,), (1, 5, 1, 1)):
        case = bn_inputs(4, shape)
        bn_expect(fold_batchnorm(*case, 1e-3), bn_want(*case, 1e-3))
with check.hidden_case(
    "a channel that is switched off",
    hint="gamma may be 0: what is left of the formula then?",
):
    w, gamma, *rest = bn_inputs(10, (4, 2, 3, 3))
    gamma[1:3] = 0
    bn_expect(
        fold_batchnorm(w, gamma, *rest, 1e-3), bn_want(w, gamma, *rest, 1e-3)
    )
with check.hidden_case(
    "eps is the argument, and stands under the root",
    hint="read the formula's root again",
):
    case = bn_inputs(5, (3, 2, 3, 3))
    for eps in (0.0, 0.1234567, 10.0):
        bn_expect(fold_batchnorm(*case, eps), bn_want(*case, eps))
with check.hidden_case(
    "float32 stays float32", hint="make no tensor of another dtype"
):
    case = bn_inputs(6, (3, 2, 3, 3), torch.float32)
    got = fold_batchnorm(*case, 1e-5)
    bn_expect(got, bn_want(*case, 1e-5), "float32")
with check.hidden_case(
    "both have w's dtype, whatever the others have",
    hint="of two dtypes PyTorch takes the wider one",
):
    for low, high in (("float16", "float32"), ("float32", "float64")):
        for mine, other in ((low, high), (high, low)):
            w, *rest = bn_inputs(8, (3, 2, 3, 3))
            w = w.to(getattr(torch, mine))
            rest = [v.to(getattr(torch, other)) for v in rest]
            got = fold_batchnorm(w, *rest, 1e-3)
            want = bn_want(w.double(), *(v.double() for v in rest), 1e-3)
            some = {"dtype": mine, "rtol": 5e-3, "atol": 5e-3}
            check.close(got[0], want[0], name="weight", **some)
            check.close(got[1], want[1], name="bias", **some)
with check.hidden_case(
    "a variance that is too large for w's dtype",
    hint="convert the results, not what they are computed from",
):
    w, gamma, beta, mean, var = bn_inputs(11, (3, 2, 3, 3))
    var, mean, gamma = 1e6 * var, 300 * mean, 1000 * gamma
    got = fold_batchnorm(w.half(), gamma, beta, mean, var, 1e-3)
    want = bn_want(w.half().double(), gamma, beta, mean, var, 1e-3)
    some = {"dtype": "float16", "rtol": 5e-3, "atol": 5e-3}
    check.close(got[0], want[0], name="weight", **some)
    check.close(got[1], want[1], name="bias", **some)
with check.hidden_case(
    "float64 keeps its digits", hint="nothing is rounded on the way"
):
    case = bn_inputs(7, (3, 2, 3, 3))
    w, b = fold_batchnorm(*case, 1e-5)
    want = bn_want(*case, 1e-5)
    check.close(w, want[0], rtol=1e-12, name="weight")
    check.close(b, want[1], rtol=1e-12, atol=1e-13, name="bias")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 3. Calibrate (2 points)
#
# An integer code $q$ stands for the real number $s\,(q - z)$:
# a *scale* $s$, and a *zero point* $z$, the code of 0.
# With $b$ bits, $q$ runs from $-2^{b-1}$ to $2^{b-1} - 1$.
# Weights are known, activations are not:
# one runs a few hundred images and looks at what comes.
#
# 1. `lo` and `hi` are the percentiles $100 - p$ and $p$ of all values
#    ($p$ percent of them lie below percentile $p$),
#    as `np.percentile` gives them; $p$ is the argument `percentile`.
# 2. If need be they are moved apart to include 0:
#    it must have a code of its own, for padding and ReLU produce it.
# 3. $s = (hi - lo) / (2^b - 1)$, $\; z = \mathrm{round}(-2^{b-1} - lo/s)$.

# %% [markdown]
# `calibrate(values, bits=8, percentile=100.0)` takes an array
# of any shape, at least one value, and returns `(scale, zero_point)`:
# a float (Python's or NumPy's), and an integer: `-28`, not `-28.0`,
# for Task 4 computes with integers alone. A tie of $z$ may go either way.
# If `lo` and `hi` are both 0, the scale is 1. `values` stays as it was.
#
# For `[-1.0, 0.2, 1.55]` and 8 bits they are `0.01` and `-28`:
# -1 has the code -128, 1.55 the code 127.
# About 4 lines.


# %% nbgrader={"grade_id": "calibrate", "solution": true}
def calibrate(values, bits: int = 8, percentile: float = 100.0):
    """Return (scale, zero_point) of the range in which the values lie."""
    ### BEGIN SOLUTION
    lo, hi = np.percentile(values, [100 - percentile, percentile])
    lo, hi = min(lo, 0.0), max(hi, 0.0)
    scale = (hi - lo) / (2**bits - 1) or 1.0
    return scale, round(-(2 ** (bits - 1)) - lo / scale)
    ### END SOLUTION


# %% nbgrader={"grade_id": "activations", "locked": true}
class Watched(Reader):
    """A reader that keeps the values at each place where it may round."""

    def act(self, name, x):
        self.seen[name] = x.detach().numpy()
        return x


def activations(network: Reader, x: torch.Tensor) -> dict:
    """Return, by name, the activations that images x cause."""
    twin = copy.deepcopy(network).eval()
    twin.__class__, twin.seen = Watched, {}
    with torch.no_grad():
        twin(x)
    return twin.seen


def zero_kind(values) -> str:
    """Return "i" for an integer as the zero point, "f" for a float."""
    return np.asarray(calibrate(values)[1]).dtype.kind


def round_to(values, scale, zero, bits):
    """Return the real numbers that the codes of values stand for."""
    half = 2 ** (bits - 1)
    q = np.clip(np.rint(values / scale) + zero, -half, half - 1)
    return (q - zero) * scale


# %% explore=true
seen = activations(folded, x_train[:256])
values = seen["a2"][::4].ravel()
tops = (99.0, 99.5, 99.9, 99.99, 100.0)


def clipped(bits: int) -> list[float]:
    """Return the root mean squared error of each range's end."""
    errors = []
    for top in tops:
        again = round_to(values, *calibrate(values, bits, top), bits)
        errors.append(float(np.sqrt(np.mean((values - again) ** 2))))
    return errors


best_top = {b: tops[int(np.argmin(clipped(b)))] for b in (2, 3, 4, 5, 6, 8)}

# %% explore=true
left, right = plot.panels(2)
counts, edges = np.histogram(values, 40)
there = counts > 0
plot.scatter(
    (((edges[1:] + edges[:-1]) / 2)[there], counts[there]),
    logy=True,
    xlabel="activation behind block a",
    ylabel="how many values, in 40 bins",
    title="Where a range may end",
    ax=left,
)
style = {"rotation": 90, "ha": "right", "va": "top", "fontsize": 8}
style["transform"] = left.get_xaxis_transform()  # 1 is the upper edge
for at, top in enumerate(tops):
    end = np.percentile(values, top)
    left.axvline(end, color="#888888", lw=1, ls=":")
    left.text(end, 0.98 - 0.12 * (at % 2), f"{top:g}", **style)
plot.curves(
    {f"{bits} bits": (range(len(tops)), clipped(bits)) for bits in (3, 4, 8)},
    logy=True,
    xlabel="percentile at which it ends (not to scale)",
    ylabel="root mean squared error",
    title="What that costs",
    ax=right,
)
right.set_xticks(range(len(tops)), [f"{top:g}" for top in tops])
print("least error if the range ends at percentile")
for bits, top in best_top.items():
    print(f"  {top:<6g} with {bits} bits")

# %% [markdown]
# A wide range has coarse steps, and every value pays for them;
# a narrow range clips, and the few large values pay dearly.
# With 8 bits the steps are fine already, so clip little or nothing;
# with 3 or 4 the best range is narrower than all values.

# %% nbgrader={"grade_id": "calibrate-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


def cal_expect(got, scale, zero):
    s, z = got
    check.close(s, scale, rtol=1e-5, name="scale")
    check.close(z, zero, rtol=0, atol=0, name="zero point")


skewed = np.random.default_rng(0).normal(size=400) ** 3 + 1.3
with check.case(
    "the worked example",
    hint="how many steps lie between 2**bits codes? how many of them is lo "
    "from 0, with which sign?",
    more="step 3 rounds z to the nearest integer",
):
    cal_expect(calibrate(np.array([-1.0, 0.2, 1.55])), 0.01, -28)
with check.case(
    "0 is in the range, whatever the values are",
    hint="is 0 between lo and hi, also if all values lie on one side of it?",
    essential=True,
):
    cal_expect(calibrate(np.array([2.0, 5.1])), 0.02, -128)
    cal_expect(calibrate(np.array([-5.1, -2.0])), 0.02, 127)
with check.case(
    "the zero point is an integer",
    hint="it is a code: step 3 rounds it, and to an integer type",
    guard=True,
):
    for some in (np.array([-1.0, 0.2, 1.55]), skewed, np.zeros(2)):
        found = f"an integer as the zero point of {some[:3].round(2)}"
        check.true(zero_kind(some) in ("i", "u"), f"{found}, not a float")
with check.case(
    "a percentile clips both ends",
    hint="step 1: of all values together",
    more="both ends move inwards: 1 percent below, 1 percent above",
):
    ramp = np.arange(-20.0, 81)  # with 90 from -10 to 70
    cal_expect(calibrate(ramp, 8, 90.0), 80 / 255, -96)
    cal_expect(calibrate(-ramp, 4, 90.0), 80 / 15, 5)
### BEGIN HIDDEN TESTS


def cal_want(values, bits, percentile):
    v = np.sort(np.asarray(values, float), axis=None)
    at = (len(v) - 1) * percentile / 100
    places = np.arange(len(v))
    hi = max(float(np.interp(at, places, v)), 0.0)
    lo = min(float(np.interp(len(v) - 1 - at, places, v)), 0.0)
    scale = (hi - lo) / (2**bits - 1)
    return scale, np.rint(-(2 ** (bits - 1)) - lo / scale)


with check.hidden_case(
    "other numbers of bits", hint="the lowest code is -2**(bits-1)"
):
    for bits in (2, 3, 4, 12, 16):
        cal_expect(calibrate(skewed, bits), *cal_want(skewed, bits, 100))
with check.hidden_case(
    "any percentile, of two arrays of one shape",
    hint="is it this array's own range, of two of one shape? between which two "
    "percentiles?",
):
    for more in (skewed, 3 - 2 * skewed):
        for bits, top in ((8, 99.0), (8, 90.012345), (4, 97.5)):
            want = cal_want(more, bits, top)
            cal_expect(calibrate(more, bits, top), *want)
with check.hidden_case(
    "only zeros, or one value", hint="what is divided by, if all is 0?"
):
    mostly = np.zeros(200)
    mostly[:2] = 5, -7  # of which the percentiles keep nothing
    cal_expect(calibrate(mostly, 8, 97.0), 1.0, -128)
    cal_expect(calibrate(np.zeros(3)), 1.0, -128)
    cal_expect(calibrate(np.zeros((2, 2)), 4), 1.0, -8)
    cal_expect(calibrate(np.array([25.5])), 0.1, -128)
with check.hidden_case(
    "any shape, float32 too, and large negative ones",
    hint="np.percentile flattens what it is given",
):
    grid = skewed.reshape(4, 5, 20)
    cal_expect(calibrate(grid, 8, 95.0), *cal_want(grid, 8, 95.0))
    few = (skewed[:50] - 40).astype(np.float32)
    cal_expect(calibrate(few, 5, 99.0), *cal_want(few, 5, 99.0))
    whole_ones = np.array([100, -128, 7, 127, -100], np.int8)
    cal_expect(calibrate(whole_ones, 4), *cal_want(whole_ones, 4, 100))
    often = np.array([0, 3, 0, -9, 3, 0, 60, 0, 3], np.int8)
    cal_expect(calibrate(often, 4, 80.0), *cal_want(often, 4, 80.0))
    cal_expect(calibrate(grid[:, ::2].T, 8), *cal_want(grid[:, ::2], 8, 100))
with check.hidden_case(
    "the zero point is rounded, not cut off",
    hint="round to the nearest integer",
):
    # lo/s is -2.6, -2.4: rounding up or down alone gets one wrong
    cal_expect(calibrate(np.array([-2.6, 252.4])), 1.0, -125)
    cal_expect(calibrate(np.array([-2.4, 252.6])), 1.0, -126)
with check.hidden_case(
    "very small and very large values keep their digits",
    hint="nothing is rounded before the last step",
):
    for size in (1e-12, 1e9):
        want = cal_want(size * skewed, 8, 99.0)
        cal_expect(calibrate(size * skewed, 8, 99.0), *want)
        s, _ = calibrate(size * skewed, 8, 99.0)
        check.close(float(s) / size, want[0] / size, name="scale over size")
with check.hidden_case(
    "values stay as they were",
    hint="are values sorted, clipped or written to on the way?",
    guard=True,
):
    # unsorted, contiguous, in every shape and dtype, and never used before
    mixed = np.array([3.0, -7.5, 0.25, 9.0, -1.0, 4.0])
    for some in (mixed, mixed.reshape(2, 3), mixed.astype(np.float32)):
        with check.unchanged(values=some):
            calibrate(some, 8, 90.0)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 4. A convolution of integers only (3 points)
#
# Put $x = s_x (q - z_x)$ and $w = s_w\,q_w$ into a sum of products:
#
# $$\sum x\,w + b = s_x s_w \underbrace{\Big(\sum (q - z_x)\,q_w + b_q\Big)}
# _{\text{accumulator } a,\ \text{int32}}, \qquad b_q = b / (s_x s_w).$$
#
# The output's code is $a \cdot s_x s_w / s_y + z_y$.
# That one real factor is known beforehand, and below 1 as a rule.
# Write it as $m / 2^k$ with a 31-bit integer $m$:
# then no floating-point unit is needed at all (Jacob et al. 2018).
#
# ![Int8 codes and int8 weights go into products, added up in int32 with the bias; the sum times m, shifted right by k bits, plus the output's zero point, clipped, is int8 again.](figures/integers.svg)

# %% [markdown]
# `int8_conv(q, zero, w, bias, m, k, zero_out)` takes NumPy arrays:
# codes `q`, int8, `(n, c, h, width)`, at least one image; weights `w`, int8, `(o, c, r, r)`, `r` odd;
# `bias`, int32, `m`, int64, and `k`, int64 and from 1 to 62, each `(o,)`;
# integers `zero`, `zero_out`.
# It returns int8 of shape `(n, o, h, width)`.
#
# 1. Pad by `r // 2` on each side with what stands for the real number 0.
# 2. The accumulator fits into int32; its product with `m` fits into int64.
# 3. Multiply, round and shift: `(a * m + 2**(k-1)) >> k`.
# 4. Add `zero_out`; what lies beyond -128 or 127 becomes that bound.
#
# One place with `q = 3`, `zero = 1`, `w = 5`, `bias = 2`, `m = 3`, `k = 2`,
# `zero_out = -3` has $a = 12$ and the result 6.
# About 7 lines; no loop over images or places.

# %% [markdown]
# `np.lib.stride_tricks.sliding_window_view(padded, (r, r), axis=(2, 3))`
# has the shape `(n, c, h, width, r, r)`, without a copy,
# and `np.einsum` or `np.tensordot` adds up over `c` and the window.
# A linear layer is the same with one place and `r = 1`.


# %% nbgrader={"grade_id": "int8-conv", "solution": true}
def int8_conv(q, zero: int, w, bias, m, k, zero_out: int):
    """Return the int8 codes of a convolution, by integer arithmetic only."""
    ### BEGIN SOLUTION
    r = w.shape[2]
    edge, window = (r // 2, r // 2), np.lib.stride_tricks.sliding_window_view
    real = np.pad(q.astype(np.int64) - zero, ((0, 0), (0, 0), edge, edge))
    patches = window(real, (r, r), axis=(2, 3))
    a = np.tensordot(patches, w.astype(np.int64), ([1, 4, 5], [1, 2, 3]))
    y = ((a + bias) * m + (1 << (k - 1))) >> k
    y = np.clip(y + zero_out, -128, 127).astype(np.int8)
    return y.transpose(0, 3, 1, 2)
    ### END SOLUTION


# %% nbgrader={"grade_id": "integers", "locked": true}
def fixed_point(real):
    """Return integers m below 2**31 and k with m / 2**k next to real."""
    fraction, exponent = np.frexp(np.asarray(real, np.float64))
    m = np.rint(fraction * 2**31).astype(np.int64)
    k = 31 - exponent.astype(np.int64)
    return np.where(m == 2**31, m // 2, m), np.where(m == 2**31, k - 1, k)


def weight_codes(w, bits: int = 8):
    """Return codes of w, symmetric about 0, and a scale per channel."""
    top = np.abs(w).reshape(len(w), -1).max(axis=1)
    scale = np.maximum(top, 1e-12) / (2 ** (bits - 1) - 1)
    return np.rint(w / scale.reshape(-1, 1, 1, 1)), scale


def quantise_layer(network, name, scale_in, scale_out) -> dict:
    """Return w, bias, m and k of a folded convolution, and its factor."""
    c = network.conv[name]
    codes, scale = weight_codes(c.weight.detach().numpy())
    bias = c.bias.detach().numpy() / (scale_in * scale)
    factor = scale_in * scale / scale_out
    m, k = fixed_point(factor)
    parts = {"w": codes.astype(np.int8), "m": m, "k": k}
    return parts | {"bias": np.rint(bias).astype(np.int32), "scale": scale}


# %% explore=true
s_in, z_in = calibrate(seen["input"])
s_out, z_out = calibrate(seen["conv1"])
layer = quantise_layer(folded, "conv1", s_in, s_out)
images = x_val[:64].numpy()
codes_in = np.clip(np.rint(images / s_in) + z_in, -128, 127).astype(np.int8)
parts = [layer[part] for part in ("w", "bias", "m", "k")]
mine_int8 = int8_conv(codes_in, z_in, *parts, z_out)
with torch.no_grad():
    exact = folded.conv["conv1"](x_val[:64]).relu().numpy()
error = np.abs((mine_int8.astype(int) - z_out) * s_out - exact)
print(f"one step is {s_out:.4f}, a quarter of it {s_out / 4:.4f}")
print(f"mean error {error.mean():.4f}", end=", ")
print(f"where the output is above 0 {error[exact > 0].mean():.4f}")


# %% [markdown]
# A rounding error lies anywhere between -1/2 and 1/2 of a step,
# so its mean size is a quarter of one where the output is above 0,
# and somewhat more here, for inputs and weights were rounded, too.


# %% nbgrader={"grade_id": "runtime-conv", "locked": true}
def runtime_conv(q, zero, s_in, layer, s_out, z_out):
    """Let ONNX Runtime's own integer kernel do the same convolution."""
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    arrays = {"xs": np.float32(s_in), "xz": np.int8(zero), "w": layer["w"]}
    arrays |= {"ws": layer["scale"].astype(np.float32)}
    arrays |= {"wz": np.zeros(len(layer["w"]), np.int8)}
    arrays |= {"ys": np.float32(s_out), "yz": np.int8(z_out)}
    arrays |= {"b": layer["bias"]}
    node = helper.make_node(
        "QLinearConv", ["x", *arrays], ["y"], pads=[1, 1, 1, 1]
    )
    ends = [
        helper.make_tensor_value_info(e, TensorProto.INT8, None) for e in "xy"
    ]
    constants = [
        numpy_helper.from_array(np.asarray(a), n) for n, a in arrays.items()
    ]
    graph = helper.make_graph([node], "one", ends[:1], ends[1:], constants)
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {"x": q})[0]


# %% explore=true
if not missing("onnx", "onnxruntime"):
    theirs = runtime_conv(codes_in, z_in, s_in, layer, s_out, z_out)
    gap = np.abs(theirs.astype(int) - mine_int8)
    print(f"equal to ONNX Runtime's: {(gap == 0).sum():,} of {gap.size:,}")
    print(f"largest difference {gap.max()}")
    one = np.ones_like(layer["m"])
    wide = codes_in.astype(np.int64) - z_in
    a = functional.conv2d(
        torch.tensor(wide, dtype=torch.float64),
        torch.tensor(layer["w"], dtype=torch.float64),
        torch.tensor(layer["bias"], dtype=torch.float64),
        padding=1,
    ).numpy()
    narrow = np.float32
    real = narrow(s_in) * layer["scale"].astype(narrow) / narrow(s_out)
    scaled = a.astype(narrow) * real[:, None, None]
    float_way = np.clip(np.rint(scaled) + z_out, -128, 127)
    print(f"with its float32 factor: {(float_way == theirs).mean():.4%} equal")

# %% [markdown]
# The accumulators are the same: integers know no rounding.
# Only the last step may differ. ONNX Runtime multiplies by a float32 factor
# of 24 bits and rounds ties to even; you by one of 31 bits,
# with ties upwards, as a chip without floats does.
# (The last line repeats the runtime's own arithmetic.)
# And your result needs no ReLU: with a range that begins at 0
# the zero point is -128, and clipping *is* the ReLU.
#
# One layer is right. Is the network?
# The next cells send 256 images through all six convolutions,
# codes in, codes out; the blocks' additions and the head are in float.

# %% explore=true
ranges = {name: calibrate(found) for name, found in seen.items()}
with torch.no_grad():
    for before, name in (("a1", "a2"), ("b1", "b2")):  # the skip not added yet
        alone = folded.conv[name](torch.from_numpy(seen[before])).numpy()
        ranges[f"{name} alone"] = calibrate(alone)


def coded(real, name):
    """Return int8 codes of real numbers, in the range of this name."""
    s, z = ranges[name]
    return np.clip(np.rint(real / s) + z, -128, 127).astype(np.int8)


def decoded(q, name):
    """Return the real numbers that codes stand for."""
    s, z = ranges[name]
    return (q.astype(np.float64) - z) * s


def conv_by_codes(q, before, name, after=None):
    """Return the codes of one convolution of codes, by your function."""
    (s_in, z_in), (s_out, z_out) = ranges[before], ranges[after or name]
    layer = quantise_layer(folded, name, s_in, s_out)
    return int8_conv(
        q, z_in, *(layer[p] for p in ("w", "bias", "m", "k")), z_out
    )


# %% explore=true
def block_by_codes(q, before, first, second):
    """Return the codes of a residual block."""
    middle = conv_by_codes(q, before, first)
    out = conv_by_codes(middle, first, second, f"{second} alone")
    total = decoded(out, f"{second} alone") + decoded(q, before)
    return coded(np.maximum(total, 0), second)


def read_by_codes(x):
    """Return the logits of images, every convolution by `int8_conv`."""
    q = conv_by_codes(coded(x, "input"), "input", "conv1")
    q = q.reshape(*q.shape[:2], 7, 2, 7, 2).max(axis=(3, 5))
    q = conv_by_codes(q, "conv1", "conv2")
    q = block_by_codes(q, "conv2", "a1", "a2")
    q = block_by_codes(q, "a2", "b1", "b2")
    means = torch.from_numpy(decoded(q, "b2").mean(axis=(2, 3))).float()
    return folded.head(means).detach()


x_part, y_part = x_val[:256], y_val[:256]
by_codes = read_by_codes(x_part.numpy()).argmax(1)
with torch.no_grad():
    in_float = folded(x_part).argmax(1)
share = {
    "in float32": in_float == y_part,
    "with your integers": by_codes == y_part,
    "the same answer": by_codes == in_float,
}
for name, hits in share.items():
    print(f"{name:19}{int(hits.sum()):4} of 256")

# %% nbgrader={"grade_id": "int8-conv-check", "grade": true, "points": 3}
import numpy as np

from labkit import check


def numbers(q, w, bias, m, k):
    """Return one place's arrays."""
    return (
        np.array([[[[q]]]], np.int8),
        np.array([[[[w]]]], np.int8),
        *(np.array([v]) for v in (np.int32(bias), m, k)),
    )


with check.case(
    "the worked example",
    hint="the steps in their order: which shape has the accumulator? here "
    "it is 12; what moves its axes?",
    more="another dtype: the last step converts to int8, after the bounds",
):
    q, w, bias, m, k = numbers(3, 5, 2, 3, 2)
    got = int8_conv(q, 1, w, bias, m, k, -3)
    check.close(got, [[[[6]]]], rtol=0, atol=0, dtype="int8", name="code")
with check.case(
    "codes are wider than int8 before anything is computed",
    hint="127 minus -128 is no int8, nor is a product of two",
    more="convert q and w before the subtraction and the product",
):
    q, w, bias, m, k = numbers(127, 127, 0, 2**30, 38)
    got = int8_conv(q, -128, w, bias, m, k, 0)
    check.close(got, [[[[127]]]], rtol=0, atol=0, name="code")
    q, w, bias, m, k = numbers(-100, 100, 7, 2**30, 37)
    got = int8_conv(q, 27, w, bias, m, k, 0)
    check.close(got, [[[[-99]]]], rtol=0, atol=0, name="code")
with check.case(
    "one place, many channels: each has its bias, its m and its k",
    hint="these belong to the output's channels, the second axis",
):
    codes = np.array([1, 2], np.int8).reshape(1, 2, 1, 1)
    w = np.array([[1, 2], [3, -4]], np.int8).reshape(2, 2, 1, 1)
    rest = np.array([1, 15], np.int32), np.array([1, 3]), np.array([1, 2])
    got = int8_conv(codes, 0, w, *rest, 0)  # accumulators 6 and 10
    want = [[[[3]], [[8]]]]
    check.close(got, want, rtol=0, atol=0, dtype="int8", name="codes")
with check.case(
    "3 x 3: the border is padded with the code of 0",
    hint="which axes are padded, and with the code of which number?",
    more="or subtract zero first: then 0 stands for 0",
    essential=True,
):
    codes = np.array([[1, 2], [3, 4]], np.int8)[None, None]
    kernel = np.array([[0, 0, 0], [0, 1, 2], [0, 3, 4]], np.int8)[None, None]
    rest = np.array([0], np.int32), np.array([1]), np.array([1])
    exact = {"rtol": 0, "atol": 0, "dtype": "int8"}
    first = int8_conv(codes, 1, kernel, *rest, 0)  # 20, 10, 8, 3, halved
    second = int8_conv(codes, 3, kernel, *rest, -7)
    check.close(first, [[[[10, 5], [4, 2]]]], name="codes", **exact)
    check.close(second, [[[[-7, -6], [-6, -6]]]], name="codes", **exact)
### BEGIN HIDDEN TESTS


def conv_case(seed, n, c, o, h, width, r):
    """Return the arguments of a random case, as the text orders them."""
    rng = np.random.default_rng(seed)
    q = rng.integers(-128, 128, (n, c, h, width)).astype(np.int8)
    w = rng.integers(-127, 128, (o, c, r, r)).astype(np.int8)
    bias = rng.integers(-9000, 9000, o).astype(np.int32)
    m = rng.integers(2**30, 2**31, o)
    k = rng.integers(37, 41, o)
    zero, zero_out = rng.integers(-100, 100, 2)
    return q, int(zero), w, bias, m, k, int(zero_out)


def conv_want(q, zero, w, bias, m, k, zero_out):
    """Return the result, place by place, with Python's integers."""
    n, c, h, width = q.shape
    o, r, e = len(w), w.shape[2], w.shape[2] // 2
    want = np.zeros((n, o, h, width), np.int8)
    for i, f, y, x in np.ndindex(want.shape):
        a = int(bias[f])
        for ch, dy, dx in np.ndindex(c, r, r):
            row, col = y + dy - e, x + dx - e
            if 0 <= row < h and 0 <= col < width:
                code = int(q[i, ch, row, col]) - zero
                a += code * int(w[f, ch, dy, dx])
        code = (a * int(m[f]) + 2 ** (int(k[f]) - 1)) // 2 ** int(k[f])
        want[i, f, y, x] = min(max(code + zero_out, -128), 127)
    return want


def conv_expect(args, name="codes"):
    got = int8_conv(*args)
    check.close(got, conv_want(*args), rtol=0, atol=0, dtype="int8", name=name)


with check.hidden_case(
    "many codes, channels and images",
    hint="which axes are summed over? in which order are the steps, and what "
    "has each output channel?",
    essential=True,
):
    for seed in (1, 2):
        conv_expect(conv_case(seed, 2, 5, 2, 1, 1, 1))
    cases = [conv_case(seed, 2, 3, 4, 4, 5, 3) for seed in (3, 4)]
    found = [int8_conv(*case) for case in cases]
    for got, case in zip(found, cases, strict=True):
        check.close(got, conv_want(*case), name="codes", **exact)
with check.hidden_case(
    "rounded to the nearest, halves upwards",
    hint="step 3: the shift alone rounds down; add half of 2**k before it",
):
    for a, want in ((1, 1), (-1, 0), (3, 2), (-3, -1), (2, 1), (-2, -1)):
        q, w, bias, m, k = numbers(0, 1, a, 1, 1)
        got = int8_conv(q, 0, w, bias, m, k, 0)
        check.close(got, [[[[want]]]], rtol=0, atol=0, name=f"{a} / 2")
with check.hidden_case(
    "what is too large or too small becomes the bound",
    hint="clip before the conversion to int8, after zero_out was added",
):
    for a, want in ((900, 127), (-900, -128), (140, 120), (-120, -128)):
        q, w, bias, m, k = numbers(0, 1, 2 * a, 1, 1)
        got = int8_conv(q, 0, w, bias, m, k, -20)
        check.close(got, [[[[want]]]], rtol=0, atol=0, name=f"code of {a}")
with check.hidden_case(
    "a sum of products beyond 24 bits is exact",
    hint="float32 has 24 bits: the accumulator is an integer",
):
    # the bias takes the first sum away again: its last digits remain
    draw = np.random.default_rng(9)
    q = draw.integers(64, 128, (2, 900, 1, 3)).astype(np.int8)
    w = draw.integers(64, 128, (3, 900, 1, 1)).astype(np.int8)
    sums = (q.astype(np.int64) + 128).transpose(0, 2, 3, 1) @ w[
        :, :, 0, 0
    ].T.astype(np.int64)
    for place in (0, 2):
        bias = (30 - sums[0, 0, place]).astype(np.int32)
        one = np.ones(3, np.int64)
        got = int8_conv(q, -128, w, bias, 2 * one, one, 0)
        want = np.clip(sums + bias, -128, 127).transpose(0, 3, 1, 2)
        check.close(got, want, rtol=0, atol=0, name="codes")
with check.hidden_case(
    "biases beyond 24 bits, and products beyond 32 and 53",
    hint="float32 has 24 bits, float64 53: stay with int64",
):
    q, w, bias, m, k = numbers(0, 1, 2**24 + 1, 1, 1)
    m, k = np.array([2**30 + 1]), np.array([54])
    exact = ((2**24 + 1) * (2**30 + 1) + 2**53) >> 54
    got = int8_conv(q, 0, w, bias, m, k, 3)
    check.close(got, [[[[exact + 3]]]], rtol=0, atol=0, name="code")
    # (2**31 - 1)**2 + 2**61 lies just below 2 * 2**61: float64 cannot tell
    q, w, bias, m, k = numbers(0, 1, 2**30 - 1, 2**30 + 1, 60)
    got = int8_conv(q, 0, w, bias, m, k, 0)
    check.close(got, [[[[1]]]], rtol=0, atol=0, name="just below")
    got = int8_conv(q, 0, w, bias, m, np.array([61]), 0)
    check.close(got, [[[[0]]]], rtol=0, atol=0, name="just below a half")
    m = np.array([2**29 + 1])
    got = int8_conv(q, 0, w, bias, m, k, 0)
    want = ((2**30 - 1) * (2**29 + 1) + 2**59) >> 60
    check.close(got, [[[[want]]]], rtol=0, atol=0, name="next to a half")
with check.hidden_case(
    "5 x 5, sides of 1, a wide image, a single channel",
    hint="pad r // 2 on each side of the last two axes",
):
    for shape in ((1, 2, 1, 6, 3, 5), (1, 1, 3, 1, 7, 3), (2, 4, 2, 3, 3, 1)):
        conv_expect(conv_case(5, *shape))
    conv_expect(conv_case(7, 3, 1, 1, 2, 2, 3))
with check.hidden_case(
    "channels that share their numbers",
    hint="each channel has its bias, its m and its k, equal or not",
):
    q, zero, w, bias, m, k, out = conv_case(10, 2, 3, 4, 2, 2, 3)
    for numbers_of in (bias, m, k):
        numbers_of[2] = numbers_of[0]
    conv_expect((q, zero, w, bias, m, k, out))
with check.hidden_case(
    "nothing is changed in place", hint="work on copies", guard=True
):
    q, zero, w, bias, m, k, out = conv_case(8, 1, 2, 2, 3, 3, 3)
    with check.unchanged(q=q, w=w, bias=bias, m=m, k=k):
        int8_conv(q, zero, w, bias, m, k, out)
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ## Part 2: fewer than eight bits
#
# ### Task 5. Rounding that lets gradients through (2 points)
#
# To train with rounding in place one needs its gradient,
# and it is 0 almost everywhere.
# The *straight-through* estimator pretends: rounding has the slope 1,
# for on average it is the line $y = x$.
# Where the value is clipped the slope is 0, and that is true:
# moving $x$ there moves nothing.

# %% [markdown]
# `fake_quantize(x, scale, zero, bits)` takes a tensor,
# a scale (a number, or a tensor that broadcasts to `x`'s shape),
# an integer zero point and a number of bits.
# It returns, in `x`'s dtype whatever the scale's, $s\,(q - z)$ with $q = \mathrm{round}(x/s) + z$,
# clipped to $-2^{b-1}, \dots, 2^{b-1} - 1$;
# ties go to the even integer, as in `torch.round`, before $z$ is added.
# The gradient with respect to `x` is passed on unchanged where $q$ was not
# clipped, and 0 where it was. A $q$ that equals a bound is not clipped.
# A network calls it many times before gradients flow back:
# each call has its own.
#
# For `x = [0.26, 0.9]`, scale 0.1, zero point 0 and 3 bits
# it returns `[0.3, 0.3]`, with the gradient `[1, 0]`. About 5 lines.

# %% [markdown]
# A hint: `value.detach() + (t - t.detach())` has the value of `value`
# and the gradient of `t`. So choose a `t` with the right gradient.
# `torch.round` and the comparisons have none, or 0.


# %% nbgrader={"grade_id": "fake-quantize", "solution": true}
def fake_quantize(x, scale, zero: int, bits: int):
    """Return x rounded to codes and back, with a straight-through slope."""
    ### BEGIN SOLUTION
    half = 2 ** (bits - 1)
    q = torch.round(x / scale) + zero
    value = (torch.clamp(q, -half, half - 1) - zero) * scale
    t = x * ((q >= -half) & (q <= half - 1))
    return value.detach().to(x.dtype) + (t - t.detach())
    ### END SOLUTION


# %% nbgrader={"grade_id": "quantised", "locked": true}
def value_and_gradient(x, scale, zero, bits, upstream):
    """Return fake_quantize(x, ...) and the gradient that reaches x."""
    x = x.detach().clone().requires_grad_()
    y = fake_quantize(x, scale, zero, bits)
    (y * upstream).sum().backward()
    return y.detach(), x.grad


def gradients_of_two(x, other, scale, zero, bits) -> tuple:
    """Return gradients of two calls, of which both come before backward."""
    leaves = [t.detach().clone().requires_grad_() for t in (x, other)]
    results = [fake_quantize(t, scale, zero, bits) for t in leaves]
    sum(y.sum() for y in results).backward()
    return tuple(t.grad for t in leaves)


class Quantised(Reader):
    """A folded reader that rounds weights and activations."""

    def act(self, name, x):
        return fake_quantize(x, *self.ranges[name], self.bits)

    def weights(self, w):
        top = w.detach().flatten(1).abs().amax(1).clamp(min=1e-12)
        scale = top / (2 ** (self.bits - 1) - 1)
        scale = scale.reshape(-1, *[1] * (w.dim() - 1))
        return fake_quantize(w, scale, 0, self.bits)

    def step(self, name, x, skip=0.0):
        c = self.conv[name]
        w = self.weights(c.weight)
        y = functional.conv2d(x, w, c.bias, padding=1) + skip
        return self.act(name, y.relu())


def quantised(network: Reader, x, bits: int, percentile: float = 99.9):
    """Return a twin of a folded network that rounds to so many bits."""
    twin = copy.deepcopy(network)
    found = activations(network, x)
    twin.__class__, twin.bits = Quantised, bits
    twin.ranges = {  # every other row of places is enough, and faster
        name: calibrate(values[:, :, ::2], bits, percentile)
        for name, values in found.items()
    }
    return twin


# %% nbgrader={"grade_id": "fake-quantize-check", "grade": true, "points": 2}
import numpy as np
import torch

from labkit import check


def fq_given(x, zero, upstream, value, gradient):
    """Compare with numbers worked out by hand: scale 0.25, 4 bits."""
    y, slope = value_and_gradient(x, 0.25, zero, 4, torch.tensor(upstream))
    check.close(y, value, rtol=1e-5, atol=1e-6, name="value")
    check.close(slope, gradient, rtol=1e-5, atol=1e-6, name="gradient")


with check.case(
    "the worked example",
    hint="3 bits: which are the lowest and the highest code? where does q lie "
    "if a gradient is to pass?",
):
    x, ones = torch.tensor([0.26, 0.9]), torch.ones(2)
    y, slope = value_and_gradient(x, 0.1, 0, 3, ones)
    check.close(y, [0.3, 0.3], rtol=1e-5, name="value")
    check.close(slope, [1.0, 0.0], name="gradient")
with check.case(
    "the value is a code's",
    hint="round x / scale, add zero, clip, take zero away again",
    guard=True,
):
    x = torch.tensor([-1.3, -0.6, -0.1, 0.2, 0.7, 1.6])
    for bits, zero, want in (  # x / 0.25 is rounded to -5, -2, 0, 1, 3, 6
        (4, 0, [-1.25, -0.5, 0.0, 0.25, 0.75, 1.5]),
        (4, 3, [-1.25, -0.5, 0.0, 0.25, 0.75, 1.0]),
        (8, -50, [-1.25, -0.5, 0.0, 0.25, 0.75, 1.5]),
        (2, 1, [-0.75, -0.5, 0.0, 0.0, 0.0, 0.0]),
        (3, -3, [-0.25, -0.25, 0.0, 0.25, 0.75, 1.5]),
    ):
        y = fake_quantize(x, 0.25, zero, bits)
        check.close(y, want, rtol=1e-5, atol=1e-6, name="value")
with check.case(
    "the gradient passes where nothing is clipped",
    hint="x times a mask has the gradient of the mask",
    more="the mask asks whether q, zero point included, is a code: "
    "one that equals a bound is",
    essential=True,
):
    x, up = (
        torch.tensor([-3.0, -1.5, -0.6, 0.2, 1.2, 2.4]),
        [1.0, 2, 3, 4, 5, 6],
    )
    # With the zero point -2 the q are -14, -8, -4, -1, 3 and 8.
    value = [-1.5, -1.5, -0.5, 0.25, 1.25, 2.25]
    fq_given(x, -2, up, value, [0.0, 2, 3, 4, 5, 0])
    # With 1 and the other signs they are 13, 7, 3, 0, -4 and -9.
    value = [1.5, 1.5, 0.5, -0.25, -1.25, -2.25]
    fq_given(-x, 1, up, value, [0.0, 2, 3, 4, 5, 0])
### BEGIN HIDDEN TESTS


def fq_want(x, scale, zero, bits, upstream):
    """Return value and gradient, computed by NumPy."""
    x, scale = x.numpy().astype(float), np.asarray(scale, float)
    top = 2 ** (bits - 1) - 1
    q = np.rint(x / scale) + zero
    inside = (q >= -top - 1) & (q <= top)
    value = (np.minimum(np.maximum(q, -top - 1), top) - zero) * scale
    return value, np.where(inside, upstream.numpy(), 0.0)


def fq_expect(x, scale, zero, bits, seed=0):
    rng = torch.Generator().manual_seed(seed)
    upstream = torch.randn(x.shape, generator=rng, dtype=x.dtype)
    y, slope = value_and_gradient(x, scale, zero, bits, upstream)
    want = fq_want(x, scale, zero, bits, upstream)
    some = {"rtol": 1e-5, "atol": 1e-6}
    name = str(x.dtype).removeprefix("torch.")
    check.close(y, want[0], dtype=name, name="value", **some)
    check.close(slope, want[1], name="gradient", **some)


spread = 2 * torch.randn(40, generator=torch.Generator().manual_seed(1))
# round_to, too, passes the guards: they count beside a case about the gradient.
with check.hidden_case(
    "many values, with other bits and zero points",
    hint="in which order: round, clip, zero on and off? which bounds have "
    "other numbers of bits?",
    guard=True,
):
    for bits, zero in ((4, 0), (4, 3), (8, -50), (2, 1), (3, -3)):
        first = fake_quantize(spread, 0.25, zero, bits)
        second = fake_quantize(-spread, 0.25, zero, bits)
        want, _ = fq_want(spread, 0.25, zero, bits, spread)
        check.close(first, want, rtol=1e-5, atol=1e-6, name="value")
        want, _ = fq_want(-spread, 0.25, zero, bits, spread)
        check.close(second, want, rtol=1e-5, atol=1e-6, name="value")
with check.hidden_case(
    "many gradients",
    hint="where is q, zero point included, no code? what passes elsewhere, and "
    "how large is it?",
    essential=True,
):
    for seed in (2, 3):  # equal shapes, other values
        fq_expect((1 + seed) * spread, 0.25, -2, 4, seed)
with check.hidden_case(
    "one row, one column",
    hint="value and gradient have the shape of x",
    weight=0.5,
):
    for shape in ((1, 40), (40, 1), (5, 1, 8)):
        fq_expect(spread.reshape(shape), 0.25, 1, 4)
with check.hidden_case(
    "at the bounds themselves the gradient passes",
    hint="a q that equals a bound is a code, and not clipped",
):
    at = torch.tensor([-2.25, -2.0, -1.9, 1.7, 1.75, 1.8, 2.0])
    fq_expect(at, 0.25, 0, 4)
    fq_expect(at, 0.25, 1, 4)
with check.hidden_case(
    "each call keeps its own gradient until it is asked for",
    hint="what does the second call overwrite?",
):
    both = (4 * spread, -3 * spread - 1)
    found = gradients_of_two(*both, 0.25, 1, 4)
    for call, x, got in zip(("first", "second"), both, found, strict=True):
        _, want = fq_want(x, 0.25, 1, 4, torch.ones_like(x))
        check.close(got, want, name=f"gradient of the {call} call")
with check.hidden_case(
    "ties go to the even integer before the zero point is added",
    hint="the order in the formula of q: first round, then add z",
):
    ties = torch.tensor([0.25, 0.75, 1.25, -0.25, -0.75, -1.25])
    for zero in (0, 1, -3):
        fq_expect(ties, 0.5, zero, 8)
with check.hidden_case(
    "x's dtype, whatever the scale's, and a tensor without axes",
    hint="of two dtypes PyTorch takes the wider one",
):
    steps = (spread * 8).round().reshape(4, 10) / 8  # exact in float16
    scale = torch.tensor([[0.125], [0.25], [0.5], [1.0]])
    fq_expect(steps.half(), scale, 1, 4)
    fq_expect(steps, scale.double(), -1, 4)
    fq_expect(steps.double(), scale, 0, 3)
    fq_expect(spread[3], 0.25, 0, 4)
    fq_expect(spread[4], torch.tensor(0.25), 0, 4)
with check.hidden_case(
    "a scale for each row, and for each filter",
    hint="the scale may be a tensor that broadcasts",
):
    table = spread.reshape(4, 10)
    scale = torch.tensor([[0.1], [0.2], [0.3], [0.5]])
    fq_expect(table, scale, 0, 4)
    fq_expect(spread.reshape(5, 2, 2, 2), scale[:2, :, None], 0, 3)
with check.hidden_case(
    "float64, small scales, no value at all",
    hint="the value is exact, not x plus a difference",
):
    fq_expect(spread.double() / 1e6, 1e-7, 0, 8)
    small = spread.double() / 1e6
    y, _ = value_and_gradient(small, 1e-7, 5, 8, small)
    want, _ = fq_want(small, 1e-7, 5, 8, small)
    check.close(y, want, rtol=1e-9, atol=1e-15, dtype="float64", name="value")
    fq_expect(spread[:0], 0.25, 0, 4)
with check.hidden_case(
    "values far outside",
    hint="what is clipped has a bound's value, however large x is",
):
    far = torch.tensor([1e8, -3e7, 0.3, 2e15, -1e-9])
    fq_expect(far, 0.25, 1, 4)
    fq_expect(far.double(), 0.1, -3, 8)
with check.hidden_case(
    "values next to the middle of two codes",
    hint="round x / scale itself",
    guard=True,
):
    near = torch.tensor([0.24999, 0.25001, -0.34999, -0.35001])
    y = fake_quantize(near, 0.1, 0, 8)
    check.close(y, [0.2, 0.3, -0.3, -0.4], rtol=1e-5, name="value")
with check.hidden_case(
    "x stays as it was",
    hint="does any operation on x write into x itself?",
    guard=True,
):
    x = torch.tensor([[0.26, -5.0, 3.1], [9.0, 0.4, -0.6]])  # never used before
    scale = torch.tensor([[0.25], [0.5]])
    with check.unchanged(x=x, scale=scale):
        fake_quantize(x, scale, 1, 3)
### END HIDDEN TESTS
check.score(2)

# %% explore=true
all_bits = (2, 3, 4, 5, 6, 8)
x_some, y_some = x_val[::3], y_val[::3]  # rounding is slow
plain, after, answers = accuracy(folded, x_some, y_some), {}, {}
for bits in all_bits:
    top = best_top[bits]
    twin = quantised(folded, x_train[:256], bits, top)
    with torch.no_grad():
        answers[bits] = twin(x_some).argmax(1)
    after[bits] = float((answers[bits] == y_some).float().mean())
    print(f"{bits} bits, range to {top:g}: {after[bits]:.1%}")
enough = [bits for bits in all_bits if after[bits] > plain - 0.2]
print(f"fewest that lose less than 20 points: {min(enough)};", end=" ")
print(f"you predicted {predictions()['bits']}")

# %% explore=true
trained = {}
for bits in (2, 3):
    twin = quantised(folded, x_train[:256], bits, best_top[bits])
    fit(twin, x_train, y_train, steps=100, lr=1e-3, adam=True)
    trained[bits] = accuracy(twin, x_some, y_some)
errors = {
    "rounded after training": after,
    "trained 100 steps more": trained,
    "float32": dict.fromkeys(all_bits, plain),
}
plot.curves(
    {
        name: (list(found), [100 * (1 - a) for a in found.values()])
        for name, found in errors.items()
    },
    logy=True,
    xlabel="bits of weights and activations",
    ylabel="errors, %",
    title="Rounding after training, and training with rounding",
)
for bits, found in trained.items():
    print(f"{bits} bits: {after[bits]:.1%}, then {found:.1%}")

# %% explore=true
lost = (answers[3] != y_some) & (answers[8] == y_some)
some = np.flatnonzero(lost)[:12]  # would you read them?
if len(some):
    pairs = zip(y_some[some], answers[3][some], strict=True)
    plot.images(
        pictures(x_some[some]),
        [f"{letters[y]}, read as {letters[found]}" for y, found in pairs],
        columns=6,
        title="Right with 8 bits, wrong with 3",
    )

# %% [markdown]
# At 8 bits nothing need be trained. At 2 bits each weight is
# one of three values, and rounding afterwards destroys the network;
# a hundred steps with rounding in place bring much of it back,
# for later layers adapt to the errors of earlier ones.
# Behind the rounding are float32 weights, as lab 07's master weights:
# small steps add up there until a code flips.
# (Each number of bits has the percentile that was best for it in Task 3.)

# %% [markdown]
# ### One scale for a layer, or one for each channel
#
# The next cell rounds the weights alone,
# so nothing else can cost accuracy.


# %% explore=true
def weights_rounded(network: Reader, bits: int, per_channel: bool) -> Reader:
    """Return a copy with rounded weights; activations stay float32."""
    twin, top = copy.deepcopy(network), 2 ** (bits - 1) - 1
    for c in twin.conv.values():
        size = c.weight.detach().abs()
        widest = size.amax((1, 2, 3), keepdim=True)
        scale = (widest if per_channel else size.max()) / top
        c.weight.data = fake_quantize(c.weight.detach(), scale, 0, bits)
    return twin


print("bits   one scale a layer   one a channel   float32")
for bits in (2, 3, 4, 8):
    twins = [weights_rounded(folded, bits, per) for per in (False, True)]
    layer_wise, channel_wise = (accuracy(t, x_val, y_val) for t in twins)
    print(f"{bits:4}{layer_wise:20.1%}{channel_wise:16.1%}{whole:10.1%}")

# %% [markdown]
# At 8 bits even the narrow channels have codes enough here.
# With 3 bits a channel with a third of the layer's range
# has -1, 0 and 1 left, and there the difference shows.
# With 2 bits neither scale saves the network: chance is 1 in 36.
# In a depthwise convolution, which has a filter of few weights for each channel,
# it shows at 8 bits:
# after folding, ranges may differ a hundredfold (Nagel et al. 2019).

# %% [markdown]
# ### A channel that spoils the others (optional, 5 minutes)
#
# In large language models a few input channels are a hundred times
# larger than the rest, and 4-bit weights for them are too coarse.
# *AWQ* (Lin et al. 2024) multiplies the weights of channel $j$
# by $t_j$ and divides the input by it: the product stays the same,
# but rounding errors of what matters shrink.
# It tries $t_j = (\text{mean of } |x_j|)^\alpha$ for several exponents $\alpha$.

# %% explore=true
draw = np.random.default_rng(0)
inputs = draw.normal(size=(256, 64)) * (1 + 59 * (np.arange(64) % 32 == 3))
weights = draw.normal(size=(32, 64))
exact = inputs @ weights.T
size = np.abs(inputs).mean(axis=0)
alphas = np.linspace(0, 1, 11)
lost = []
for alpha in alphas:
    t = (size / size.mean()) ** alpha
    codes, scale = weight_codes((weights * t)[:, :, None, None], 4)
    again = codes[:, :, 0, 0] * scale[:, None] / t
    lost.append(np.linalg.norm(inputs @ again.T - exact))
lost = np.array(lost) / np.linalg.norm(exact)
plot.curves(
    {"4-bit weights": (alphas, lost)},
    xlabel="alpha (0 is plain rounding)",
    ylabel="relative error of the output",
    title="Two outlier channels of 64, scaled by their size",
)
print(f"error {lost[0]:.3f}, at best {lost.min():.3f}", end=" ")
print(f"at alpha {alphas[lost.argmin()]:.1f}")

# %% [markdown]
# At 0 the error of an important weight counts sixty times.
# At 1 those weights set the scale of their row,
# and all others round to few codes, or to 0.
# The best lies between, and to find it takes a few inputs and no label.

# %% [markdown]
# ## Part 3: fewer channels
#
# ### Task 6. Prune channels (2 points)
#
# Single weights that are 0 save little time on ordinary hardware (lab 08).
# A whole channel does: what is left is a smaller dense convolution.
# Inside a residual block the first convolution's output channels
# are seen by the second one alone, so they may go.
# The block's own input and output are added to each other
# and must keep their channels.

# %% [markdown]
# `prune_channels(w1, per_channel, w2, keep)` takes tensors:
# `w1`, `(mid, in, r, r)`, and `w2`, `(out, mid, r, r)`;
# `per_channel`, a list of tensors of shape `(mid,)`: a bias, say,
# or the four of a batch normalisation between the two.
# It keeps the `keep` channels whose filters in `w1` have the largest
# sum of magnitudes (Li et al. 2017), in their old order,
# and returns the smaller `(w1, per_channel, w2)`,
# `per_channel` as a list (or tuple) of as many tensors in the same order.
# Of channels with equal sums it does not matter which stay.
#
# With filters `[1, -5, 3]` (one input, `r = 1`) and `keep = 2`
# channels 1 and 2 stay: the new `w1` is `[-5, 3]`.
# About 3 lines.


# %% nbgrader={"grade_id": "prune-channels", "solution": true}
def prune_channels(w1, per_channel, w2, keep: int):
    """Return (w1, per_channel, w2) with the keep strongest channels."""
    ### BEGIN SOLUTION
    size = w1.abs().flatten(1).sum(dim=1)
    kept = torch.sort(torch.argsort(size)[len(size) - keep :]).values
    return w1[kept], [v[kept] for v in per_channel], w2[:, kept]
    ### END SOLUTION


# %% nbgrader={"grade_id": "pruned", "locked": true}
NORM = ("weight", "bias", "running_mean", "running_var")


def prune(network: Reader, keep: int) -> Reader:
    """Return a copy, not folded, with so many inner channels a block."""
    small = copy.deepcopy(network)
    for name in "ab":
        first, second = small.conv[name + "1"], small.conv[name + "2"]
        norm = small.norm[name + "1"]
        with torch.no_grad():
            between = [getattr(norm, part).data for part in NORM]
            w1, between, w2 = prune_channels(
                first.weight, between, second.weight, keep
            )
        first.weight, second.weight = nn.Parameter(w1), nn.Parameter(w2)
        for part, value in zip(NORM, between, strict=True):
            getattr(norm, part).data = value
        first.out_channels = second.in_channels = norm.num_features = keep
    return small


def multiplies(network: Reader) -> int:
    """Return how many multiplications one image takes."""
    places = {"conv1": 14 * 14}
    return network.head.weight.numel() + sum(
        c.weight.numel() * places.get(name, 7 * 7)
        for name, c in network.conv.items()
    )


# %% explore=true
pruned, rows = {48: folded}, []
for keep in (16, 8):
    small = prune(reader, keep)
    cut = accuracy(small, x_val, y_val)
    fit(small, x_train, y_train, steps=120, lr=0.03)
    pruned[keep] = fold(small)
    rows.append((keep, cut, accuracy(small, x_val, y_val)))
batch = x_val[:64]
with torch.no_grad():
    speed = compare(
        {str(k): lambda n=n: n(batch) for k, n in pruned.items()}, repeat=15
    )
fastest = {k: min(speed[str(k)].samples_s) for k in pruned}
print("kept   cut off   retrained   fewer multiplies   times as fast")
for keep, cut, again in rows:
    fewer = multiplies(folded) / multiplies(pruned[keep])
    faster = fastest[48] / fastest[keep]
    print(f"{keep:4}{cut:10.1%}{again:12.1%}{fewer:17.1f} x{faster:14.2f} x")
faster = fastest[48] / fastest[16]
print(f"16 of 48: {faster:.2f} x, you predicted {predictions()['faster']:g}")

# %% [markdown]
# The cell retrains before it folds: batch normalisation
# keeps every channel's range in order while the weights move.
# So the usual order is: prune, retrain, fold, quantise.
#
# 120 steps led from near chance to almost all of the accuracy.
# Did pruning keep something, or does any network of this shape
# learn so fast? A control starts from scratch.

# %% explore=true
for steps in (120, 450):
    torch.manual_seed(0)
    fresh = prune(Reader(), 16)  # this shape, with weights of chance
    fit(fresh, x_train, y_train, steps=steps, lr=0.1)
    found = accuracy(fresh, x_val, y_val)
    print(f"16 channels, {steps} steps from scratch: {found:.1%}")
again = accuracy(pruned[16], x_val, y_val)
print(f"16 channels, pruned, 120 steps: {again:.1%}")

# %% [markdown]
# In 120 steps from scratch it learns less: pruning gives a head start.
# In 450, as many as the large network took, it gets as far:
# what pruning saves is training (Liu et al. 2019; one seed here).
#
# Fewer multiplications are not proportionally less time. Why?

# %% explore=true
channels = list(range(8, 65, 4))
features = torch.rand(64, 48, 7, 7)
ways = {
    str(k): lambda w=torch.rand(k, 48, 3, 3): functional.conv2d(
        features, w, padding=1
    )
    for k in channels
}
turns = compare(ways, repeat=25)  # a busy moment hits all alike
took = [1e3 * min(turns[str(k)].samples_s) for k in channels]
slower = [
    k
    for at, k in enumerate(channels[:-1])
    if took[at] > 1.1 * min(took[at + 1 :])
]
ax = plot.curves(
    {
        "measured": (channels, took),
        "in proportion": (channels, [took[-1] * k / 64 for k in channels]),
    },
    xlabel="output channels of one convolution",
    ylabel="milliseconds, 64 images",
    title="Channels and time of one convolution",
)
ax.set_xticks(range(0, 65, 16))
ax.set_ylim(bottom=0)
print("counts that take longer than some wider one:", slower or "none")

# %% [markdown]
# Where 8, 12 and 16 channels take one time, the table's last row is explained:
# far fewer multiplications than the one before, little or no time gained.
# A vector register holds 8 or 16 float32 numbers,
# fast kernels work on blocks of that many channels,
# and a block that is not full takes as long as a full one.
# Prune to what your hardware counts in.
# (A count that takes longer than a wider one would be a badly chosen kernel:
# hence the line below the figure.)
# *2:4 sparsity* goes the other way: of four neighbouring weights two are 0,
# and NVIDIA's GPUs since Ampere skip them.

# %% nbgrader={"grade_id": "prune-channels-check", "grade": true, "points": 2}
import numpy as np
import torch

from labkit import check


def layers(w1, w2):
    """Return w1, two tensors of an entry a channel, and w2; kernels 1 x 1."""
    first, second = (torch.tensor(w)[..., None, None] for w in (w1, w2))
    return first, [torch.tensor(w2[0]), torch.arange(len(w1))], second


def pruned_to(found, w1, between, w2):
    """Compare with numbers worked out by hand; kernels 1 x 1."""
    check.equal(len(found[1]), 2, name="length of per_channel")
    w1, w2 = (np.array(w)[..., None, None] for w in (w1, w2))
    check.close(found[0], w1, name="w1")
    for i in (0, 1):
        check.close(found[1][i], between[i], name=f"per_channel[{i}]")
    check.close(found[2], w2, name="w2")


with check.case(
    "the worked example", hint="magnitudes: -5 is the largest of the three"
):
    w1 = torch.tensor([1.0, -5.0, 3.0]).reshape(3, 1, 1, 1)
    bias, w2 = torch.arange(3.0), w1.reshape(1, 3, 1, 1)
    new1, (b,), new2 = prune_channels(w1, [bias], w2, 2)
    check.close(new1, [[[[-5.0]]], [[[3.0]]]], name="w1")
    check.close(b, [1.0, 2.0], name="per_channel[0]")
    check.close(new2, [[[[-5.0]], [[3.0]]]], name="w2")
with check.case(
    "the second convolution loses the same channels",
    hint="which axis of w2 reads these channels? are the arguments, "
    "per_channel too, as they came in?",
    more="and are the kept channels in their old order, in both?",
    essential=True,
):
    one = layers(  # the sums are 2, 3, 5 and 4
        [[1.0, -1], [3, 0], [0, -5], [2, 2]],
        [[10.0, 11, 12, 13], [20, 21, 22, 23]],
    )
    other = layers(  # and 6, 2, 5 and 3
        [[0.0, -6], [1, 1], [4, -1], [0, 3]],
        [[14.0, 15, 16, 17], [24, 25, 26, 27]],
    )
    first = prune_channels(*one, 2)
    with check.unchanged(first=first):
        second = prune_channels(*other, 2)
    left = [[12.0, 13], [22, 23]]
    pruned_to(first, [[0.0, -5], [2, 2]], [left[0], [2, 3]], left)
    left = [[14.0, 16], [24, 26]]
    pruned_to(second, [[0.0, -6], [4, -1]], [left[0], [0, 2]], left)
    left = [[11.0, 12, 13], [21, 22, 23]]
    kept = [[3.0, 0], [0, -5], [2, 2]], [left[0], [1, 2, 3]], left
    pruned_to(prune_channels(*one, 3), *kept)
with check.case(
    "the sum of a filter's magnitudes",
    hint="a sum over all of a filter's weights, no mean of some, no maximum",
):
    w1 = torch.zeros(3, 1, 3, 3)  # the sums are 4, 5 and 6
    w1[0, 0, 0, 0], w1[1, 0, 1] = 4.0, torch.tensor([-2.0, 2, -1])
    w1[2, 0, :, 2], w1[2, 0, 0, 0] = torch.tensor([1.0, -3, 1]), -1.0
    for keep in (1, 2):
        new1, (b,), _ = prune_channels(
            w1, [torch.tensor([7, 8, 9])], w1.transpose(0, 1), keep
        )
        check.close(b, [8, 9][2 - keep :], name="per_channel[0]")
        check.close(new1, w1[3 - keep :], name="w1")
### BEGIN HIDDEN TESTS


def block(seed, out, mid, inner, r, dtype=torch.float32):
    """Return w1, two tensors of an entry a channel, and w2."""
    rng = torch.Generator().manual_seed(seed)
    shapes = ((mid, inner, r, r), (mid,), (mid,), (out, mid, r, r))
    w1, b, c, w2 = (torch.randn(s, generator=rng, dtype=dtype) for s in shapes)
    return w1, [b, c], w2


def prune_expect(w1, between, w2, keep):
    size = np.abs(w1.numpy().astype(float)).reshape(len(w1), -1).sum(axis=1)
    at = sorted(range(len(size)), key=lambda i: -size[i])[:keep]
    at = np.array(sorted(at), int)
    new1, rest, new2 = prune_channels(w1, between, w2, keep)
    check.equal(len(rest), 2, name="length of per_channel")
    b, c = rest
    name = str(w1.dtype).removeprefix("torch.")
    exact = {"rtol": 0, "atol": 0, "dtype": name}
    check.close(new1, w1.numpy()[at], name="w1", **exact)
    check.close(b, between[0].numpy()[at], name="per_channel[0]", **exact)
    check.close(c, between[1].numpy()[at], name="per_channel[1]", **exact)
    check.close(new2, w2.numpy()[:, at], name="w2", **exact)


with check.hidden_case(
    "many channels, and two blocks of one shape",
    hint="is the choice made for this block? are the kept ones the largest, in "
    "their old order, everywhere?",
    essential=True,
):
    for seed in (1, 2):  # equal shapes, other weights
        prune_expect(*block(seed, 6, 6, 6, 3), 4)
    (w1, b1, v1), (w2, b2, v2) = (block(seed, 2, 2, 2, 1) for seed in (3, 4))
    (a, _, c), (d, _, _) = (
        prune_channels(w1, b1, v1, 2),
        prune_channels(w2, b2, v2, 2),
    )
    check.close(a, w1, name="w1 of the first of two blocks")
    check.close(c, v1, name="w2 of the first of two blocks")
    check.close(d, w2, name="w1 of the second block")
with check.hidden_case(
    "other sides", hint="each of the three has its own number of channels"
):
    prune_expect(*block(3, 2, 7, 3, 3), 3)
    prune_expect(*block(4, 5, 4, 1, 1), 2)
with check.hidden_case(
    "all of them, one of them", hint="[-0:] is everything, too"
):
    for keep in (1, 5):
        prune_expect(*block(5, 3, 5, 2, 3), keep)
with check.hidden_case(
    "per_channel: none, one, or four, of any dtype",
    hint="as many come back as went in, in a list: it has a length",
):
    w1, _, w2 = block(9, 2, 5, 2, 1)
    at = sorted(np.argsort(-w1.abs().sum(dim=(1, 2, 3)).numpy())[:3])
    rows = torch.arange(20).reshape(4, 5)
    every = [rows[0], rows[1].double(), rows[2].float(), rows[3] % 2 == 0]
    for count in (0, 1, 4):
        _, rest, _ = prune_channels(w1, every[:count], w2, 3)
        check.equal(len(rest), count, name="length of per_channel")
        for i in range(count):
            name = str(every[i].dtype).removeprefix("torch.")
            want = every[i].numpy()[at]
            check.close(rest[i], want, dtype=name, name=f"per_channel[{i}]")
with check.hidden_case(
    "many small weights against a single large one",
    hint="the sum of magnitudes, not of squares, and not the largest",
):
    w1 = torch.zeros(3, 1, 3, 3)
    w1[0, 0, 0, 0], w1[1], w1[2, 0, 1] = 4.0, -0.5, 1.2
    between = [torch.arange(3.0), torch.ones(3)]
    prune_expect(w1, between, w1.transpose(0, 1), 1)
    prune_expect(w1, between, w1.transpose(0, 1), 2)
with check.hidden_case(
    "float64, and sums that lie close together",
    hint="nothing is rounded, and no dtype is changed",
):
    w1, between, w2 = block(6, 2, 4, 1, 1, torch.float64)
    w1[:, 0, 0, 0] = torch.tensor(
        [1.0, 1.0 + 1e-12, -1.0 - 3e-12, 0.5], dtype=torch.float64
    )
    prune_expect(w1, between, w2, 1)
    prune_expect(w1, between, w2, 2)
with check.hidden_case(
    "equal sums: so many stay",
    hint="how many reach a threshold if sums are equal, and how many are to "
    "stay?",
):
    w1, between, w2 = block(7, 2, 4, 3, 3)
    same = torch.ones_like(w1)
    new1, (b, _), new2 = prune_channels(same, between, w2, 2)
    check.shape(new1, (2, 3, 3, 3), name="w1")
    check.shape(b, (2,), name="per_channel[0]")
    check.shape(new2, (2, 2, 3, 3), name="w2")
with check.hidden_case(
    "nothing is changed", hint="index: a new tensor comes of it", guard=True
):
    w1, between, w2 = block(8, 3, 4, 3, 3)
    with check.unchanged(w1=w1, per_channel=between, w2=w2):
        first = prune_channels(w1, between, w2, 2)
    check.separate(prune_channels(w1, between, w2, 3)[1], first[1])
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## Part 4: a student and its teacher
#
# A trained network says more than a label.
# Divided by a temperature $T$ before softmax, its logits give flatter
# probabilities, in which the small ones can be seen.

# %% explore=true
one_o = x_val[np.flatnonzero(y_val == letters.index("O"))[:1]]
with torch.no_grad():
    said = reader(one_o)[0]
beside, *right = plot.panels(3)
plot.images(pictures(one_o), title="An O", ax=beside)
for temperature, ax in zip((1, 4), right, strict=True):
    p, at = torch.softmax(said / temperature, 0).topk(5)
    plot.bars(
        p.numpy(),
        [letters[i] for i in at],
        fmt=".2f",
        ylabel="teacher's probability",
        title=f"T = {temperature}",
        ax=ax,
    )
    ax.set_ylim(0, 1)  # one scale for both

# %% [markdown]
# At $T = 1$ nearly all belongs to one or two classes, and the first need not be the right one:
# the teacher may read this O as a zero.
# At $T = 4$ one sees what else it takes the image for, and in which order:
# that is what a student can learn from.

# %% [markdown]
# ### Task 7. Learn from a teacher (2 points)
#
# *Distillation* (Hinton et al. 2015)
# trains a small network, the student, on a large one's probabilities.
# With $p = \mathrm{softmax}(\text{teacher}/T)$ and
# $q = \mathrm{softmax}(\text{student}/T)$ the loss is
#
# $$L = \alpha\,T^2 \sum_c p_c \log \frac{p_c}{q_c}
# + (1 - \alpha) \cdot (\text{cross-entropy with the label, at } T = 1),$$
#
# averaged over the images.
# The sum, the *Kullback-Leibler divergence* of $q$ from $p$,
# says how far two distributions are apart: it is 0 where they agree.
# $\alpha$ is its share.
# Its gradients shrink like $1/T^2$;
# the factor makes up for it, so $\alpha$ means the same at every $T$.

# %% [markdown]
# `distillation_loss(logits, teacher, labels, temperature, alpha)`
# takes tensors: the student's and the teacher's logits, `(n, classes)`,
# and labels, int64, `(n,)`. It returns a scalar tensor, $L$.
# The gradient reaches the student's logits and never the teacher's.
# Logits may be large. All arguments stay as they were:
# the numbers, and whether a tensor asks for its gradient.
#
# With `logits = [[0, 0]]`, `teacher = [[2, 0]]`, label 1, $T = 2$
# and $\alpha = 0.5$, the first sum is 0.1109,
# the cross-entropy 0.6931, and $L$ is 0.5685.
# About 5 lines.


# %% nbgrader={"grade_id": "distillation-loss", "solution": true}
def distillation_loss(logits, teacher, labels, temperature, alpha):
    """Return the loss of a student that learns from teacher and labels."""
    ### BEGIN SOLUTION
    p = torch.log_softmax(teacher.detach() / temperature, dim=1)
    q = torch.log_softmax(logits / temperature, dim=1)
    soft = (p.exp() * (p - q)).sum(dim=1).mean() * temperature**2
    hard = functional.cross_entropy(logits, labels)
    return alpha * soft + (1 - alpha) * hard
    ### END SOLUTION


# %% nbgrader={"grade_id": "students", "locked": true}
def loss_and_gradients(logits, teacher, labels, temperature, alpha):
    """Return the loss and its gradients with respect to both logits."""
    logits, teacher = (
        t.detach().clone().requires_grad_() for t in (logits, teacher)
    )
    loss = distillation_loss(logits, teacher, labels, temperature, alpha)
    loss.backward()
    none = torch.zeros_like(teacher)
    slope = none if teacher.grad is None else teacher.grad
    return loss.detach(), logits.grad, slope


def few_labels(seed: int, each: int = 10):
    """Return so many training images of each class, with their labels."""
    draw = np.random.default_rng(seed)
    places = [
        draw.choice(np.flatnonzero(y_train.numpy() == c), each, replace=False)
        for c in range(36)
    ]
    return x_train[np.concatenate(places)], y_train[np.concatenate(places)]


# %% nbgrader={"grade_id": "teaching", "locked": true}
def train_student(x, targets, *, loss=None, seed=0, steps=300) -> Reader:
    """Train a small reader on targets: labels, or what the loss takes."""
    torch.manual_seed(seed)
    student = Reader(8, 16)
    return fit(student, x, targets, steps=steps, lr=0.1, seed=seed, loss=loss)


def from_teacher(network, x, labels=None, *, alpha=0.9):
    """Return targets and a loss that hold the teacher's logits, too."""
    with torch.no_grad():
        told = network(x)
    alpha = 1.0 if labels is None else alpha
    labels = told.argmax(1) if labels is None else labels

    def loss(logits, targets):
        told, labels = targets[:, :-1], targets[:, -1].long()
        return distillation_loss(logits, told, labels, 4.0, alpha)

    return torch.cat([told, labels[:, None]], dim=1), loss


# %% nbgrader={"grade_id": "distillation-loss-check", "grade": true, "points": 2}
import numpy as np
import torch

from labkit import check


def kd_case(seed, n, classes, size=2.0):
    draw = torch.Generator().manual_seed(seed)
    z, u = size * torch.randn(2, n, classes, generator=draw).double()
    return z, u, torch.randint(classes, (n,), generator=draw)


def kd_given(logits, teacher, labels, t, alpha, loss, slope):
    """Compare with numbers written down, of six digits."""
    z, u = (torch.tensor(v, dtype=torch.float64) for v in (logits, teacher))
    got = loss_and_gradients(z, u, torch.tensor(labels), t, alpha)
    check.shape(got[0], (), name="loss")
    check.close(got[0], loss, rtol=0, atol=2e-6, name="loss")
    check.close(got[1], slope, rtol=0, atol=2e-6, name="gradient")


one, other = [[1, 0, -1], [0, 2, 0]], [[0, 3, 1], [2, 2, -2]]  # logits
with check.case(
    "the worked example",
    hint="what is divided by T, and what is not? which sum has T squared, and "
    "whose share is alpha?",
):
    case = torch.zeros(1, 2), torch.tensor([[2.0, 0.0]]), torch.tensor([1])
    loss, _, _ = loss_and_gradients(*case, 2.0, 0.5)
    check.close(loss, 0.568462, rtol=1e-4, name="loss")
with check.case(
    "labels alone, if alpha is 0",
    hint="ordinary cross-entropy, without the temperature, as a mean",
):
    want = [[-0.167380, 0.122364, 0.045015], [0.053253, 0.393493, -0.446747]]
    kd_given(one, other, [0, 2], 3.0, 0.0, 1.323575, want)
with check.case(
    "the teacher alone, if alpha is 1",
    hint="which of the two stands before the logarithm?",
    more="a sum over classes, a mean over images, and both at temperature T",
    essential=True,
):
    want = [[0.384018, -0.309057, -0.074962], [-0.296500, 0.059088, 0.237412]]
    kd_given(one, other, [0, 2], 4.0, 1.0, 1.225615, want)
    turned = [[-v for v in row] for row in want]
    kd_given(other, one, [0, 2], 4.0, 1.0, 1.303322, turned)
with check.case(
    "the teacher gets no gradient", hint="detach the teacher", guard=True
):
    _, _, slope = loss_and_gradients(*kd_case(4, 3, 4), 2.0, 0.5)
    check.close(slope, np.zeros((3, 4)), name="gradient for the teacher")
### BEGIN HIDDEN TESTS


def kd_want(logits, teacher, labels, t, alpha):
    """Return the loss and its gradient with respect to logits, by NumPy."""

    def logs(z):
        z = z - z.max(axis=1, keepdims=True)
        return z - np.log(np.exp(z).sum(axis=1, keepdims=True))

    z, u = logits.numpy().astype(float), teacher.numpy().astype(float)
    p, q, n = logs(u / t), logs(z / t), len(z)
    soft = (np.exp(p) * (p - q)).sum(axis=1).mean()
    hard = -logs(z)[np.arange(n), labels.numpy()].mean()
    one = np.eye(z.shape[1])[labels.numpy()]
    slope = alpha * t * (np.exp(q) - np.exp(p)) / n
    slope = slope + (1 - alpha) * (np.exp(logs(z)) - one) / n
    return alpha * t * t * soft + (1 - alpha) * hard, slope


def kd_expect(case, t, alpha):
    loss, slope, _ = loss_and_gradients(*case, t, alpha)
    want = kd_want(*case, t, alpha)
    check.shape(loss, (), name="loss")
    check.close(loss, want[0], rtol=1e-5, name="loss")
    check.close(slope, want[1], rtol=1e-5, atol=1e-7, name="gradient")


with check.hidden_case(
    "more images and classes, by labels alone and by the teacher alone",
    hint="a sum over what, a mean over what? which term is left for alpha 0, "
    "and which for 1?",
    essential=True,
):
    kd_expect(kd_case(1, 5, 4), 3.0, 0.0)
    for seed in (2, 3):  # equal shapes, other logits
        kd_expect(kd_case(seed, 6, 5), 4.0, 1.0)
with check.hidden_case(
    "other temperatures and shares", hint="T times T, alpha and 1 - alpha"
):
    for t, alpha in ((1.0, 0.3), (0.5, 0.9), (20, 0.7), (3.0, 0.5)):
        kd_expect(kd_case(5, 4, 3), t, alpha)
with check.hidden_case(
    "one image, two classes, many",
    hint="which axis is summed, which averaged? is an axis of length 1 still "
    "there?",
):
    for shape in ((1, 2), (2, 2), (3, 40)):
        kd_expect(kd_case(6, *shape), 2.0, 0.6)
with check.hidden_case(
    "large logits give no nan", hint="log_softmax, not log of softmax"
):
    kd_expect(kd_case(7, 4, 5, size=2000.0), 1.5, 0.8)
with check.hidden_case(
    "logits that need no gradient, close to each other",
    hint="signs and small differences count",
):
    z, u, labels = kd_case(9, 4, 3, size=1.0)
    for t, alpha in ((3.14159, 1.0), (1.0, 0.0)):
        loss = distillation_loss(z, u, labels, t, alpha)
        want, _ = kd_want(z, u, labels, t, alpha)
        check.close(loss, want, rtol=1e-6, name="loss")
    far = 1e-3 * u - 100.0
    earlier, loss = loss, distillation_loss(z, far, labels, 1.0, 1.0)
    check.separate(loss, earlier, name="the second loss")
    want, _ = kd_want(z, far, labels, 1.0, 1.0)
    check.close(loss, want, rtol=1e-6, name="loss")
with check.hidden_case(
    "nothing is changed",
    hint="is an argument written to, on the way?",
    guard=True,
):
    z, u, labels = kd_case(8, 3, 4)
    with check.unchanged(logits=z, teacher=u, labels=labels):
        distillation_loss(z, u, labels, 2.0, 0.5)
with check.hidden_case(
    "who asked for a gradient still asks for it",
    hint="what has a tensor's numbers, but is another tensor without a graph?",
    guard=True,
):
    z, u, labels = kd_case(10, 3, 4)
    z, u = z.requires_grad_(), u.requires_grad_()
    with check.unchanged(logits=z, teacher=u):
        distillation_loss(z, u, labels, 2.0, 0.5)
### END HIDDEN TESTS
check.score(2)

# %% explore=true
read = {"labels": [], "teacher": []}
for seed in (0, 1):
    x_few, y_few = few_labels(seed)
    student = train_student(x_few, y_few, seed=seed)
    read["labels"].append(accuracy(student, x_val, y_val))
    targets, loss = from_teacher(reader, x_few, y_few)
    student = train_student(x_few, targets, loss=loss, seed=seed)
    read["teacher"].append(accuracy(student, x_val, y_val))
count = sum(p.numel() for p in student.parameters())
print(f"{count:,} parameters, 360 images, 300 steps, two seeds")


def say_seeds(found) -> None:
    """Print the accuracy of each seed."""
    for way, seeds in found.items():
        print(f"{way:24}", *(f"{share:7.1%}" for share in seeds))


say_seeds(read)

# %% [markdown]
# The same student, images and number of steps; a column is a seed.
# The teacher's soft answers carry to 360 images
# much of what it learned from all 14,400 labels.

# %% [markdown]
# ### Task 8. Inputs without labels (1 point)
#
# A teacher can label whatever it is shown, so why not invent inputs?
# Bucila et al. (2006) draw them near the ones there are:
# each entry moves, by chance, to about its value in the nearest neighbour.
#
# `synthetic(x, p, s, draw)` takes examples, a float array of shape
# `(n, ...)` with $n \ge 2$, and NumPy's generator. It returns new examples of that shape:
#
# 1. The neighbour $x'$ of each example is the nearest *other* one,
#    by Euclidean distance; of several as near, any. An equal one is another.
# 2. `draw.random(x.shape) < p` says which entries change.
# 3. Those become $x' + |x - x'|\,/\,s \cdot g$,
#    with $g$ from `draw.normal(size=x.shape)`:
#    the larger $s$, the nearer to the neighbour's value they stay.
#
# Nothing else is drawn, and in this order. For `p = 0` the result equals `x`,
# which stays as it was.
# About 6 lines; `n` is at most a thousand or so.


# %% nbgrader={"grade_id": "synthetic", "solution": true}
def synthetic(x, p: float, s: float, draw: np.random.Generator):
    """Return new examples near those of x, shape (n, ...)."""
    ### BEGIN SOLUTION
    flat = x.reshape(len(x), -1).astype(np.float64)
    square = (flat**2).sum(axis=1)
    distance = square[:, None] + square - 2 * flat @ flat.T
    np.fill_diagonal(distance, np.inf)
    near = x[distance.argmin(axis=1)]
    changes = draw.random(x.shape) < p
    moved = near + np.abs(x - near) / s * draw.normal(size=x.shape)
    return np.where(changes, moved, x)
    ### END SOLUTION


# %% nbgrader={"grade_id": "twice", "locked": true}
def twice(x, p, s, seed):
    """Return two results of `synthetic`, drawn from one generator."""
    draw = np.random.default_rng(seed)
    return synthetic(x, p, s, draw), synthetic(x, p, s, draw)


# %% nbgrader={"grade_id": "synthetic-check", "grade": true, "points": 1}
import numpy as np

from labkit import check


points = np.random.default_rng(0).normal(size=(7, 3)) * [3.0, 0.3, 1.0]
with check.case(
    "for p = 0 nothing changes",
    hint="can random() < 0 hold? which entries come back then: the new ones, "
    "or those of x?",
    guard=True,
):
    same = synthetic(points, 0.0, 1.0, np.random.default_rng(1))
    check.close(same, points, name="examples")
with check.case(
    "for p = 1 and a large s each becomes its nearest other one",
    hint="at which distance is the one that you return, once the example "
    "itself is left out?",
    essential=True,
):
    x = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [5.0, 7.0]])
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):  # in two orders
        got = synthetic(x[order], 1.0, 1e12, np.random.default_rng(2))
        near = x[[1, 0, 3, 2]][order]
        check.close(got, near, rtol=1e-5, atol=1e-6, name="examples")
with check.case(
    "entries change by the text's draws",
    hint="first random, then normal, both of x's shape",
    more="the centre is the neighbour's value, the width |x - x'| / s",
):
    x = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [5.0, 7.0]])
    got = synthetic(x, 0.5, 2.0, np.random.default_rng(3))
    want = x.copy()  # three entries change
    want[0, 0], want[2, 1], want[3, 1] = 0.56739346, 6.33195365, 4.60919902
    check.close(got, want, rtol=1e-5, atol=1e-6, name="examples")
### BEGIN HIDDEN TESTS


def syn_want(x, p, s, seed):
    """Return the text's three steps, example by example."""
    draw, n = np.random.default_rng(seed), len(x)  # a seed, or a generator
    rows = [x[i].ravel().astype(float) for i in range(n)]
    near = []
    for i in range(n):
        away = [
            np.inf if i == j else np.sqrt(((rows[i] - rows[j]) ** 2).sum())
            for j in range(n)
        ]
        near.append(x[int(np.argmin(away))])
    near, chance = np.stack(near), draw.random(x.shape)
    noise = draw.normal(size=x.shape)
    return np.where(chance < p, near + np.abs(x - near) / s * noise, x)


def syn_expect(x, p, s, seed):
    rng = np.random.default_rng(seed)
    got = synthetic(x, p, s, rng)
    want = syn_want(x, p, s, seed)
    check.close(got, want, rtol=1e-5, atol=1e-6, name="new examples")


with check.hidden_case(
    "entries change by these draws, whatever p and s",
    hint="what makes a distance, and who is nearest? which chance and which "
    "number has each entry?",
):
    for p, s in ((0.5, 1.0), (1.0, 3.0), (0.2, 0.51234567)):
        syn_expect(points, p, s, 3)
with check.hidden_case(
    "images: the distance is over all pixels together",
    hint="one neighbour for an example, not for each row of it",
):
    images = np.random.default_rng(4).random((6, 2, 3, 4))
    syn_expect(images, 0.4, 2.0, 5)
    syn_expect(images.astype(np.float32), 0.4, 2.0, 5)
    syn_expect(images.transpose(3, 1, 2, 0), 0.7, 2.0, 5)
with check.hidden_case(
    "a chance of many digits, for many entries", hint="compare with p itself"
):
    many = np.random.default_rng(11).normal(size=(30, 2000))
    syn_expect(many, 0.30012, 1.0, 12)
    drawn = np.random.default_rng(14).random(points.shape)
    for p in (drawn[2, 1], drawn[2, 1] * (1 + 1e-9)):  # < is not <=
        syn_expect(points, float(p), 1.0, 14)
with check.hidden_case(
    "neighbours that differ little, far from 0",
    hint="a sum of large squares has few digits left for their difference",
    more="float32 has seven digits: compute distances in float64",
):
    low = np.array([0, 900, 1000, 3000, 3300], np.float32)[:, None]
    tell = np.arange(1, 6, dtype=np.float32)[:, None]  # who it is
    low = np.concatenate([low + 2e7, tell], axis=1)
    syn_expect(low, 1.0, 1.0, 13)
with check.hidden_case(
    "two examples, twins, and one axis", hint="the other one may be equal"
):
    syn_expect(points[:2], 0.9, 1.0, 6)
    twins = np.concatenate([points, points])
    syn_expect(twins, 0.9, 1.0, 7)
    syn_expect(np.array([4.0, 0.0, 9.0, 3.0]), 0.8, 1.0, 8)
    syn_expect(points[:, :1], 0.8, 1.0, 8)
with check.hidden_case(
    "the generator has drawn twice x.shape, and goes on from there",
    hint="step 2 and step 3 draw once each, and nothing else does",
):
    first, second = twice(points, 0.5, 1.0, 9)
    draw = np.random.default_rng(9)
    want = syn_want(points, 0.5, 1.0, draw)
    check.close(first, want, rtol=1e-5, atol=1e-6, name="first call")
    want = syn_want(points, 0.5, 1.0, draw)
    check.close(second, want, rtol=1e-5, atol=1e-6, name="second call")
with check.hidden_case(
    "x stays as it was",
    hint="where are new entries written: into x, or into an array of their "
    "own?",
    guard=True,
):
    x = np.random.default_rng(15).normal(size=(6, 2, 3))  # never used before
    for some in (x, x.astype(np.float32)):
        with check.unchanged(x=some):
            synthetic(some, 0.9, 1.0, np.random.default_rng(10))
### END HIDDEN TESTS
check.score(1)


# %% explore=true
def invented(x, seed: int, times: int = 8) -> torch.Tensor:
    """Return the images and so many synthetic ones for each."""
    draw = np.random.default_rng(seed)
    new = [synthetic(x.numpy(), 0.3, 1.0, draw) for _ in range(times)]
    return torch.cat([x, torch.tensor(np.concatenate(new)).float()])


x_few, y_few = few_labels(0)
more = invented(x_few, 0)
shown = [more[at + 360 * i] for at in (40, 130, 250) for i in (0, 1, 2, 3)]
plot.images(
    pictures(torch.stack(shown)),
    3 * ["original", "first", "second", "third"],
    columns=4,
    title="Three examples and synthetic ones near them",
)

# %% explore=true
read["teacher, synthetic"] = []
for seed in (0, 1):
    more = invented(few_labels(seed)[0], seed)
    targets, loss = from_teacher(reader, more)
    student = train_student(more, targets, loss=loss, seed=seed)
    read["teacher, synthetic"].append(accuracy(student, x_val, y_val))
means = {way: float(np.mean(found)) for way, found in read.items()}
say_seeds(read)

# %% [markdown]
# Invented images, noisy as they look, need not be letters,
# only lie where the teacher's function matters.
# Here they gain less than the teacher's first step:
# with two seeds look at each before you believe their mean.
# (Nobody labels an invented image, so $\alpha$ is 1 here, and was 0.9 above.)
#
# What is left of the gain where the student has all the labels itself?

# %% explore=true
parts = zip(x_train.split(600), y_train.split(600), strict=True)
told = [from_teacher(reader, x, y) for x, y in parts]  # all at once: 4 GiB
targets, loss = torch.cat([found for found, _ in told]), told[0][1]
all_student = train_student(x_train, y_train, seed=1)
taught = train_student(x_train, targets, loss=loss, seed=1)
every = {
    "labels": [accuracy(all_student, x_val, y_val)],
    "teacher": [accuracy(taught, x_val, y_val)],
}
rows = {f"{way}, 360": found for way, found in read.items()}
rows |= {f"{way}, 14,400": found for way, found in every.items()}
dots = [(100 * (1 - a), at) for at, way in enumerate(rows) for a in rows[way]]
ax = plot.scatter(
    tuple(np.transpose(dots)),
    logx=True,
    xlabel="validation errors, %; a dot is a seed",
    title="A teacher beside few labels, and beside all",
)
ax.set_yticks(range(len(rows)), rows)
ax.set_ylim(len(rows) - 0.5, -0.5)
ax.set_xticks([5, 10, 20, 40], [5, 10, 20, 40])
ax.minorticks_off()
say_seeds(rows)

# %% [markdown]
# Now no image is seen more than twice, and the teacher no longer helps
# (one seed cannot tell whether it harms): the labels say what it knows.
# A teacher is worth most where labels are few:
# it stands for the labels that the student did not get.

# %% [markdown]
# ## Part 5: a layer of another form (a detour, half an hour)
#
# ### Task 9. A tensor contraction layer (1 point)
#
# Nothing below needs this part.
# Behind the last convolution features are a block:
# channels x height x width. Flattened, it costs the next linear layer
# a weight for every entry.
# A *tensor contraction layer* (Kossaifi et al. 2017)
# first makes each axis shorter, by a small matrix of its own.
#
# `contract(x, factors)` takes a tensor `(n, d1, ..., dk)`, n may be 0,
# and a list of $k \ge 1$ tensors of `x`'s dtype, the $i$-th of shape
# `(r_i, d_i)`, and returns
#
# $$y_{n\,a\,b\dots} = \sum_{i,j,\dots} x_{n\,i\,j\dots}\,F^1_{a\,i}\,F^2_{b\,j}\cdots$$
#
# of shape `(n, r1, ..., rk)` and `x`'s dtype, through which gradients flow.
# For `x = [[[1, 2], [3, 4]]]` and the factors `[[1, 1]]`, `[[1, -1]]`
# it is `[[[-2]]]`. About 3 lines.


# %% nbgrader={"grade_id": "contract", "solution": true}
def contract(x, factors):
    """Return x with its i-th axis after the first shortened by factor i."""
    ### BEGIN SOLUTION
    for axis, factor in enumerate(factors, start=1):
        x = torch.movedim(torch.movedim(x, axis, -1) @ factor.T, -1, axis)
    return x
    ### END SOLUTION


# %% nbgrader={"grade_id": "contraction-layer", "locked": true}
class TensorContraction(nn.Module):
    """Learns the factors of `contract` from in_shape to out_shape."""

    def __init__(self, in_shape, out_shape) -> None:
        super().__init__()
        self.factors = nn.ParameterList(
            torch.randn(r, d) / d**0.5
            for d, r in zip(in_shape, out_shape, strict=True)
        )

    def forward(self, x):
        return contract(x, list(self.factors))


def contraction_gradients(x, factors, upstream) -> list:
    """Return the gradients of (contract(x, factors) * upstream).sum()."""
    leaves = [t.detach().clone().requires_grad_() for t in (x, *factors)]
    (contract(leaves[0], leaves[1:]) * upstream).sum().backward()
    return [leaf.grad for leaf in leaves]


def digit_reader(out_shape=None) -> nn.Sequential:
    """Return a convolution and two linear layers for digits of 8 x 8."""
    head = [] if out_shape is None else [
        TensorContraction((32, 4, 4), out_shape)
    ]  # fmt: skip
    flat = int(np.prod(out_shape or (32, 4, 4)))
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), *head,
        nn.Flatten(), nn.Linear(flat, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


def dense_parameters(network) -> int:
    """Return the parameters behind the convolution."""
    return sum(p.numel() for layer in network[3:] for p in layer.parameters())


def contraction_accuracy(digits, out_shape, seed: int) -> tuple[int, float]:
    """Train, and return dense parameters and test accuracy."""
    torch.manual_seed(seed)
    network = digit_reader(out_shape)
    x, y = torch.tensor(digits.train.x)[:, None], torch.tensor(digits.train.y)
    fit(network, x, y, steps=250, lr=0.1, seed=seed)
    test = torch.tensor(digits.test.x)[:, None], torch.tensor(digits.test.y)
    return dense_parameters(network), accuracy(network, *test)


# %% explore=true
digits = load("digits")
shapes = (None, (24, 4, 3), (16, 3, 3), (8, 2, 2))
table = {s: contraction_accuracy(digits, s, seed=0) for s in shapes}
full = table[None][0]
print("contracted to   dense parameters   saved   test accuracy")
for shape, (count, found) in table.items():
    name = "(not)" if shape is None else " x ".join(map(str, shape))
    print(f"{name:14}{count:15,}{1 - count / full:11.0%}{found:13.1%}")

# %% [markdown]
# A talk of 2017 (one of this course's four sources) had such layers in AlexNet:
# almost 44 % fewer parameters in its dense part, at equal accuracy or better.
# The row 24 x 4 x 3 saves as much, but is less accurate:
# ten pairs of seeds gave 0.8 points less (`docs/claims.md`),
# while one seed and 360 test images cannot tell half a point.

# %% nbgrader={"grade_id": "contract-check", "grade": true, "points": 1}
import numpy as np
import torch

from labkit import check


with check.case(
    "the worked example",
    hint="for each axis: which factor, and summed over which of its two axes? "
    "is it back in its place?",
):
    x = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    factors = [torch.tensor([[1.0, 1.0]]), torch.tensor([[1.0, -1.0]])]
    check.close(contract(x, factors), [[[-2.0]]], name="result")
with check.case(
    "several axes, each by its own factor",
    hint="the second axis of a factor is what is summed over",
    more="move an axis to the end, multiply, and move it back",
    essential=True,
):
    x = torch.tensor([[[1.0, 2, 3], [4, 5, 6]], [[0, 1, 0], [2, 0, -1]]])
    f = torch.tensor([[1.0, 1], [1, -1], [0, 2]])
    g = torch.tensor([[1.0, 0, 0], [0, 1, 2]])
    first, second = contract(x, [f, g]), contract(-x.flip(0), [f, g.flip(0)])
    want = [[5.0, 25], [-3, -9], [8, 34]], [[2.0, -1], [-2, 3], [4, -4]]
    check.close(first, want, name="result")
    want = [[1.0, -2], [-3, 2], [4, -4]], [[-25.0, -5], [9, 3], [-34, -8]]
    check.close(second, want, name="result of other numbers")
    x = torch.arange(1.0, 9).reshape(1, 2, 2, 2)  # three axes
    factors = [[[1.0, 0], [1, 1]], [[1.0, -1], [0, 1]], [[2.0, 0], [1, 1]]]
    got = contract(x, [torch.tensor(factor) for factor in factors])
    want = [[[[-4.0, -4], [6, 7]], [[-8, -8], [20, 22]]]]
    check.close(got, want, name="result of three axes")
### BEGIN HIDDEN TESTS


def tcl_case(seed, n, pairs, dtype=torch.float64):
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(n, *(d for _, d in pairs), generator=rng, dtype=dtype)
    factors = [torch.randn(p, generator=rng, dtype=dtype) for p in pairs]
    return x, factors


def tcl_expect(x, factors):
    letters, new = "ijklm"[: len(factors)], "abcde"[: len(factors)]
    terms = ",".join(
        ["n" + letters, *map("".join, zip(new, letters, strict=True))]
    )
    arrays = [x.numpy(), *(f.numpy() for f in factors)]
    want = np.einsum(f"{terms}->n{new}", *arrays)
    name = str(x.dtype).removeprefix("torch.")
    got = contract(x, factors)
    check.close(got, want, rtol=1e-5, atol=1e-6, dtype=name, name="result")


with check.hidden_case(
    "more axes, and two calls of one shape",
    hint="which axis is multiplied, and is it back in its place? are all "
    "digits of x kept, in each call?",
    essential=True,
):
    twins = [tcl_case(seed, 3, [(2, 4), (5, 3)]) for seed in (8, 9)]
    first, second = contract(*twins[0]), contract(*twins[1])
    for got, (x, (f, g)) in ((first, twins[0]), (second, twins[1])):
        want = np.einsum("nij,ai,bj->nab", x, f, g)
        check.close(got, want, rtol=1e-5, atol=1e-6, name="result")
    for seed in (1, 2):  # equal shapes, other numbers
        tcl_expect(*tcl_case(seed, 3, [(2, 4), (5, 3), (1, 2)]))
        tcl_expect(*tcl_case(seed, 3, [(3, 3), (3, 3), (3, 3)]))
with check.hidden_case(
    "one axis, two, four, sides of 1, a batch of one or none",
    hint="the number of factors says how many axes there are",
):
    for n, pairs in (
        (3, [(2, 5)]),
        (1, [(4, 2), (2, 3)]),
        (2, [(2, 3), (3, 1), (1, 2), (2, 2)]),
        (0, [(2, 3), (3, 2)]),
    ):
        tcl_expect(*tcl_case(4, n, pairs))
    tcl_expect(*tcl_case(5, 2, [(2, 3), (4, 5)], torch.float32))
with check.hidden_case(
    "gradients reach x and every factor",
    hint="stay with PyTorch's functions: NumPy's keep no gradients",
):
    x, factors = tcl_case(8, 2, [(2, 3), (4, 5)])
    up = torch.randn(2, 2, 4, generator=torch.Generator().manual_seed(9))
    got = contraction_gradients(x, factors, up.double())
    u, (f, g) = up.double().numpy(), (t.numpy() for t in factors)
    wants = {"x": np.einsum("nab,ai,bj->nij", u, f, g)}
    wants["factor 1"] = np.einsum("nab,nij,bj->ai", u, x.numpy(), g)
    wants["factor 2"] = np.einsum("nab,nij,ai->bj", u, x.numpy(), f)
    for at, (name, want) in enumerate(wants.items()):
        check.close(got[at], want, name=f"gradient with respect to {name}")
with check.hidden_case(
    "float64 keeps its digits", hint="change no dtype", guard=True
):
    x, factors = tcl_case(6, 2, [(2, 3), (4, 2)])
    got = contract(x, factors)
    want = np.einsum("nij,ai,bj->nab", x, *factors)
    check.close(got, want, rtol=1e-12, atol=1e-13, name="result")
with check.hidden_case(
    "nothing is changed",
    hint="does anything write into x, or into a factor?",
    guard=True,
):
    x, factors = tcl_case(7, 2, [(2, 2), (3, 3)])
    with check.unchanged(x=x, factors=factors):
        contract(x, factors)
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ## Part 6: one model, many devices
#
# Decide now, and look when the table comes:
# is int8 as many times faster as its file is smaller?
#
# To run without its framework a function is *exported*: traced into a graph of operators,
# written to a file, and run by a small program in C++.
#
# | road | file | who runs it |
# |---|---|---|
# | `torch.export` | `.pt2` | PyTorch; translated further, to `.pte`, ExecuTorch on phones |
# | TorchAO | weights in a state dict | PyTorch, with kernels for int8 and int4 |
# | ONNX | `.onnx` | ONNX Runtime: servers, phones, browsers (JavaScript) |
# | LiteRT | `.tflite` | Android, iOS, microcontrollers |
#
# Functions here convert, time and draw; you need not read them.

# %% folded=true nbgrader={"grade_id": "devices", "locked": true}
board: list[tuple[str, int, float, float]] = []  # bytes, ms, accuracy
runs: dict[str, object] = {}  # what reads a batch, by name
middle_half: dict[str, tuple[float, ...]] = {}  # of the milliseconds


@contextlib.contextmanager
def quiet():
    """Hide what exporters log about packages that are not there."""
    logging.disable(logging.ERROR)
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def note(name: str, size: int, run) -> None:
    """Let run read all validation images, and enter a row on the board."""
    with torch.no_grad():
        parts = [np.asarray(run(some)) for some in x_val.split(64)]
    found = float((np.concatenate(parts).argmax(1) == y_val.numpy()).mean())
    board[:] = [row for row in board if row[0] != name]
    board.append((name, size, math.nan, found))
    runs[name] = run
    print(f"{name:24}{size:10,} bytes{found:8.1%}")


def time_board() -> None:
    """Time all rows on 64 images, in turns: a busy moment hits all alike."""
    batch = x_val[:64]
    with torch.no_grad():
        turns = compare(
            {name: lambda f=f: f(batch) for name, f in runs.items()}, repeat=15
        )
    for at, (name, size, _, found) in enumerate(board):
        board[at] = name, size, 1e3 * turns[name].median_s, found
        middle_half[name] = tuple(1e3 * t for t in turns[name].quartiles_s)


def state_bytes(network) -> int:
    """Return how many bytes the saved state of a network takes."""
    file = io.BytesIO()
    torch.save(network.state_dict(), file)
    return len(file.getvalue())


# %% [markdown]
# ### PyTorch, `torch.export`, TorchAO
#
# TorchAO's `quantize_` replaces the weights of *linear* layers,
# where a language model has its weights; ours are in convolutions.
# Its row shows what happens when a tool does not fit the network.

# %% explore=true
note("PyTorch", state_bytes(folded), folded)
example, axes = (x_val[:64].clone(),), ({0: torch.export.Dim("n")},)
program = torch.export.export(folded, example, dynamic_shapes=axes)
torch.export.save(program, "reader.pt2")
size = Path("reader.pt2").stat().st_size
note("torch.export", size, torch.export.load("reader.pt2").module())
if not missing("torchao"):
    with quiet():
        from torchao.quantization import Int8WeightOnlyConfig, quantize_

        narrow = copy.deepcopy(folded)
        quantize_(narrow, Int8WeightOnlyConfig())
    note("TorchAO, int8 head", state_bytes(narrow), narrow)

# %% [markdown]
# The file of `torch.export` is larger chiefly because it also holds the example: 64 images, some 200,000 bytes.
#
# ### ONNX Runtime
#
# `quantize_static` does what you did in Tasks 3 and 4.
# Its activations are uint8 here, your codes plus 128:
# the instructions of many x86 chips multiply unsigned by signed bytes.


# %% folded=true nbgrader={"grade_id": "to-onnx", "locked": true}
class Calibration:
    """Hands out batches of training images, as quantize_static asks."""

    def __init__(self) -> None:
        self.batches = iter(x_train[:256].numpy().reshape(4, 64, 4, 14, 14))

    def get_next(self):
        batch = next(self.batches, None)
        return None if batch is None else {"x": batch}


def to_onnx(network, path: str) -> None:
    """Write a network as ONNX, for batches of any size."""
    options = {"input_names": ["x"], "output_names": ["y"]}
    options |= {"external_data": False, "verbose": False}
    options |= {"dynamic_shapes": ({0: torch.export.Dim("n")},)}
    with quiet(), contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(network, (x_val[:64].clone(),), path, **options)


def onnx_session(path: str):
    """Return a function that runs an ONNX file on one core."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    return lambda x: session.run(None, {"x": x.numpy()})[0]


# %% folded=true nbgrader={"grade_id": "to-int8", "locked": true}
def to_int8(path: str, target: str) -> None:
    """Quantise a file: uint8 activations, int8 weights, as x86 multiplies."""
    with quiet():
        from onnxruntime import quantization as q

        q.quantize_static(
            path,
            target,
            Calibration(),
            per_channel=True,
            activation_type=q.QuantType.QUInt8,
            weight_type=q.QuantType.QInt8,
        )


def note_onnx(name: str, network) -> None:
    """Enter a network as float32 and int8 ONNX on the board."""
    to_onnx(network, "one.onnx")
    to_int8("one.onnx", "one8.onnx")
    for path, kind in (("one.onnx", "float32"), ("one8.onnx", "int8")):
        size = Path(path).stat().st_size
        note(f"ONNX, {name}{kind}", size, onnx_session(path))


# %% explore=true
if not missing("onnx", "onnxscript", "onnxruntime"):
    note_onnx("", folded)
    sizes = {row[0]: row[1] for row in board}
    smaller = sizes["ONNX, float32"] / sizes["ONNX, int8"]
    print(f"{smaller:.2f} times smaller,", end=" ")
    print(f"you predicted {predictions()['smaller']:g}")


# %% [markdown]
# The file is less than four times smaller:
# the graph around the weights stays, and every channel has a scale now.
#
# It is often said that deep learning *always depends on Python*.
# The next cell runs the int8 file in a process without any framework:
# Python only hands arrays to ONNX Runtime's core in C++,
# and a program in C++ could as well.


# %% explore=true
SCRIPT = """
import sys
import numpy, onnxruntime
session = onnxruntime.InferenceSession("one8.onnx")
numpy.save("out.npy", session.run(None, {"x": numpy.load("in.npy")})[0])
known = ("torch", "tensorflow", "keras", "jax")
print([name for name in known if name in sys.modules] or "none")
"""
if not missing("onnxruntime") and Path("one8.onnx").exists():
    np.save("in.npy", x_val.numpy())
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = (np.load("out.npy").argmax(1) == y_val.numpy()).mean()
    print(f"frameworks loaded: {done.stdout.strip()}; accuracy {found:.1%}")

# %% [markdown]
# ### LiteRT, from Keras (optional, 10 minutes)
#
# A second runtime, with rows of its own:
# the same weights in a Keras model, axes in another order.
# TensorFlow's converter quantises everything, input and output too.
# Run the four cells; only the last one is worth a look.


# %% explore=true
def keras_twin(state):
    """Return the folded network as a Keras model with its weights."""
    import keras
    from keras import layers

    def conv(x, name, activation="relu"):
        width = state[f"conv.{name}.weight"].shape[0]
        options = {"padding": "same", "activation": activation}
        return layers.Conv2D(width, 3, name=name, **options)(x)

    start = keras.Input((14, 14, 4))
    x = conv(layers.MaxPooling2D()(conv(start, "conv1")), "conv2")
    for a, b in (("a1", "a2"), ("b1", "b2")):
        x = layers.ReLU()(layers.Add()([x, conv(conv(x, a), b, None)]))
    x = layers.GlobalAveragePooling2D()(x)
    model = keras.Model(start, layers.Dense(36, name="head")(x))
    for name in ("conv1", "conv2", "a1", "a2", "b1", "b2", "head"):
        key = name if name == "head" else f"conv.{name}"
        w, bias = state[f"{key}.weight"], state[f"{key}.bias"]
        w = w.T if name == "head" else w.transpose(2, 3, 1, 0)
        model.get_layer(name).set_weights([w, bias])
    return model


# %% explore=true
def lite_files(state, calibration):
    """Return the network as two files, float32 and int8."""
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hides the converter's log
    with contextlib.redirect_stdout(io.StringIO()):
        import tensorflow as tf

        model, files = keras_twin(state), {}
        for name in ("float32", "int8"):
            maker = tf.lite.TFLiteConverter.from_keras_model(model)
            if name == "int8":
                maker.optimizations = [tf.lite.Optimize.DEFAULT]
                maker.representative_dataset = lambda: (
                    [one[None]] for one in calibration
                )
                kinds = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
                maker.target_spec.supported_ops = kinds
                maker.inference_input_type = tf.int8
                maker.inference_output_type = tf.int8
            files[name] = maker.convert()
    return files


# %% explore=true
def lite_session(data: bytes):
    """Return a function that runs a LiteRT file on one core, 64 images."""
    from ai_edge_litert.interpreter import Interpreter

    lite = Interpreter(model_content=data, num_threads=1)
    place = lite.get_input_details()[0]["index"]
    lite.resize_tensor_input(place, [64, 14, 14, 4])
    shown = os.dup(2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hides the runtime's log
    lite.allocate_tensors()
    os.dup2(shown, 2)
    told, answer = lite.get_input_details()[0], lite.get_output_details()[0]
    scale, zero = told["quantization"]

    def run(x):
        images = x.numpy().transpose(0, 2, 3, 1)  # channels last
        if told["dtype"] == np.int8:
            images = np.clip(np.rint(images / scale) + zero, -128, 127)
        lite.set_tensor(place, images.astype(told["dtype"]))
        lite.invoke()
        return lite.get_tensor(answer["index"])

    return run


# %% explore=true
if not missing("ai_edge_litert", "tensorflow"):
    state = {k: v.numpy() for k, v in folded.state_dict().items()}
    chosen = {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": ""}
    chosen |= {"TF_CPP_MIN_LOG_LEVEL": "3"}
    files = in_fresh_process(
        lite_files,
        state,
        x_train[:256].numpy().transpose(0, 2, 3, 1),
        environment=chosen,
    )
    for name, data in files.items():
        note(f"LiteRT, {name}", len(data), lite_session(data))

# %% [markdown]
# ### The table and the plot
#
# One point *beats* another
# if it is at least as good in bytes and in accuracy, and better in one.
# A point that none beats is *Pareto-optimal*.
# Bytes are compared in whole kilobytes here:
# a file's last bytes change from one export to the next.
#
# `student` is the last one of 360 images trained above: seed 1,
# from the teacher, with synthetic images.
# `all labels` is the same network, trained as long
# on all 14,400 labels without a teacher.

# %% explore=true
if not missing("onnx", "onnxscript", "onnxruntime"):
    note_onnx("16 channels, ", pruned[16])
    note_onnx("student, ", fold(student))
    note_onnx("all labels, ", fold(all_student))
time_board()
print(f"\n{'64 images, one core':28}{'bytes':>9}{'ms':>8}{'accuracy':>10}")
for name, size, ms, found in board:
    print(f"{name:28}{size:9,}{ms:8.2f}{found:10.2%}")
print(f"one image of {len(x_val):,} is {1 / len(x_val):.2%}")
rows = {row[0]: row for row in board}
for one, other in (
    ("ONNX, int8", "ONNX, float32"),
    ("LiteRT, int8", "LiteRT, float32"),
    ("ONNX, student, int8", "ONNX, int8"),
    ("ONNX, 16 channels, int8", "ONNX, student, float32"),
):
    if one in rows and other in rows:
        a, b = rows[one], rows[other]
        print(f"{one}, beside {other}:")
        print(f"  {a[1] / b[1]:.2f} of its bytes,", end=" ")
        print(f"{a[2] / b[2]:.2f} of its time,", end=" ")
        print(f"{100 * (a[3] - b[3]):+.2f} points")


# %% explore=true
def draw_board(column: int, unit: float, label: str) -> None:
    """Draw errors against bytes (1) or time (2), a colour a network."""
    groups, lines = {}, {}
    for row in board:
        name, at = row[0], (row[column] / unit, 100 * (1 - row[3]))
        runtime, *which = name.replace(", float32", "").split(", ")
        if name == "torch.export" or "int8 head" in name:
            continue  # the same convolutions as PyTorch's
        kind = which.pop() if which[-1:] == ["int8"] else ""
        network = which[0] if which else "48 channels"
        text = f"{network}, int8" if kind else "float32"
        text = text if which else f"{runtime} {kind}".strip()
        groups.setdefault(network, []).append((*at, text))
        lines.setdefault((runtime, network), []).append((*at, name))
    ax = plot.scatter(
        {k: tuple(np.transpose([p[:2] for p in v])) for k, v in groups.items()},
        names={k: [p[2] for p in v] for k, v in groups.items()},
        logx=True,
        logy=True,
        xlabel=label,
        ylabel="errors, %",
        title=f"Errors against {label}",
    )
    join_and_bound(ax, lines, bars=column == 2)


# %% explore=true
def join_and_bound(ax, lines, *, bars: bool) -> None:
    """Join the files of a network; draw middle halves, and the front."""
    for files in lines.values():
        x, y, names = zip(*files, strict=True)
        ax.plot(x, y, color="#BBBBBB", lw=1, zorder=0)
        for height, name in zip(y, names, strict=True):
            ends = middle_half.get(name, ())
            if bars and ends:
                style = {"color": "#555555", "lw": 1, "ms": 5, "zorder": 1}
                ax.plot(ends, [height] * 2, "|-", **style)
    for text in ax.texts:
        text.set_bbox({"fc": "white", "ec": "none", "pad": 0.5})
    found = sorted(place[:2] for files in lines.values() for place in files)
    x, y = np.transpose(found)
    least = np.minimum.accumulate(y)
    style = {"color": "black", "lw": 0.9, "ls": ":", "zorder": 0}
    ax.step(x, least, where="post", label="front", **style)
    ax.set_ylim(1.6, 20)
    ax.set_yticks([2, 3, 5, 10, 20], [2, 3, 5, 10, 20])
    ax.tick_params(axis="y", which="minor", length=0, labelleft=False)
    ax.legend(frameon=False, fontsize=10, loc="upper right")


# %% explore=true
def beats(one, other) -> bool:
    """Say whether a row is as good in kilobytes and accuracy, not equal."""
    (size, found), (size_2, found_2) = (
        (round(row[1] / 1000), row[3]) for row in (one, other)
    )
    as_good = size <= size_2 and found >= found_2
    return as_good and (size, found) != (size_2, found_2)


draw_board(1, 1000, "kilobytes on disk")
print("Pareto-optimal in kilobytes and accuracy:")
drawn = [row for row in board if "int8 head" not in row[0]]
for row in drawn:
    if not any(beats(other, row) for other in drawn):
        print(f"  {row[0]:28}{row[1] / 1000:5.0f} kB{row[3]:8.2%}")

# %% explore=true
draw_board(2, 1, "milliseconds, 64 images, one core")

# %% [markdown]
# A grey line joins the float32 and the int8 file of a network.
# The dotted line is the front: nothing drawn lies below it.
# (Of the three rows that PyTorch runs the plots show the first.)
#
# Which part of the lab bought most? Follow the front from right to left:
# eight bits, fewer channels, a smaller network,
# and at each step the errors that it costs.
# A single image can lift a point onto the front:
# compare differences with one image's share.

# %% [markdown]
# Is int8 as many times faster as its file is smaller?
# The lines below the table answer for each runtime:
# if int8 takes the same share of float32's time as of its bytes, yes.
# On the two cores where this was written LiteRT's shares were equal (0.28),
# ONNX Runtime's nearly so (0.30 of the bytes, 0.39 of the time).
# But that is no law: the *kernel* is fast, not the format.
# The share of time is small where one instruction multiplies more bytes than floats (lab 03);
# on a chip without fast integer kernels it may be above 1.
#
# `PyTorch`, `torch.export` and `TorchAO` run the same convolutions:
# how far their times lie apart shows what a difference must exceed.

# %% [markdown]
# ### Other roads
#
# Browsers run such files by ONNX Runtime Web and LiteRT.js, phones by ExecuTorch, LiteRT and Core ML:
# a small core that runs graphs, and thin front ends in many languages, as MXNet had in 2016.
# MXNet's sparse data types are `torch.sparse` now.

# %% [markdown]
# ### With a GPU
#
# The next cell times convolutions with 512 input channels in float16.
# Look for widths that take longer than all 512.
#
# Work is dealt out in tiles of, say, 128 or 256 channels,
# and a width that fills only part of its last tile pays for all of it.
# That explains a width that takes as long as the next full one,
# never one that takes longer: there the library must have chosen
# another kernel (a profiler names it, as in lab 05).
# "Odd is slow" is no rule, either: in the recorded run 385 took less time than 448.

# %% explore=true
from labkit import recorded

if device() != "cuda":
    print("No CUDA device here: skipped timing convolutions of several widths.")
    print(recorded("09_small_models"))
else:
    half = {"device": "cuda", "dtype": torch.float16}
    features = torch.rand(256, 512, 14, 14, **half)
    widths = [512, 448, 385, 384, 320, 256, 128]
    ways = {
        str(k): lambda w=torch.rand(k, 512, 3, 3, **half): functional.conv2d(
            features, w, padding=1
        )
        for k in widths
    }
    print(compare(ways))

# %% [markdown]
# ## Your own point on the plot
#
# Make a file, for any runtime above, that nothing on your board beats
# in kilobytes *and* accuracy together, and that itself beats `ONNX, all labels, int8`:
# another width, fewer bits in training, pruning and then int8,
# a student with more steps, a better calibration.
# You may train on all images and labels of `x_train`, and ask the teacher.
# Below is a place to begin: a wider student of 360 labels, without a teacher,
# which the student on your board beats in both.
# Add yours with `note` or `note_onnx`, call `time_board()`, and draw both plots again.
# The test images `x_test` and `y_test` are untouched so far.

# %% explore=true
x_few, y_few = few_labels(1)
torch.manual_seed(1)
mine = fold(fit(Reader(8, 24), x_few, y_few, steps=300, lr=0.1, seed=1))
if not missing("onnx", "onnxscript", "onnxruntime"):
    note_onnx("mine, ", mine)
    (made,) = (row for row in board if row[0] == "ONNX, mine, int8")
    over = [row[0] for row in board if beats(row, made)]
    print("beaten by:", "; ".join(over) or "none")

# %% [markdown]
# ### Your point (2 points)
#
# 1. What did you make, and why did you expect it to be good?
#    One sentence for each step that you tried, those that failed as well.
# 2. Its bytes, accuracy and milliseconds, beside those of the nearest
#    other point. Which of the differences are larger than chance:
#    how did you find out?
# 3. On which images did you choose, and which number would you publish?
#
# About 150 words.

# %% [markdown] nbgrader={"grade_id": "your-point", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# A student of 8 and 16 channels has some ten times fewer weights than the reader,
# so even its float32 file is smaller than the reader's int8 one.
# On the board it saw all labels for 300 steps, each image once or twice. I trained it for 900,
# pruned its inner channels to 8, retrained 300, and let ONNX Runtime round it to int8.
# Without retraining, pruning lost most of the accuracy; int8 changed it little,
# and saved less than a factor of 4, because the graph around few weights stays.
#
# My file is five kilobytes smaller than the student's of all labels, and reads two points more
# (from a run of the whole experiment, measured on two cores).
# With 2880 images an accuracy near 95 % has a standard error of
# $\sqrt{0.95 \cdot 0.05 / 2880} = 0.4$ points, and two seeds differed by about as much,
# so the difference is real, while that between int8 and float32 is not.
# Times were taken in turns, as the board takes them.
#
# I chose on the validation images, so that accuracy is a little too good.
# I would publish the test accuracy, asked for once.
#
# **Rubric.**
#
# * 1 point: a file of one's own on the board, with its three numbers beside another point's,
#   and what was tried, in an order that one can follow (half a point if only the given cell was run).
# * 1 point: chance is estimated (seeds, or the binomial error) before a difference is claimed (half a point);
#   chosen on validation images, published from test images (half a point).
#
# It need not be Pareto-optimal: an honest account of what did not work earns full points.
# ### END SOLUTION

# %% [markdown]
# ### In your words (2 points)
#
# A colleague rounds a trained network of depthwise convolutions, whose batch
# normalisation is folded, to int8, one scale for each layer's weights,
# and loses nine points.
# They conclude that the network *needs* 16 bits,
# and that int8 would at least have made it four times as fast.
#
# 1. Name two likely causes of the loss, an experiment that tells them apart,
#    and the remedy for each.
# 2. What is wrong with *four times as fast*?
#
# About 150 words.

# %% [markdown] nbgrader={"grade_id": "int8-or-not", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# Folding multiplies each output channel by a factor of its own, so channels have different ranges,
# and one scale for the layer leaves few codes for the narrow ones: give each channel its own scale.
# Or the activations' ranges are bad: a few outliers stretch them, or the calibration images
# are not like those in use: clip at a percentile, calibrate on more and typical images.
# To tell them apart, round only the weights, then only the activations, and look layer by layer
# where the accuracy goes. If both are fine at 8 bits and something is still lost,
# a little training with fake quantisation recovers it. 16 bits are the last resort, not the first.
#
# Four is the ratio of the bytes. Time depends on the kernels: whether the chip has integer
# instructions, whether the runtime has kernels for these layers, how much time goes into
# quantising, dequantising and all that is not a convolution. It may be ten times as fast, or slower.
# Only a measurement on the device tells.
#
# **Rubric.**
#
# * 1 point: two causes (scale per layer after folding; ranges of activations, outliers, unlike calibration images;
#   layers that are more sensitive) with a remedy each (half a point), and an experiment that separates them (half a point).
# * 1 point: bytes are not time (half a point); a reason why (kernels, instructions, conversions,
#   overhead, what is bound by memory) and that one has to measure (half a point).
# ### END SOLUTION

# %% [markdown]
# ## Your result card
#
# How much better the student of 360 images became by its teacher.

# %% explore=true
gain = 100 * np.subtract(read["teacher"], read["labels"])
result_card(
    "a small network taught by a large one errs less (360 images, accuracy)",
    gain.mean(),
    unit="points",
    spread=gain.std(ddof=1),
    n=len(gain),
    source="D: a small model taught by a large one errs less",
    lab="09_small_models",
    note="with synthetic images "
    f"{100 * (means['teacher, synthetic'] - means['labels']):+.1f} points",
)

# %% [markdown]
# ## What you take along
#
# * Fold, calibrate, round: 8 bits cost nothing but care.
#   Below four, train with the rounding in place.
# * Integers are exact; only the last rounding differs between runtimes.
# * Channels that go make a network faster where single weights do not: less than the multiplications say.
# * A teacher's answers are richer than labels: worth most where labels are few.
# * Bytes, time and accuracy are three axes. Report all of them, and the device.
#
# The next lab uses many machines that need not talk to each other at all.
