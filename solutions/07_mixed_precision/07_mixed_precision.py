# %% [markdown]
# # 07. Mixed precision
#
# **Which numbers may be 16 bits wide?**
# A number of 16 bits takes half the memory of a float32, half the time to move,
# and on hardware made for it a fraction of the time to multiply.
# But three things get lost, without an error message: small gradients, small updates, and the end of long sums.
# Here you build a remedy for each, take each away again to see what it was for,
# and then use what PyTorch and Keras offer.

# %% [markdown]
# | | |
# |---|---|
# | Prerequisites | training loops in PyTorch and Keras (lab 02); lab 03 (number formats) helps |
# | Time | about 4 hours, in two sittings: the method (up to Experiment 2), then bytes, frameworks and eight bits |
# | Points | 20: 16 from checks, 2 from an open task, 2 from a written answer |
# | Hardware | two CPU cores; with a GPU, Task 6 trains on it, and one cell near the end times it |

# %% [markdown]
# ## How this notebook works
#
# Each task asks for one function or class: replace the lines that raise `NotImplementedError`, keep names and arguments.
# Then run the look cell and the check below it, and read the first case that fails.
# Hidden cases test what the text promises, with other numbers, when your work is graded. No check looks at a clock.
# Your functions change neither their arguments nor a result that they have returned before.
#
# Cells that begin with `# explore` are yours to change and are not run then:
# a helper or an import that a task needs belongs in the task's cell, and your own plots are read as saved.

# %% [markdown]
# ## Two ways to spend 16 bits
#
# ![Three bars of bits. float32: 1 sign, 8 exponent, 23 fraction bits. bfloat16: 1 sign, 8 exponent, 7 fraction bits. float16: 1 sign, 5 exponent, 10 fraction bits.](figures/formats.svg)
#
# | | float32 | bfloat16 | float16 |
# |---|---|---|---|
# | largest number | $3.4\cdot10^{38}$ | $3.4\cdot10^{38}$ | 65504 |
# | smallest above 0 | $2^{-149}$ | $2^{-133}$ | $2^{-24} \approx 6\cdot10^{-8}$ |
# | the number after 1 | $1 + 2^{-23}$ | $1 + 2^{-7}$ | $1 + 2^{-10}$ |
#
# bfloat16 (Kalamkar et al. 2019) keeps float32's range and gives up digits: about two and a half remain.
# float16 keeps more than three digits and gives up range.
# So the two fail in different ways, and they need different help.

# %% nbgrader={"grade_id": "setup", "locked": true}
import functools
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import torch
from torch import nn

from labkit import (
    check,
    compare,
    device,
    in_fresh_process,
    load,
    plot,
    result_card,
)

torch.set_num_threads(1)
digits = load("digits")
(x_train, y_train), (x_validation, y_validation), (x_test, y_test) = (
    (torch.tensor(split.x).reshape(-1, 64), torch.tensor(split.y))
    for split in (digits.train, digits.validation, digits.test)
)
pixels_train, pixels_validation = (
    (x_train * 255).round(),
    (x_validation * 255).round(),
)
print(digits)

# %% [markdown]
# ## A network with small gradients
#
# This lab's network is an autoencoder: it reads an image and draws it again.
# The loss is a cross-entropy, averaged over all pixels of a batch, as in networks that segment images.
# 64 images of 512 x 512 pixels are $2^{24}$ pixels, so no pixel pulls harder than $2^{-24}$.
# To keep the lab quick ours have 8 x 8 pixels; the loss divides by $2^{24}$ all the same,
# and the learning rate makes up for it. In exact arithmetic that changes nothing.
#
# `forward` normalises each image with `mean_and_variance`, which is Task 4
# (until then PyTorch's layer normalisation stands in),
# and multiplies as a Tensor Core does: operands of 16 bits, sums of 32, one rounding at the end.

# %% nbgrader={"grade_id": "autoencoder", "locked": true}
PIXELS = 64 * 512 * 512
RATE = (
    0.01 * PIXELS / (64 * 64)
)  # 0.01 for a mean over the pixels that there are


def new_weights(seed: int) -> list[torch.Tensor]:
    """Return float32 weights and biases of the layers 64-64-64, by a seed."""
    draw = torch.Generator().manual_seed(seed)
    return [
        value
        for _ in range(2)
        for value in (torch.randn(64, 64, generator=draw) / 8, torch.zeros(64))
    ]


def linear(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return x w + b: summed in float32, rounded once to x's dtype."""
    return (x.float() @ w.float() + b.float()).to(x.dtype)


def forward(weights, pixels: torch.Tensor, statistics=None) -> torch.Tensor:
    """Return logits, shape (n, 64), in the weights' dtype; pixels: 0 to 255."""
    w1, b1, w2, b2 = weights
    x = pixels.to(w1.dtype)
    if statistics is None:
        x = nn.functional.layer_norm(x.float(), (64,), eps=1.0)
    else:
        mean, variance = statistics(x)
        x = (x - mean) / (variance + 1.0).sqrt()
    x = x.to(w1.dtype)
    return linear(torch.tanh(linear(x, w1, b1)), w2, b2)


def loss_and_gradients(weights, pixels, scale: float = 1.0, statistics=None):
    """Return the loss, a number, and the gradients of scale * loss.

    Each gradient has its weight's dtype.
    """
    leaves = [w.detach().requires_grad_() for w in weights]
    logits = forward(leaves, pixels, statistics).float()
    loss = (
        nn.functional.binary_cross_entropy_with_logits(
            logits, pixels / 255, reduction="sum"
        )
        / PIXELS
    )
    return loss.item(), list(torch.autograd.grad(loss * scale, leaves))


# %% explore=true
w1, b1, w2, b2 = new_weights(0)
# What is added to one image's output has that output's gradient. So give
# each image a bias of its own, and read the biases' gradients.
per_image = [w1, b1.repeat(64, 1), w2, b2.repeat(64, 1)]
_, gradients = loss_and_gradients(per_image, pixels_train[:64])
kinds = {
    "of the weights": gradients[0::2],
    "of the layers' outputs": gradients[1::2],
}
powers, curves = list(range(-36, 16)), {}
for name, tensors in kinds.items():
    entries = torch.cat([t.flatten() for t in tensors]).abs()
    zero = (entries.half() == 0).float().mean()
    print(f"gradients {name}: {zero:.0%} are zero in float16")
    exponents = torch.log2(entries[entries > 0]).floor().int()
    curves[name] = (
        powers,
        [int((exponents == power).sum()) for power in powers],
    )
ax = plot.curves(
    curves,
    xlabel="power of two",
    ylabel="gradient entries",
    title="How large the gradients of the first step are, in float32",
)
ax.axvspan(-24, 16, color="0.92", zorder=0, label="float16's range")
ax.axvline(-24, color="black", label="its smallest number")
ax.axvline(-14, color="black", ls=":", label="smallest with all digits")
legend = ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))

# %% [markdown]
# On its way back the gradient passes through the layers' outputs first, and nearly all of these lie left of the first line:
# in float16 the printed share becomes zero (what lies within a factor of two of the line rounds up to it).
# The weights' gradients are sums of what is left.
# And gradients shrink while a network learns.
#
# To the right of the second line, thirty powers of two up to 65504 stand empty.
# Multiply the loss by $2^{20}$ and, by the chain rule, every gradient grows by $2^{20}$:
# the whole picture moves right, and its shape stays.
# That is *loss scaling* (Micikevicius et al. 2018; their detection network, a real one, diverged without it).

# %% [markdown]
# ### Task 1. What falls off the left edge (2 points)
#
# `underflow_fraction(gradients, scale)` takes a list of float32 tensors of any shapes.
# Of all their entries that are not zero,
# it returns the share that becomes zero when it is multiplied by `scale` and then rounded to float16.
#
# All tensors count together, large ones for more.
# Entries that were zero already have lost nothing and are left out; if all are zero the share is 0.0.
# Float16 rounds to the nearest number that it has: let `.half()` decide, not a threshold.
#
# For `[1e-8, 1e-7]` and `[[0.0, 0.5]]` with scale 1 the share is 1/3; with scale 1024 it is 0.
# Return a Python float, not a tensor, and leave the list as it is. About 5 lines.


# %% nbgrader={"grade_id": "underflow-fraction", "solution": true}
def underflow_fraction(
    gradients: list[torch.Tensor], scale: float = 1.0
) -> float:
    """Return the share of non-zero entries that are zero as float16."""
    ### BEGIN SOLUTION
    entries = torch.cat([g.flatten() for g in gradients])
    entries = entries[entries != 0]
    if len(entries) == 0:
        return 0.0
    return ((entries * scale).half() == 0).float().mean().item()
    ### END SOLUTION


# %% explore=true
def overflow_fraction(gradients, scale):
    """Return the share of entries that scale makes infinite in float16."""
    infinite = sum(int((scale * g).half().isinf().sum()) for g in gradients)
    return infinite / sum(g.numel() for g in gradients)


powers = list(range(0, 56, 2))
plot.curves(
    {
        "lost at the left edge, yours": (
            powers,
            [underflow_fraction(gradients, 2.0**p) for p in powers],
        ),
        "infinite at the right edge": (
            powers,
            [overflow_fraction(gradients, 2.0**p) for p in powers],
        ),
    },
    xlabel="loss scale, as a power of two",
    ylabel="share of the gradient's entries",
    title="Too small a scale loses gradients, too large overflows",
)

# %% [markdown]
# Between the two slopes lies a wide valley in which nothing is lost.
# Any scale well inside it is as good as any other; powers of two change no digit.
# Its edges move while the network learns and its gradients shrink.
# Nobody wants to search for them by hand, which leads to the next task.

# %% nbgrader={"grade_id": "underflow-fraction-check", "grade": true, "points": 2}
import torch

from labkit import check

pair = [torch.tensor([1e-8, 1e-7]), torch.tensor([[0.0, 0.5]])]
with check.case(
    "the worked example",
    hint=(
        "which entries count, and which of those are zero after scaling"
        " and rounding?"
    ),
    more="scale 1: of 1e-8, 1e-7 and 0.5 only the first is lost",
):
    check.close(underflow_fraction(pair, 1.0), 1 / 3, name="share with scale 1")
    check.close(
        underflow_fraction(pair, 1024.0), 0.0, name="share with scale 1024"
    )
with check.case(
    "entries that were zero are left out",
    hint=(
        "a share of which entries? is it divided by the number of "
        "those, whatever the sizes?"
    ),
):
    for entries, share in (([1e-9, 1.0], 0.5), ([1e-9, 1.0, 2.0, 3.0], 0.25)):
        sparse = [torch.tensor([0.0, 0.0, 0.0, *entries])]
        check.close(underflow_fraction(sparse, 1.0), share, name="share")
with check.case(
    "negative entries count too",
    hint=(
        "are negative entries non-zero, too, and which of them round to zero?"
    ),
):
    mixed_signs = [torch.tensor([-1e-9, -1.0, 1.0, -2.0])]
    check.close(underflow_fraction(mixed_signs, 1.0), 0.25, name="share")
with check.case(
    "multiply first, round afterwards",
    hint=(
        "in which order are scaling and rounding done, and is the scale"
        " used at all?"
    ),
    essential=True,
):
    small = [torch.tensor([2e-8, 8e-9])]
    check.close(underflow_fraction(small, 1.0), 1.0, name="share at 1")
    check.close(underflow_fraction(small, 16.0), 0.0, name="share at 16")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "all tensors count together, entry by entry",
    hint=(
        "a large and a small tensor: does every entry of each weigh the"
        " same, the last one too?"
    ),
    weight=2,
):
    unequal = [torch.full((3, 5), 1.0), torch.full((1,), 1e-9)]
    check.close(underflow_fraction(unequal, 1.0), 1 / 16, name="share")
with check.hidden_case(
    "nothing to lose: the share is 0",
    hint=(
        "no entry is left to divide by: what does the text promise, and"
        " as which type?"
    ),
    guard=True,
):
    check.close(
        underflow_fraction([torch.zeros(4), torch.zeros(2, 2)], 8.0),
        0.0,
        name="share",
    )
# Half of 2**-24 is a tie and goes to the even neighbour, 0; more rounds up.
with check.hidden_case(
    "rounded to the nearest, small numbers included",
    hint=(
        "entries near float16's smallest number: who decides what is "
        "zero, and is the share itself unrounded?"
    ),
):
    edge = [torch.tensor([2.0**-25, 4e-8, 2.0**-24, 2.0**-20, 1e-5, 2.5e-8])]
    check.close(underflow_fraction(edge, 1.0), 2 / 6, name="share")
with check.hidden_case(
    "too large is not lost at this edge",
    hint=(
        "some entries become infinite: are those zero? do the zeros "
        "count, and all entries, in each share?"
    ),
):
    large = [torch.tensor([1.0, 1e-9, 1e4])]
    check.close(underflow_fraction(large, 1024.0), 0.0, name="share at 1024")
    check.close(underflow_fraction(large, 8.0), 1 / 3, name="share at 8")
# 2e-8 is lost and 4e-8 is not; twice as large neither, half as large both.
with check.hidden_case(
    "without a scale the entries count as they are; the share is a float",
    hint=(
        "no scale is given: what does the stub say? a Python float, and"
        " the list as it was?"
    ),
    weight=0.5,
):
    given = [torch.tensor([2e-8, 4e-8, 4e-8, 4e-8])]
    with check.unchanged(gradients=given):
        share = underflow_fraction(given)
    check.close(share, 0.25, name="share")
    check.true(isinstance(share, float), "a float")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 2. A scale that finds itself (3 points)
#
# The rule is trial and error.
# Multiply the loss by $S$; if any gradient came out infinite or not a number, skip this step and halve $S$;
# after a number of good steps in a row, double it.

# %% [markdown]
# `unscale(gradients)` takes 16-bit tensors and returns the pair `(gradients, found_inf)`:
# new float32 tensors, divided by the scale, and the bool whether any entry was infinite or nan (the tensors come back then, too).
# Divide in float32: in float16 the division would lose what the scale has saved. About 3 lines.
#
# `update(found_inf)` changes `self.scale` and `self.good_steps`.
#
# * found: halve the scale, or set it to `lowest` if half of it would be less; the count of good steps starts again at 0.
# * not found: one good step more; as soon as there are `growth_interval` of them,
#   double the scale, or set it to `highest` if twice would be more, and count from 0 either way.
#
# With scale 8 and growth interval 2: found gives 4; then two good steps give 8. About 8 lines.


# %% nbgrader={"grade_id": "loss-scaler", "solution": true}
class DynamicLossScaler:
    """A loss scale that halves on overflow and doubles after good steps."""

    def __init__(
        self,
        scale: float = 2.0**16,
        growth_interval: int = 50,
        lowest: float = 1.0,
        highest: float = 2.0**40,
    ) -> None:
        self.scale, self.growth_interval = scale, growth_interval
        self.lowest, self.highest = lowest, highest
        self.good_steps = 0

    def unscale(
        self, gradients: list[torch.Tensor]
    ) -> tuple[list[torch.Tensor], bool]:
        """Return float32 gradients / scale, and whether one is inf or nan."""
        ### BEGIN SOLUTION
        unscaled = [g.float() / self.scale for g in gradients]
        found_inf = not all(bool(g.isfinite().all()) for g in gradients)
        return unscaled, found_inf
        ### END SOLUTION

    def update(self, found_inf: bool) -> None:
        """Adjust the scale after a step."""
        ### BEGIN SOLUTION
        if found_inf:
            self.scale = max(self.scale / 2, self.lowest)
            self.good_steps = 0
            return
        self.good_steps += 1
        if self.good_steps == self.growth_interval:
            self.scale = min(self.scale * 2, self.highest)
            self.good_steps = 0
        ### END SOLUTION


# %% explore=true
def scales_with(limit_of_step, steps=900, **options):
    """Return the scale at each step if gradients overflow above a limit."""
    scaler, seen = DynamicLossScaler(**options), []
    for step in range(steps):
        seen.append(scaler.scale)
        scaler.update(scaler.scale > limit_of_step(step))
    return seen


def limit(step):
    # From step 300 on the gradients are 256 times smaller.
    return 2.0**14 if step < 300 else 2.0**22


axes = plot.panels(2, stacked=True)
for ax, n in zip(axes, (20, 50), strict=True):
    seen = torch.tensor(scales_with(limit, growth_interval=n))
    first = n == 20
    plot.curves(
        seen.log2(),
        xlabel="" if first else "step",
        ylabel="scale, power of 2",
        title=f"Your scaler, growth interval {n}"
        + (": overflow above 2^14, later above 2^22 (dotted)" if first else ""),
        ax=ax,
    )
    ax.plot([0, 300, 300, 900], [14, 14, 22, 22], ":", color="grey")

# %% [markdown]
# Two steps down to the limit, then a saw:
# every `growth_interval` steps the scaler tries twice the scale, overflows, loses one step and goes back.
# When the gradients shrink it climbs after them.
# A short interval follows faster and skips more steps. PyTorch's default is 2000.

# %% nbgrader={"grade_id": "loss-scaler-check", "grade": true, "points": 3}
import torch

from labkit import check

with check.case(
    "the worked example",
    hint=(
        "found: what happens to scale and count? not found: what counts"
        " up, by how much, and until when?"
    ),
    more="8, found: 4. One good step: 4. The second: 8",
):
    scaler, seen = DynamicLossScaler(scale=8.0, growth_interval=2), []
    for found in (True, False, False):
        scaler.update(found)
        seen.append(scaler.scale)
    check.close(seen, [4.0, 4.0, 8.0], name="scale after each of three steps")
with check.case(
    "an overflow starts the count again",
    hint=(
        "which of the two cases touches the count? must good steps come"
        " in a row?"
    ),
):
    scaler, seen = DynamicLossScaler(scale=64.0, growth_interval=3), []
    for found in (False, False, True, False, False, False):
        scaler.update(found)
        seen.append(scaler.scale)
    check.close(
        seen,
        [64.0, 64.0, 32.0, 32.0, 32.0, 64.0],
        name="scale after each of six steps",
    )
with check.case(
    "unscale divides by the scale, in float32",
    hint=(
        "as many tensors as came, each divided, by which number and in "
        "which dtype? the last one is tiny"
    ),
    essential=True,
    weight=2,
):
    scaler = DynamicLossScaler(scale=1024.0)
    tensors = [
        torch.tensor([2.0, -4.0]).half(),
        torch.tensor([[2.0**-20]]).half(),
    ]
    unscaled, found = scaler.unscale(tensors)
    check.close(
        unscaled[0],
        [2.0**-9, -(2.0**-8)],
        dtype="float32",
        name="first gradient",
    )
    check.close(
        unscaled[1],
        [[2.0**-30]],
        atol=0,
        dtype="float32",
        name="second gradient",
    )
    check.true(not found, "found_inf to be False")
with check.case(
    "infinity is found in any of the tensors",
    hint=(
        "is every entry of every tensor looked at, before or after the "
        "division?"
    ),
    essential=True,
):
    scaler = DynamicLossScaler(scale=4.0)
    tensors = [
        torch.ones(3).half(),
        torch.tensor([1.0, float("inf")]).half(),
        torch.ones(2).half(),
    ]
    check.true(scaler.unscale(tensors)[1], "found_inf to be True")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "many finite entries are not infinite",
    hint=(
        "a long tensor of finite numbers: is it asked entry by entry, "
        "or of a sum? is each entry divided once?"
    ),
):
    unscaled, found = DynamicLossScaler(scale=2.0).unscale(
        [torch.full((1000,), 100.0).half()]
    )
    check.equal(
        bool(found), False, name="found_inf of a thousand entries of 100"
    )
    check.close(unscaled[0][:2], [50.0, 50.0], name="gradient")
with check.hidden_case(
    "nan and minus infinity are found as well",
    hint=(
        "nan or minus infinity in one tensor: is each found, and do all"
        " tensors come back divided?"
    ),
):
    for bad in (float("nan"), float("-inf")):
        scaler = DynamicLossScaler(scale=32.0)
        tensors = [torch.ones(2).half(), torch.tensor([[bad, 0.0]]).half()]
        result, found = scaler.unscale(tensors)
        check.true(found, f"found_inf to be True for {bad}")
        check.close(
            result[0],
            [2.0**-5, 2.0**-5],
            dtype="float32",
            name=f"gradient beside one with {bad}",
        )
with check.hidden_case(
    "growth starts the count again",
    hint=(
        "many good steps: what becomes of scale and count at the "
        "interval, and what after it?"
    ),
):
    scaler, seen = DynamicLossScaler(scale=1.0, growth_interval=3), []
    for _ in range(9):
        scaler.update(False)
        seen.append(scaler.scale)
    check.close(
        seen,
        [1, 1, 2, 2, 2, 4, 4, 4, 8],
        name="scale after each of nine good steps",
    )
with check.hidden_case(
    "the scale stays between lowest and highest",
    hint=(
        "odd and small scales, bounds of any size: is a half exact, "
        "when does a bound apply, and the count?"
    ),
):
    low = DynamicLossScaler(scale=4.0, lowest=3.0)
    low.update(True)
    check.close(low.scale, 3.0, name="scale after an overflow")
    odd = DynamicLossScaler(scale=3.0, lowest=0.25)
    odd.update(True)
    check.close(odd.scale, 1.5, name="half of 3")
    high = DynamicLossScaler(scale=4.0, growth_interval=1, highest=12.0)
    for _ in range(3):
        high.update(False)
    check.close(high.scale, 12.0, name="scale after three good steps")
    check.equal(int(high.good_steps), 0, name="good_steps at the highest scale")
with check.hidden_case(
    "unscale leaves its input and the scale as they were",
    hint=(
        "what does unscale write to: its tensors, or self.scale? which "
        "method may change the scale?"
    ),
    guard=True,
):
    scaler, tensors = (
        DynamicLossScaler(scale=2.0),
        [torch.tensor([3.0, float("inf")])],
    )
    with check.unchanged(gradients=tensors):
        scaler.unscale(tensors)
    check.close(scaler.scale, 2.0, name="scale")
with check.hidden_case(
    "bfloat16 gradients are treated alike",
    hint=(
        "bfloat16, a scale below 1, a number beyond float16's largest: "
        "which dtypes, and divided or multiplied?"
    ),
):
    wide = torch.tensor(
        [1.5, -3.0, 2.0**20]
    ).bfloat16()  # beyond float16's largest number
    unscaled, found = DynamicLossScaler(scale=0.5).unscale([wide])
    check.close(
        unscaled[0], [3.0, -6.0, 2.0**21], dtype="float32", name="gradient"
    )
    check.equal(
        bool(found), False, name="found_inf of a gradient that bfloat16 holds"
    )
with check.hidden_case(
    "an earlier result stays as it was",
    hint="two calls in a row: does each make tensors of its own?",
    weight=0.5,
):
    scaler = DynamicLossScaler(4.0)
    before = scaler.unscale([torch.tensor([8.0, 2.0]).half()])[0]
    after = scaler.unscale([torch.tensor([1.0, 1.0]).half()])[0]
    check.separate(after, before)
    check.close(before[0], [2.0, 0.5], name="gradient of the first call")
with check.hidden_case(
    "infinity is found in the first tensor, and in the last",
    hint=(
        "one scaler, three calls: is found_inf about this call's "
        "tensors alone, the first and the last?"
    ),
):
    scaler = DynamicLossScaler(scale=4.0)  # one for all steps, as in training
    for bad in (0, None, 2):
        tensors = [
            torch.full((2,), float("inf") if i == bad else 1.0).half()
            for i in range(3)
        ]
        found = scaler.unscale(tensors)[1]
        check.equal(
            bool(found),
            bad is not None,
            name=f"found_inf, infinite is tensor {bad}",
        )
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Task 3. Master weights (3 points)
#
# Near 1 float16 has a number every $2^{-10}$ above and every $2^{-11}$ below.
# An update of $10^{-4}$ is less than half of either and rounds away: $1 - 10^{-4} = 1$.
# So the optimiser keeps its own weights in float32, the *master weights*, and updates those.
# The model gets a rounded copy after each step.

# %% [markdown]
# `MasterWeightSGD(weights, lr, momentum, dtype)` keeps in `self.master` float32 copies of the weights,
# and in `self.velocity` a float32 tensor of zeros for each. About 2 lines.
#
# `step(gradients)` takes unscaled gradients and, in float32, computes for each weight
# $v \leftarrow \mu v + g$ and $w \leftarrow w - \eta v$ with the rate that `self.lr` has when `step` is called.
# It returns the list of new weights, rounded to `self.dtype` (ties to the even code, as torch rounds).
# They have no part in any graph, even if parameters are handed in, and they stay as they were when the next step is made.
# Neither the weights handed in nor the gradients are changed. About 4 lines.
#
# From $w = 1$, $g = 2^{-12}$, $\eta = 1$ and no momentum, two steps in float16 return 1 and then 0.9995.

# %% [markdown]
# ![One training step. The float32 master weights are rounded to 16-bit weights; forward, loss and backward run on 16-bit weights, activations and gradients; the loss itself is float32 and multiplied by the scale; gradients become float32, are divided by the scale, checked, and update the master weights.](figures/step.svg)


# %% nbgrader={"grade_id": "master-weights", "solution": true}
class MasterWeightSGD:
    """SGD with momentum on float32 weights; the model gets narrow copies."""

    def __init__(
        self,
        weights: list[torch.Tensor],
        lr: float,
        momentum: float = 0.9,
        dtype=torch.float16,
    ) -> None:
        self.lr, self.momentum, self.dtype = lr, momentum, dtype
        ### BEGIN SOLUTION
        self.master = [w.detach().clone().float() for w in weights]
        self.velocity = [torch.zeros_like(w) for w in self.master]
        ### END SOLUTION

    def step(self, gradients: list[torch.Tensor]) -> list[torch.Tensor]:
        """Update the master weights; return copies of them in self.dtype."""
        ### BEGIN SOLUTION
        for i, g in enumerate(gradients):
            self.velocity[i] = self.momentum * self.velocity[i] + g.float()
            self.master[i] = self.master[i] - self.lr * self.velocity[i]
        return [w.to(self.dtype) for w in self.master]
        ### END SOLUTION


# %% explore=true
def many_small_steps(dtype, steps=4000):
    """Subtract 1e-4 from 1 again and again, rounding to dtype each time."""
    weight, seen = torch.ones((), dtype=dtype), []
    for _ in range(steps):
        weight = weight - torch.tensor(1e-4, dtype=dtype)
        seen.append(float(weight))
    return seen


mastered = MasterWeightSGD([torch.ones(1)], lr=1e-4, momentum=0.0)
curves = {
    "float32": many_small_steps(torch.float32),
    "your float16 copy": [
        float(mastered.step([torch.ones(1)])[0]) for _ in range(4000)
    ],
    "float16 alone": many_small_steps(torch.float16),
    "bfloat16 alone": many_small_steps(torch.bfloat16),
}

# %% explore=true
whole, beginning = plot.panels(2)
plot.curves(
    curves,
    xlabel="update",
    ylabel="weight",
    title="Updates of 1e-4, from 1 on",
    ax=whole,
)
whole.get_legend().remove()
whole.text(3900, 0.98, "float16, bfloat16 alone", ha="right", va="top")
whole.text(100, 0.62, "float32,\nyour copy")
plot.curves(
    {name: values[:24] for name, values in curves.items()},
    xlabel="update",
    ylabel="weight",
    title="The first 24",
    ax=beginning,
)
_ = beginning.legend(loc="lower left", fontsize=8)

# %% [markdown]
# Float16 alone stays at 1 forever, and so does bfloat16, whose numbers lie eight times further apart.
# Your copy comes down like float32: the small updates gather in the master weight until the copy moves.
# No single update was too small for float16.
# It is too small *beside 1*: what counts is the ratio of update to weight, about $2^{-12}$ for float16.

# %% nbgrader={"grade_id": "master-weights-check", "grade": true, "points": 3}
import torch

from labkit import check

with check.case(
    "the worked example",
    hint=(
        "which way does w go, and how far? are the small steps added in"
        " float32 and rounded only on return?"
    ),
    more="update the float32 weights, and return rounded copies of them",
):
    optimizer = MasterWeightSGD([torch.ones(1)], lr=1.0, momentum=0.0)
    first = optimizer.step([torch.full((1,), 2.0**-12)])
    check.close(
        first[0],
        [1.0],
        rtol=0,
        dtype="float16",
        name="copy after the first step",
    )
    second = optimizer.step([torch.full((1,), 2.0**-12)])
    check.close(
        second[0],
        [1 - 2.0**-11],
        rtol=0,
        dtype="float16",
        name="copy after the second",
    )
with check.case(
    "the master weights keep what the copy cannot show",
    hint=(
        "what is carried from step to step, the float32 weights or "
        "their rounded copies? which sign and rate?"
    ),
    more="what is returned is a rounded copy, and nothing else",
    weight=2,
    essential=True,
):
    optimizer = MasterWeightSGD([torch.ones(2, 2)], lr=0.5, momentum=0.0)
    for _ in range(64):
        optimizer.step([torch.full((2, 2), 2.0**-14)])
    # Powers of two: float32 makes no rounding error here.
    check.close(
        optimizer.master[0],
        [[1 - 2.0**-9] * 2] * 2,
        rtol=0,
        dtype="float32",
        name="master weights",
    )
with check.case(
    "they start as the float32 weights themselves",
    hint=("are all weights copied, signs and digits as they came, in float32?"),
):
    start = torch.tensor([0.1, 1 / 3, -2.7])
    optimizer = MasterWeightSGD([start], lr=0.1)
    check.close(
        optimizer.master[0],
        [0.1, 1 / 3, -2.7],
        rtol=1e-6,
        dtype="float32",
        name="master weights",
    )
with check.case(
    "momentum remembers the steps before",
    hint=(
        "what of the old velocity enters the new one, and which sign "
        "has the step? see the two formulas"
    ),
):
    optimizer = MasterWeightSGD([torch.zeros(1)], lr=0.5, momentum=0.5)
    moved = [float(optimizer.step([torch.ones(1)])[0]) for _ in range(3)]
    check.close(
        moved, [-0.5, -1.25, -2.125], name="weight after each of three steps"
    )
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "the velocity is float32 as well",
    hint=(
        "tiny gradients, a large rate: in which dtype are v and w, and "
        "is every entry computed by the formulas?"
    ),
):
    optimizer = MasterWeightSGD([torch.zeros(3)], lr=2.0**20, momentum=0.5)
    for _ in range(3):
        optimizer.step([torch.tensor([2.0**-30, 2.0**-28, 2.0**-40])])
    check.close(
        optimizer.velocity[0],
        [1.75 * 2.0**-30, 1.75 * 2.0**-28, 1.75 * 2.0**-40],
        atol=0,
        dtype="float32",
        name="velocity",
    )
    # 1 + 1.5 + 1.75 = 4.25 times the first step
    check.close(
        optimizer.master[0],
        [-4.25 * 2.0**p for p in (-10, -8, -20)],
        atol=0,
        name="weight",
    )
with check.hidden_case(
    "the weights handed in stay as they were",
    hint=(
        "two steps on given tensors: which operation writes in place, "
        "and is the master a copy of its own?"
    ),
    guard=True,
):
    given, push = (
        [torch.tensor([1.0, 2.0]), torch.tensor([[3.0]])],
        [torch.ones(2), torch.ones(1, 1)],
    )
    with check.unchanged(weights=given, gradients=push):
        optimizer = MasterWeightSGD(given, lr=0.25, momentum=0.9)
        optimizer.step(push)
        optimizer.step(push)
with check.hidden_case(
    "the rate is the one of the moment",
    hint=(
        "lr is changed between two steps: when is it read, and in which"
        " of the two formulas does it stand?"
    ),
):
    optimizer = MasterWeightSGD([torch.zeros(1)], lr=1.0, momentum=0.5)
    optimizer.step([torch.ones(1)])
    optimizer.lr = 0.25
    optimizer.step([torch.ones(1)])
    check.close(
        optimizer.master[0],
        [-1 - 0.25 * 1.5],
        name="weight after the rate has changed",
    )
with check.hidden_case(
    "copies in the dtype that was asked for",
    hint=(
        "another dtype is asked for: which dtype is returned, and what "
        "is rounded, and when?"
    ),
):
    optimizer = MasterWeightSGD(
        [torch.ones(1)], lr=1.0, momentum=0.0, dtype=torch.bfloat16
    )
    moved = [optimizer.step([torch.full((1,), 2.0**-9)])[0] for _ in range(2)]
    check.close(
        moved[0], [1.0], rtol=0, dtype="bfloat16", name="first copy"
    )  # a tie, to the even 1
    check.close(
        moved[1], [1 - 2.0**-8], rtol=0, dtype="bfloat16", name="second copy"
    )
with check.hidden_case(
    "what a step has returned stays as it was, in float32 too",
    hint=(
        "two float32 steps: is what was returned the master itself, and"
        " what changes it afterwards?"
    ),
    weight=0.5,
):
    optimizer = MasterWeightSGD(
        [torch.ones(2)], lr=0.5, momentum=0.0, dtype=torch.float32
    )
    first = optimizer.step([torch.ones(2)])[0]
    optimizer.step([torch.ones(2)])
    check.close(first, [0.5, 0.5], dtype="float32", name="first result")
with check.hidden_case(
    "every weight has a velocity of its own",
    hint=(
        "two weights of other shapes and gradients: does each have its "
        "v, its g, and all its entries?"
    ),
):
    optimizer = MasterWeightSGD(
        [torch.zeros(2, 3), torch.zeros(3)], lr=1.0, momentum=0.5
    )
    for _ in range(2):
        moved = optimizer.step([torch.ones(2, 3), torch.full((3,), 2.0)])
    check.close(moved[0], [[-2.5] * 3] * 2, name="first weight")
    check.close(moved[1], [-5.0] * 3, name="second weight")
with check.hidden_case(
    "16-bit weights have float32 masters, and two optimisers nothing in common",
    hint=(
        "float16 weights, two objects: which dtype have copies and "
        "zeros, and what do the objects share?"
    ),
):
    halves = MasterWeightSGD([torch.tensor([1.0, -2.0]).half()], lr=0.5)
    other = MasterWeightSGD([torch.tensor([[4.0]])], lr=0.5)
    check.close(
        halves.velocity[0],
        [0.0, 0.0],
        dtype="float32",
        name="velocity at first",
    )
    check.close(
        halves.master[0],
        [1.0, -2.0],
        dtype="float32",
        name="master weights at first",
    )
    moved = [halves.step([torch.tensor([-1.0, 2.0]).half()]) for _ in range(2)]
    check.separate(*moved, name="the second step's list")
    check.close(
        halves.master[0],
        [2.45, -4.9],
        name="weights after two steps, momentum 0.9",
    )
    check.close(other.master[0], [[4.0]], name="weights of the other optimiser")
with check.hidden_case(
    "a network's parameters are weights, too",
    hint=(
        "parameters that need a gradient: is what a step returns in a "
        "graph? which values, and which dtype?"
    ),
    weight=0.5,
):
    optimizer = MasterWeightSGD([torch.nn.Parameter(torch.ones(2))], lr=0.5)
    moved = optimizer.step([torch.ones(2)])[0]
    check.close(moved, [0.5, 0.5], dtype="float16", name="copy")
    check.equal(bool(moved.requires_grad), False, name="requires_grad")
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Task 4. Sums stay wide (2 points)
#
# Two things go wrong in a long sum of 16-bit numbers.
# A partial sum beyond 65504 is infinite; and one that has grown large no longer notices a small addend,
# as the weights of Task 3 did not.
# So whatever adds up many numbers does it in float32 (or in more).

# %% [markdown]
# Normalisation is the usual victim.
# `mean_and_variance(x)` takes `x` of shape `(n, k)`, in 16 bits or 32,
# and returns the mean and the variance of each *row*, both float32 and of shape `(n, 1)`.
# The variance is the mean of $(x - \text{mean})^2$, divided by $k$ and not by $k - 1$.
# The equivalent $\overline{x^2} - \overline{x}^2$ subtracts two large numbers: do not use it.
#
# For the float16 row `[300, 302]` mean and variance are 301 and 1. About 4 lines.


# %% nbgrader={"grade_id": "mean-and-variance", "solution": true}
def mean_and_variance(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and variance of each row, float32 of shape (n, 1)."""
    ### BEGIN SOLUTION
    wide = x.float()
    mean = wide.mean(dim=1, keepdim=True)
    variance = ((wide - mean) ** 2).mean(dim=1, keepdim=True)
    return mean, variance
    ### END SOLUTION


# %% explore=true
def running_sum(dtype, n=4000):
    """Add n ones, rounding each partial sum to dtype."""
    total, seen = torch.zeros((), dtype=dtype), []
    for _ in range(n):
        total = total + 1
        seen.append(float(total))
    return seen


def narrow_statistics(x):
    """What goes wrong: sums and squares kept in x's own dtype."""
    mean = x.sum(dim=1, keepdim=True) / x.shape[1]
    return mean, ((x - mean) ** 2).sum(dim=1, keepdim=True) / x.shape[1]


# %% explore=true
names = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}
plot.curves(
    {name: running_sum(dtype) for name, dtype in names.items()},
    xlabel="ones added",
    ylabel="sum",
    title="Where a sum of ones stops growing",
)
image = pixels_train[:1].half()
for name, function in {
    "in float16": narrow_statistics,
    "yours": mean_and_variance,
}.items():
    mean, variance = (float(value) for value in function(image))
    print(f"first image, {name:10}: mean {mean:.1f}, variance {variance:.1f}")

# %% [markdown]
# Float16 stops at 2048, where its numbers lie 2 apart, and bfloat16 at 256.
# The variance of the image is some 10,000, well within float16's range;
# the sum on the way to it is not, and $(x - \text{mean})/\sqrt{\infty}$ is zero for every pixel of every image.

# %% nbgrader={"grade_id": "mean-and-variance-check", "grade": true, "points": 2}
import torch

from labkit import check

with check.case(
    "the worked example",
    hint=(
        "the mean along which axis, and of what? the variance: a mean "
        "of which squares, in which dtype?"
    ),
):
    mean, variance = mean_and_variance(torch.tensor([[300.0, 302.0]]).half())
    check.close(mean, [[301.0]], dtype="float32", name="mean")
    check.close(variance, [[1.0]], dtype="float32", name="variance")
with check.case(
    "one value a row, shape (n, 1)",
    hint=(
        "of rows or of columns? which axis stays, and what divides the "
        "sum of squares?"
    ),
):
    mean, variance = mean_and_variance(
        torch.tensor([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]])
    )
    check.close(mean, [[3.0], [1.0]], name="mean")
    check.close(variance, [[14 / 3], [2.0]], name="variance, divided by k")
with check.case(
    "a sum beyond 65504 is no problem",
    hint=(
        "which number on the way is larger than float16 can hold? from "
        "where on is it float32?"
    ),
    more="float32 from the first operation on, not only at the end",
    essential=True,
):
    steep = torch.tensor([[0.0, 255.0] * 32]).half()
    mean, variance = mean_and_variance(steep)
    check.close(mean, [[127.5]], name="mean")
    check.close(variance, [[127.5**2]], name="variance")
### BEGIN HIDDEN TESTS
# In float32 both come out to six digits; a difference of squares does not.
with check.hidden_case(
    "a small variance beside a large mean",
    hint=(
        "large means: do you subtract or square first? does every entry"
        " count, in all rows?"
    ),
    weight=2,
):
    offset = torch.tensor([[2000.0, 2001.0] * 500, [4000.0, 4002.0] * 500])
    mean, variance = mean_and_variance(offset)
    check.close(variance, [[0.25], [1.0]], rtol=1e-4, name="variance")
with check.hidden_case(
    "long rows of bfloat16 are summed in float32",
    hint=(
        "long rows of bfloat16: in which dtype is the sum, and does "
        "every entry count?"
    ),
):
    ones = torch.ones(2, 3000).bfloat16()
    ones[1, ::2] = 2.0
    mean, variance = mean_and_variance(ones)
    check.close(mean, [[1.0], [1.5]], dtype="float32", name="mean")
    check.close(
        variance, [[0.0], [0.25]], atol=1e-6, dtype="float32", name="variance"
    )
with check.hidden_case(
    "numbers whose squares overflow",
    hint=(
        "large entries of both signs: in which dtype is the difference "
        "when it is squared?"
    ),
):
    far = torch.tensor([[1000.0, -1000.0, 2000.0, -2000.0]]).half()
    mean, variance = mean_and_variance(far)
    check.close(variance, [[2.5e6]], name="variance")
with check.hidden_case(
    "a mean that 16 bits cannot hold",
    hint=(
        "is the mean rounded before it is subtracted, or when it is returned?"
    ),
):
    rows = torch.tensor([[2048.0, 2050.0], [4096.0, 4100.0]]).half()
    mean, variance = mean_and_variance(rows)
    check.close(mean, [[2049.0], [4098.0]], rtol=1e-6, name="mean")
    check.close(variance, [[1.0], [4.0]], name="variance")
with check.hidden_case(
    "rows of one number",
    hint=(
        "one number a row: which axis is averaged, what is divided by, "
        "and is the sign of the mean kept?"
    ),
    weight=0.5,
):
    mean, variance = mean_and_variance(torch.tensor([[3.0], [-7.0]]).half())
    check.close(mean, [[3.0], [-7.0]], name="mean")
    check.close(variance, [[0.0], [0.0]], name="variance")
with check.hidden_case(
    "float32 rows keep their digits",
    hint=(
        "fractions and negative entries: is anything rounded on the way"
        " in or out, or a sign lost?"
    ),
):
    rows = torch.tensor([[0.1, 0.7, -1.3], [-0.01, 0.02, 0.0301]])
    mean, variance = mean_and_variance(rows)
    check.close(mean, [[-1 / 6], [0.0401 / 3]], dtype="float32", name="mean")
    check.close(
        variance,
        [[0.7022222], [0.00029002]],
        rtol=1e-4,
        dtype="float32",
        name="variance",
    )
with check.hidden_case(
    "x stays as it was",
    hint="does any operation write into x, in place or through a view?",
    guard=True,
):
    rows = torch.arange(12.0).reshape(3, 4)
    with check.unchanged(x=rows):
        mean_and_variance(rows)
with check.hidden_case(
    "two results have no memory in common",
    hint=(
        "two calls of one shape: does each compute its own result, in "
        "arrays of its own?"
    ),
    weight=0.5,
):
    first = mean_and_variance(torch.tensor([[1.0, 3.0], [5.0, 5.0]]))
    mean_and_variance(torch.tensor([[7.0, 7.0], [1.0, 9.0]]))
    check.close(first[0], [[2.0], [5.0]], name="mean of the first call")
    check.close(first[1], [[1.0], [0.0]], name="variance of the first call")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## All of it together, and each part taken away
#
# `train` puts your parts together as the drawing of Task 3 shows.
# Its options take parts away:
#
# * `scaler=None`: the loss is not scaled.
# * `optimizer=NoMaster`: after each step the weights are rounded to 16 bits, and only that is kept.
# * `skip=False`: infinite gradients are used like any others.
# * `statistics=...`: another function in the place of `mean_and_variance`.
#
# It counts the share of *updates lost* (a weight that should have moved and did not),
# the share of *gradients lost* (zero here, not zero in float32), and the steps skipped.
# The *score* is the share of the validation images' variance that the drawings explain:
# 1 is a perfect copy, 0 is no better than the same grey average for every image.


# %% folded=true nbgrader={"grade_id": "train", "locked": true}
class NoMaster(MasterWeightSGD):
    """The same optimiser, but what a step leaves of the weights is 16 bits."""

    def step(self, gradients):
        narrow = super().step(gradients)
        self.master = [w.float() for w in narrow]
        return narrow


def score(weights, statistics) -> float:
    """Return the share of the images' variance that the network explains."""
    drawn = torch.sigmoid(
        forward(weights, pixels_validation, statistics).float()
    )
    truth, average = pixels_validation / 255, pixels_train.mean(dim=0) / 255
    return 1 - float(
        ((drawn - truth) ** 2).sum() / ((average - truth) ** 2).sum()
    )


def gradients_lost(gradients, weights, pixels) -> float:
    """Return the share of gradients that are zero here and not in float32."""
    _, exact = loss_and_gradients([w.float() for w in weights], pixels)
    pairs = [
        (g.flatten(), e.flatten())
        for g, e in zip(gradients, exact, strict=True)
    ]
    found, wanted = (torch.cat(each) for each in zip(*pairs, strict=True))
    return float((found[wanted != 0] == 0).float().mean())


def train(
    dtype,
    scaler=None,
    optimizer=MasterWeightSGD,
    skip=True,
    statistics=None,
    seed=0,
    steps=2000,
):
    """Train the autoencoder; return weights, score, scales, what was lost."""
    statistics = statistics or mean_and_variance
    optimizer = optimizer(new_weights(seed), lr=RATE, momentum=0.9, dtype=dtype)
    weights = [w.to(dtype) for w in optimizer.master]
    order = torch.Generator().manual_seed(seed)
    scales, zeros, skipped, still, moving = [], [], 0, 0, 0
    for step in range(steps):
        batch = pixels_train[
            torch.randint(len(pixels_train), (64,), generator=order)
        ]
        scales.append(scaler.scale if scaler else 1.0)
        _, gradients = loss_and_gradients(
            weights, batch, scales[-1], statistics
        )
        if step % 100 == 99:
            zeros.append(gradients_lost(gradients, weights, batch))
        found_inf = False
        if scaler:
            gradients, found_inf = scaler.unscale(gradients)
            scaler.update(found_inf)
        if found_inf and skip:
            skipped += 1
            continue
        before = [w.clone() for w in optimizer.master]
        weights = optimizer.step(gradients)
        for old, new, v in zip(
            before, optimizer.master, optimizer.velocity, strict=True
        ):
            moving += int((v != 0).sum())
            still += int(((old == new) & (v != 0)).sum())
    return {
        "weights": weights,
        "score": score(weights, statistics),
        "updates lost": still / max(moving, 1),
        "gradients lost": sum(zeros) / len(zeros),
        "skipped": skipped,
        "scales": scales,
    }


# %% [markdown]
# ### Predict, then measure (1 point)
#
# In float32 this network reaches a score of about 0.6.
# Commit to three numbers before you run the experiments;
# the point is for writing them down.
#
# * `"updates lost"`: the share of updates that is lost in float16 with `NoMaster`, from 0 to 1.
# * `"gradients lost"`: the share of gradients that is zero in float16 without loss scaling, from 0 to 1.
# * `"all bfloat16"`: the score when weights, activations, gradients and statistics are bfloat16,
#   without master weights, from -1 to 1.
#
# `predictions()` returns a dictionary with these three keys and a number for each, the same in each call. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return the three numbers that I expect."""
    ### BEGIN SOLUTION
    return {"updates lost": 0.3, "gradients lost": 0.5, "all bfloat16": 0.5}
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "three predictions",
    hint=(
        "which three keys does the text name, and is each of them there once?"
    ),
):
    check.equal(
        sorted(predictions()),
        ["all bfloat16", "gradients lost", "updates lost"],
    )
with check.case(
    "shares lie between 0 and 1, the score between -1 and 1",
    hint=(
        "are shares and score fractions, within their bounds? 0.25 "
        "means a quarter, 25 does not"
    ),
):
    for name in ("all bfloat16", "gradients lost", "updates lost"):
        check.at_least(
            predictions()[name],
            -1.0 if name == "all bfloat16" else 0.0,
            name=name,
        )
        check.at_most(predictions()[name], 1.0, name=name)
with check.case(
    "the same in each call", hint="commit: draw nothing", guard=True
):
    check.equal(predictions(), predictions(), name="two calls")
check.score(1)

# %% [markdown]
# ### Experiment 1. With everything in place

# %% explore=true
runs = {
    "float32": train(torch.float32),
    "mixed float16": train(torch.float16, DynamicLossScaler()),
    "mixed bfloat16": train(torch.bfloat16),
}
for name, run in runs.items():
    print(f"{name:14} score {run['score']:.3f}, {run['skipped']} steps skipped")
scores = [run["score"] for run in runs.values()]
print(f"the scores differ by at most {max(scores) - min(scores):.4f}")
other = train(torch.float32, seed=1)["score"]
print(f"float32 with another seed: {other:.3f}, {other - scores[0]:+.4f}")
scales = runs["mixed float16"]["scales"]
falls = [i for i in range(1, len(scales)) if scales[i] < scales[i - 1]]
first = f"at step {falls[0]:,}" if falls else "never"
print(f"the scale falls for the first time {first}")
plot.curves(
    torch.tensor(runs["mixed float16"]["scales"]).log2(),
    xlabel="step",
    ylabel="loss scale, as a power of two",
    title="The loss scale of the run in float16",
)

# %% [markdown]
# That the three scores hardly differ is what the method promises.
# Compare the largest difference with what another seed does.
# The scale starts at $2^{16}$, doubles every 50 steps while nothing overflows,
# and after its first fall saws near the right edge of Task 1's valley.
# bfloat16 has float32's range and needs no scale at all.

# %% [markdown]
# ### Experiment 2. One part less

# %% explore=true
runs["no loss scaling"] = train(torch.float16)
runs["no master weights"] = train(torch.float16, DynamicLossScaler(), NoMaster)
runs["no step skipped"] = train(torch.float16, DynamicLossScaler(), skip=False)

# %% explore=true
half, brain = torch.float16, torch.bfloat16
runs["statistics in float16"] = train(
    half, DynamicLossScaler(), statistics=narrow_statistics
)
runs["all bfloat16"] = train(
    brain, None, NoMaster, statistics=narrow_statistics
)
columns = ("score", "gradients lost", "updates lost")
learned = [run["score"] == run["score"] for run in runs.values()]  # not nan
for ax, column in zip(plot.panels(3), columns, strict=True):
    plot.matrix(
        [
            [round(run[column], 3) + 0.0 if fine else float("nan")]
            for run, fine in zip(runs.values(), learned, strict=True)
        ],
        list(runs) if column == "score" else [""] * len(runs),
        [column],
        fmt=".3f",
        title="What each part was for" if column == "score" else "",
        ax=ax,
    )
    if column != "score":
        ax.images[0].set_cmap("Oranges")

# %% explore=true
guess = predictions()
found = {
    "updates lost": runs["no master weights"]["updates lost"],
    "gradients lost": runs["no loss scaling"]["gradients lost"],
    "all bfloat16": runs["all bfloat16"]["score"],
}
for name, value in found.items():
    print(f"{name:15} {value:5.2f}, you predicted {guess[name]:5.2f}", end="")
    print(f", {value - guess[name]:+.2f}")

# %% [markdown]
# Each column has a scale of its own; darker is more. Take the rows from the fourth on:
#
# * *No loss scaling*: gradients are zero, and the score is below that of a grey average.
# * *No master weights*: updates are lost, and yet it learns: the large ones, which do most of the work, get through.
# * *No step skipped*: the first infinity reaches the weights, and they are nan from then on (the empty cells).
# * *Statistics in float16*: each image becomes a row of zeros, from which the first weights get no gradient,
#   and all that can be learned is the average, with score 0.
# * *All bfloat16*: more updates are lost than in float16, and it stops where float16 still creeps.
#   It lacks two things at once: run it with one of them, and see which one it needs.
#
# What do these scores look like?

# %% explore=true
shown = (
    "float32",
    "mixed float16",
    "no master weights",
    "no loss scaling",
    "all bfloat16",
)
# In an order that the next cell tells.
shown = [shown[i] for i in torch.randperm(5).tolist()]
some = [0, 3, 5, 8, 14]
rows = [pixels_validation[some] / 255]
for name in shown:
    statistics = (
        narrow_statistics if name == "all bfloat16" else mean_and_variance
    )
    logits = forward(runs[name]["weights"], pixels_validation[some], statistics)
    rows.append(torch.sigmoid(logits.float()))
tiles = torch.cat(rows).reshape(-1, 8, 8).numpy()
ax = plot.images(
    tiles, columns=len(some), title="Which network drew which row?"
)
for i, name in enumerate(("the images", *"ABCDE")):
    ax.text(-1.5, 9 * i + 3.5, name, ha="right", va="center", fontsize=9)

# %% explore=true
for letter, name in zip("ABCDE", shown, strict=True):
    print(f"{letter}: {name:18} score {runs[name]['score']:6.3f}")

# %% [markdown]
# Can you tell float32 from mixed float16?
# Without loss scaling the output is still mostly the noise of the first weights.
# All in bfloat16, whose updates were lost, has learned little more than the average of all images and stopped there.
#
# Why is bfloat16 so much worse at this than float16?
# Its numbers lie eight times further apart, so an update must be eight times larger to count:
# about $2^{-9}$ of the weight, a fifth of a percent.
# At a rate that makes such updates it keeps up. Task 6 shows both cases.

# %% [markdown]
# ## What does it save?
#
# Count what one step of this network holds, and what it moves if every tensor
# that a part of the step needs is read and each result written once.


# %% explore=true
def step_bytes(dtype, images: int):
    """Return bytes held and moved by one step, for each kind of tensor."""
    mixed = dtype != torch.float32
    wide, narrow = new_weights(0), [w.to(dtype) for w in new_weights(0)]
    kept = [
        torch.zeros(images, 64, dtype=dtype) for _ in range(3)
    ]  # input, hidden, logits
    size = [sum(t.nbytes for t in tensors) for tensors in (wide, narrow, kept)]
    # Held, and how often it is read or written: forward, backward, update.
    return {
        "16-bit weights": (size[1], 3 * size[1]) if mixed else (0, 0),
        "gradients": (size[1], 2 * size[1]),
        "unscaled gradients": (size[0], 2 * size[0]) if mixed else (0, 0),
        "float32 weights": (size[0], 2 * size[0] if mixed else 4 * size[0]),
        "velocity": (size[0], 2 * size[0]),
        "activations": (size[2], 2 * size[2]),
    }


# %% explore=true
def total(step, i, *without):
    """Return the bytes held (i = 0) or moved (1), without some kinds."""
    return sum(step[kind][i] for kind in step if kind not in without)


print("share of float32's bytes, counted               held   moved")
for images in (64, 4096):
    single = step_bytes(torch.float32, images)
    mixed = step_bytes(torch.float16, images)
    for title, without in (
        ("mixed", ()),
        ("mixed, no unscaled copies", ("unscaled gradients",)),
        ("mixed, weights only", ("unscaled gradients", "activations")),
    ):
        plain = ("activations",) if "activations" in without else ()
        held, moved = (
            total(mixed, i, *without) / total(single, i, *plain) for i in (0, 1)
        )
        print(f"{images:5} images, {title:30} {held:6.0%} {moved:7.0%}")

# %% [markdown]
# Mixed precision does not halve the memory of the *weights*. Copy, gradient, master weight and velocity take
# $2 + 2 + 4 + 4$ bytes per weight; weight, gradient and velocity in float32 take $4 + 4 + 4$, which is the same.
# Task 2's unscaled copies are four bytes more (an optimiser that unscales as it reads needs none).
# What it halves are the activations, and they are most of the memory of large batches and deep networks.
# A halving of everything, as it is often promised, is what you get for inference.
# (And energy: fetching a number takes over a hundred times that of multiplying it, Horowitz 2014.)

# %% [markdown]
# ### Task 5. Which operators stay in float32 (2 points)
#
# Under the same autocast a softmax is bfloat16 on your laptop and float32 on the GPU. Is that a bug?
# A framework decides operator by operator. PyTorch calls it *autocast* and has three classes:
#
# | computes in | operators | why |
# |---|---|---|
# | 16 bits | `linear`, `matmul`, `bmm`, `conv2d` | nearly all the time goes there; sums inside are float32 |
# | float32 | `sum`, `norm`, `cumsum`, `layer_norm` | long sums |
# | float32 | `exp`, `log`, `pow`, `softmax`, `log_softmax` | results leave the range |
# | float32 | `cross_entropy`, `mse_loss` | both |
# | the widest input | all others, for example `add`, `relu`, `cat` | little to gain, little to lose |

# %% [markdown]
# `compute_dtype(op, dtypes, half)` takes an operator's name and its inputs' dtypes and returns the dtype it computes in.
# Integer inputs, such as labels, do not count.
# If any input is float64, the answer is float64 for every operator: whoever asked for that wants it.
# If no input is a floating-point number, no rule of the table applies: return what `torch.promote_types` makes of them all.
# `torch.promote_types(a, b)` is the narrowest dtype that holds both (float32 for float16 and bfloat16): "widest" means that.
# `compute_dtype("add", [torch.float16, torch.float32], torch.float16)` is float32. About 11 lines.


# %% nbgrader={"grade_id": "compute-dtype", "solution": true}
def compute_dtype(
    op: str, dtypes: list[torch.dtype], half=torch.float16
) -> torch.dtype:
    """Return the dtype an operator computes in under autocast to `half`."""
    ### BEGIN SOLUTION
    products = {"linear", "matmul", "bmm", "conv2d"}
    sums = {"sum", "norm", "cumsum", "layer_norm", "cross_entropy", "mse_loss"}
    far = {"exp", "log", "pow", "softmax", "log_softmax"}
    floating = [d for d in dtypes if d.is_floating_point]
    widest = functools.reduce(torch.promote_types, floating or dtypes)
    if widest == torch.float64 or not floating:
        return widest
    if op in products:
        return half
    return torch.float32 if op in sums | far else widest
    ### END SOLUTION


# %% explore=true
square, label = torch.rand(4, 4), torch.zeros(4, dtype=torch.long)
operators = {
    "matmul": torch.matmul,
    "linear": nn.functional.linear,
    "softmax": lambda a, _: nn.functional.softmax(a, 1),
    "exp": lambda a, _: torch.exp(a),
    "sum": lambda a, _: torch.sum(a),
    "mse_loss": lambda a, _: nn.functional.mse_loss(a, 1 - a),
    "cross_entropy": lambda a, _: nn.functional.cross_entropy(a, label),
    "relu": lambda a, _: nn.functional.relu(a),
    "add": torch.add,
}
where, bf16 = device(), torch.bfloat16
print(f"{'operator':14}{'yours':>15}{'autocast on ' + where:>20}")
square, label, differ = square.to(where).bfloat16(), label.to(where), 0
for name, function in operators.items():
    with torch.autocast(where, dtype=bf16):
        real = function(square, square).dtype
    mine = compute_dtype(name, [bf16, bf16], bf16)
    differ += mine != real
    print(f"{name:14}{str(mine)[6:]:>15}{str(real)[6:]:>20}")
print(f"the columns differ in {differ} of {len(operators)} lines")

# %% [markdown]
# The rule of the task is the one for GPUs, made for float16.
# On a CPU PyTorch's list of float32 operators is shorter, so lines may differ there:
# it is made for bfloat16, in which `exp` does not overflow earlier than in float32,
# and `sum` adds in float32 and rounds the result once.

# %% nbgrader={"grade_id": "compute-dtype-check", "grade": true, "points": 2}
import torch
from torch import nn

from labkit import check

f16, bf16, f32, f64 = (
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
)
with check.case(
    "the worked example",
    hint=(
        "in which row of the table is add, and which dtypes does that "
        "row compare?"
    ),
):
    check.equal(compute_dtype("add", [f16, f32], f16), f32)
with check.case(
    "products are narrow",
    hint=(
        "in which row is each of these products? and what does that row return?"
    ),
):
    for op in ("linear", "matmul", "bmm", "conv2d"):
        check.equal(compute_dtype(op, [f32, f32], f16), f16, name=op)
    check.equal(compute_dtype("sum", [f32], f16), f32, name="sum, which is not")
with check.case(
    "sums, functions that leave the range, and losses are wide",
    hint=(
        "in which rows are these, all of them? and which dtype do those"
        " rows return?"
    ),
    essential=True,
):
    for op in (
        "sum",
        "norm",
        "layer_norm",
        "exp",
        "softmax",
        "cross_entropy",
        "mse_loss",
    ):
        check.equal(compute_dtype(op, [f16], f16), f32, name=op)
with check.case(
    "the rest stays as it came",
    hint=(
        "an operator of no other row: what decides, its inputs or the "
        "dtype asked for?"
    ),
):
    check.equal(compute_dtype("relu", [f16], f16), f16, name="relu of float16")
    check.equal(compute_dtype("relu", [f32], f16), f32, name="relu of float32")
    check.equal(
        compute_dtype("cat", [f16, f16, f32], f16), f32, name="cat of both"
    )
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "the 16 bits are those asked for",
    hint=(
        "bfloat16 in and asked for, both kinds mixed, nothing asked: "
        "which one decides in each row?"
    ),
):
    check.equal(compute_dtype("matmul", [f32, bf16], bf16), bf16, name="matmul")
    check.equal(
        compute_dtype("cat", [bf16, bf16], bf16), bf16, name="cat of bfloat16"
    )
    check.equal(
        compute_dtype("add", [f16, bf16], f16),
        f32,
        name="add of both kinds of 16 bits",
    )
    check.equal(compute_dtype("sum", [bf16], bf16), f32, name="sum")
    check.equal(
        compute_dtype("relu", [bf16], f16),
        bf16,
        name="relu of bfloat16 under float16",
    )
    check.equal(
        compute_dtype("matmul", [f32, f32]),
        f16,
        name="matmul, nothing asked for",
    )
with check.hidden_case(
    "every operator of the table",
    hint="is every operator of every row there, spelt as in the table?",
):
    for op in ("cumsum", "log", "pow", "log_softmax"):
        check.equal(compute_dtype(op, [bf16], bf16), f32, name=op)
with check.hidden_case(
    "integers do not count",
    hint=(
        "integers among the inputs, or alone: which inputs decide, and "
        "what if no float is there?"
    ),
):
    check.equal(
        compute_dtype("cross_entropy", [f16, torch.int64], f16),
        f32,
        name="loss, labels",
    )
    given = [torch.int64, f16]
    found = compute_dtype("mul", check.shared(given), f16)
    check.equal(found, f16, name="mul by integers")
    check.equal(given, [torch.int64, f16], name="the list of dtypes afterwards")
    check.equal(
        compute_dtype("cat", [torch.int32, torch.int64], f16),
        torch.int64,
        name="integers",
    )
    for op in ("matmul", "sum", "pow"):
        check.equal(
            compute_dtype(op, [torch.int32], f16),
            torch.int32,
            name=f"{op} of integers",
        )
with check.hidden_case(
    "float64 is left alone",
    hint=(
        "float64 beside float32: which question comes before the "
        "operator's row?"
    ),
):
    for op in ("matmul", "softmax", "add"):
        check.equal(compute_dtype(op, [f32, f64], f16), f64, name=op)
with check.hidden_case(
    "the same as PyTorch's autocast, where a CPU follows the table",
    hint=(
        "operators of each row, wide and narrow inputs: which row, and "
        "does the row or the input decide?"
    ),
):
    square = torch.rand(3, 3)
    cases = {
        "matmul": torch.matmul,
        "mse_loss": nn.functional.mse_loss,
        "add": torch.add,
        "linear": nn.functional.linear,
    }
    for name, function in cases.items():
        for left, right in ((f32, f32), (bf16, bf16)):
            with torch.autocast("cpu", dtype=bf16):
                real = function(square.to(left), square.to(right)).dtype
            check.equal(
                compute_dtype(name, [left, right], bf16), real, name=name
            )
with check.hidden_case(
    "an operator that is not in the table",
    hint="compare whole names: bilinear is not linear, expand is not exp",
):
    for op in ("batch_norm", "expand", "logical_not", "bilinear", "conv1d"):
        check.equal(compute_dtype(op, [f16], bf16), f16, name=op)
        check.equal(compute_dtype(op, [f32], f16), f32, name=op)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## The real thing: PyTorch
#
# PyTorch keeps the weights in float32 all the time and casts copies where an operator wants them:
# the model's own parameters *are* the master weights.
# `GradScaler` is your `DynamicLossScaler`. With `enabled=False` it passes everything through,
# so that one loop serves float32, bfloat16 and float16.

# %% [markdown]
# ### Task 6. A step with autocast (2 points)
#
# `train_step(net, optimizer, scaler, images, labels, dtype, max_norm)` makes one step
# and returns the cross-entropy of the batch, unscaled, as one number. In this order:
#
# 1. forget the old gradients;
# 2. under `torch.autocast` for the images' device and this `dtype`, with `enabled=False` if it is float32,
#    compute logits and loss, and nothing else;
# 3. backward through `scaler.scale(loss)`;
# 4. `scaler.unscale_(optimizer)`, and only then clip the gradients' norm to `max_norm`
#    with `torch.nn.utils.clip_grad_norm_`: a norm of scaled gradients is not the one you mean;
# 5. `scaler.step(optimizer)`, which skips the step if it found an infinity, and `scaler.update()`.
#
# Do not convert the network itself. About 9 lines.


# %% nbgrader={"grade_id": "reader", "locked": true}
class Reader(nn.Module):
    """A perceptron 64-128-10 that reads digits."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.hidden, self.output = nn.Linear(64, 128), nn.Linear(128, 10)

    def forward(self, images):
        return self.output(nn.functional.relu(self.hidden(images)))


def new_reader(seed: int, lr: float, momentum: float = 0.9):
    """Return a network and its optimiser."""
    net = Reader(seed)
    return net, torch.optim.SGD(net.parameters(), lr=lr, momentum=momentum)


def new_scaler(
    dtype,
    scale: float = 2.0**16,
    growth_interval: int = 2000,
    where: str = "cpu",
):
    """Return PyTorch's loss scaler, which is idle unless dtype is float16."""
    return torch.amp.GradScaler(
        where,
        init_scale=scale,
        growth_interval=growth_interval,
        enabled=dtype == torch.float16,
    )


# %% nbgrader={"grade_id": "train-step", "solution": true}
def train_step(
    net, optimizer, scaler, images, labels, dtype, max_norm: float = 1.0
) -> float:
    """Make one training step in mixed precision; return the unscaled loss."""
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    with torch.autocast(
        images.device.type, dtype=dtype, enabled=dtype != torch.float32
    ):
        loss = nn.functional.cross_entropy(net(images), labels)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
    ### END SOLUTION


# %% explore=true
def accuracy(net, x, y) -> float:
    with torch.no_grad():
        return float((net(x).argmax(dim=1) == y).float().mean())


where = device()


def read_digits(mode, seed, lr, batch, epochs=10):
    """Train a reader in one of four ways; return its validation accuracy."""
    net, optimizer = new_reader(seed, lr)
    dtype = {
        "float16, autocast": torch.float16,
        "bfloat16, autocast": torch.bfloat16,
    }.get(mode)
    narrow = torch.bfloat16 if mode == "all bfloat16" else torch.float32
    net.to(where, narrow)
    scaler, order = (
        new_scaler(dtype, where=where),
        torch.Generator().manual_seed(seed),
    )
    x, y = x_train.to(where, narrow), y_train.to(where)
    for _ in range(epochs):
        for some in (
            torch.randperm(len(x_train), generator=order).to(where).split(batch)
        ):
            train_step(
                net, optimizer, scaler, x[some], y[some], dtype or torch.float32
            )
    return accuracy(net, x_validation.to(where, narrow), y_validation.to(where))


# %% explore=true
def compare_modes(modes, lr, batch):
    """Print each mode's accuracies, one a seed, and the mean distance."""
    alike = {}  # the ways that reach the same accuracies
    for mode in ("float32", *modes):
        found = (read_digits(mode, seed, lr, batch) for seed in range(2))
        alike.setdefault(tuple(found), []).append(mode)
    plain = next(iter(alike))
    for found, names in alike.items():
        away = (sum(found) - sum(plain)) / len(plain)
        columns = "  ".join(f"{value:.1%}" for value in found)
        print(f"rate {lr}: {columns}  {100 * away:+5.1f} points  ", end="")
        print("; ".join(names))


compare_modes(
    ("bfloat16, autocast", "float16, autocast", "all bfloat16"),
    lr=0.05,
    batch=32,
)

# %% explore=true
compare_modes(("bfloat16, autocast", "all bfloat16"), lr=0.001, batch=16)


def lost_updates(lr, batch):
    """Return the share of updates that bfloat16 weights lose in an epoch."""
    net, optimizer = new_reader(0, lr, momentum=0.0)
    net.to(dtype=torch.bfloat16)
    x, scaler, lost, made = x_train.bfloat16(), new_scaler(None), 0, 0
    for some in torch.arange(len(x)).split(batch):
        before = [w.detach().clone() for w in net.parameters()]
        images, labels = x[some], y_train[some]
        train_step(net, optimizer, scaler, images, labels, torch.float32)
        for old, new in zip(before, net.parameters(), strict=True):
            meant = new.grad != 0
            made += int(meant.sum())
            lost += int((meant & (old == new)).sum())
    return lost / made


for lr, batch in ((0.05, 32), (0.001, 16)):
    print(f"rate {lr}: {lost_updates(lr, batch):.0%} of all updates lost")

# %% [markdown]
# Each column is a seed; ways that agree to the last image share a line.
#
# Whether training wholly in bfloat16 works depends on the rate.
# An update below half a digit of its weight, some $2^{-9}$ of it, is lost:
# the last two lines count them, for an epoch of plain steps without momentum.
# Many lost updates do little harm at a large rate, as long as the largest get through.
# That is the trap. A first test with a large rate says that everything is fine;
# then the rate decays, as rates do, and the network stops learning without any error message.

# %% nbgrader={"grade_id": "train-step-check", "grade": true, "points": 2}
import math

import torch
from torch import nn

from labkit import check

draw = torch.Generator().manual_seed(5)
images, labels = (
    torch.rand(32, 64, generator=draw),
    torch.randint(10, (32,), generator=draw),
)


def parameters(net):
    """Return copies of the network's weights and biases."""
    layers = (net.hidden, net.output)
    return [
        p.detach().clone()
        for layer in layers
        for p in (layer.weight, layer.bias)
    ]


def drawn(seed, net):
    """Return the parameters of Reader(seed); expect them in the network."""
    torch.manual_seed(seed)
    layers = nn.Linear(64, 128), nn.Linear(128, 10)
    own = [p.detach() for layer in layers for p in layer.parameters()]
    for theirs, values in zip(parameters(net), own, strict=True):
        check.close(theirs, values, rtol=1e-6, name="a parameter at the start")
    return own


def float32_steps(start, lr, steps=1, max_norm=math.inf, pixels=images):
    """Return the losses of plain clipped SGD in float32, and where it ends."""
    values, losses = [p.clone().requires_grad_() for p in start], []
    for _ in range(steps):
        w1, b1, w2, b2 = values
        loss = nn.functional.cross_entropy(
            nn.functional.relu(pixels @ w1.T + b1) @ w2.T + b2,
            labels[: len(pixels)],
        )
        gradients = torch.autograd.grad(loss, values)
        norm = math.sqrt(sum(float((g**2).sum()) for g in gradients))
        rate, pairs = (
            lr * min(1.0, max_norm / norm),
            zip(values, gradients, strict=True),
        )
        values = [(v - rate * g).detach().requires_grad_() for v, g in pairs]
        losses.append(loss.item())
    return losses, [v.detach() for v in values]


def distance(now, before):
    """Return how far all parameters together have moved."""
    return float(
        sum(((a - b) ** 2).sum() for a, b in zip(now, before, strict=True))
        ** 0.5
    )


def expect_direction(now, wanted, start):
    """Expect a step where the clipped float32 gradient points, of any length.

    16 bits turn it by a few hundredths; the cosine of that is above 0.99.
    """
    step, right = (
        torch.cat([(a - b).flatten() for a, b in zip(end, start, strict=True)])
        for end in (now, wanted)
    )
    along = float(nn.functional.cosine_similarity(step, right, dim=0))
    name = "cosine of the angle between the step and float32's"
    check.at_least(
        along,
        0.9,
        name=name,
        hint=(
            "was a step made, along which gradient and which way? is an "
            "earlier step's gradient left?"
        ),
    )


def loss_in(dtype, start, pixels):
    """Return the loss if both layers round operands and results to dtype."""
    w1, b1, w2, b2 = [p.to(dtype).float() for p in start]
    hidden = nn.functional.relu(
        (pixels.to(dtype).float() @ w1.T + b1).to(dtype)
    ).float()
    return nn.functional.cross_entropy(
        (hidden @ w2.T + b2).to(dtype).float(), labels
    ).item()


def expect_forward_in(dtype, other, name):
    """Expect losses of a forward pass in dtype, and not in the other."""
    away, apart, pixels = (
        0.0,
        0.0,
        30 * images,
    )  # large logits show how they are rounded
    for seed in range(10, 14):
        net, optimizer = new_reader(seed, lr=0.1)
        start, scaler = drawn(seed, net), new_scaler(dtype, scale=1.0)
        wanted = loss_in(dtype, start, pixels)
        found = float(train_step(net, optimizer, scaler, pixels, labels, dtype))
        away += abs(found - wanted)
        apart += abs(loss_in(other, start, pixels) - wanted)
        check.equal(
            net.hidden.weight.dtype, torch.float32, name="dtype of the weights"
        )
        now = parameters(net)
        check.at_least(distance(now, start), 1e-3, name="length of the step")
        expect_direction(
            now, float32_steps(start, 0.1, pixels=pixels)[1], start
        )
    check.at_most(away / apart, 0.25, name=name)


# The order of sums moves the losses by a hundredth of what rounding does.
with check.case(
    "the forward pass runs in 16 bits, the weights stay float32",
    hint=(
        "did the weights move in this call, too? what runs inside "
        "autocast, on what, in which order of arguments?"
    ),
    essential=True,
):
    title = "how far the losses are from bfloat16's, where float32's are 1 away"
    expect_forward_in(torch.bfloat16, torch.float32, title)
# bfloat16 has two and a half digits; the loss comes out right to about 0.2 %.
with check.case(
    "the loss is returned unscaled, and the step is the gradient's",
    hint=(
        "is the loss returned the unscaled one, all digits? a far too "
        "short step: clipped before unscaling?"
    ),
):
    for dtype in (torch.bfloat16, torch.float16):
        net, optimizer = new_reader(2, lr=0.1)
        begin = drawn(2, net)
        losses, wanted = float32_steps(begin, 0.1)
        found = train_step(
            net, optimizer, new_scaler(dtype), images, labels, dtype
        )
        check.close(found, losses[0], rtol=0.01, name="loss")
        check.at_least(
            distance(parameters(net), begin), 1e-3, name="length of the step"
        )
        expect_direction(parameters(net), wanted, begin)
with check.case(
    "gradients are clipped after they are unscaled",
    hint=(
        "at which moment is the norm clipped, to which length, and is "
        "it still scaled then? see step 4"
    ),
    essential=True,
    weight=2,
):
    net, optimizer = new_reader(3, lr=1.0, momentum=0.0)
    start = drawn(3, net)
    train_step(
        net,
        optimizer,
        new_scaler(torch.float16),
        images,
        labels,
        torch.float16,
        0.01,
    )
    # A step of plain SGD with rate 1 is as long as its gradient.
    check.close(
        distance(parameters(net), start),
        0.01,
        rtol=0.01,
        name="length of the step",
    )
    _, wanted = float32_steps(start, 1.0, max_norm=0.01)
    expect_direction(parameters(net), wanted, start)
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "a batch of one image",
    hint=(
        "one image, large logits: is the batch still a matrix, and are "
        "loss and step those of this batch?"
    ),
):
    bright = 30 * images[:1]  # its loss is not the log of 10
    for dtype in (torch.float32, torch.bfloat16):
        net, optimizer = new_reader(3, lr=0.1)
        before = drawn(3, net)
        expected, there = float32_steps(before, 0.1, pixels=bright)
        scaler, batch = new_scaler(dtype), (bright, labels[:1])
        got = train_step(net, optimizer, scaler, *batch, dtype)
        check.close(got, expected[0], rtol=2e-2, name="loss")
        expect_direction(parameters(net), there, before)
with check.hidden_case(
    "an infinite gradient: the step is skipped and the scale halved",
    hint=(
        "huge images, then usual ones: who skips, who halves, and what "
        "is forgotten before the next step?"
    ),
    weight=2,
):
    net, optimizer = new_reader(4, lr=0.1)
    scaler, start = new_scaler(torch.float16, scale=1024.0), drawn(4, net)
    train_step(net, optimizer, scaler, images * 1e6, labels, torch.float16)
    check.close(
        distance(parameters(net), start), 0.0, name="length of the step"
    )
    check.close(scaler.get_scale(), 512.0, name="scale")
    # What is skipped has to be a step: with other images it is taken.
    train_step(net, optimizer, scaler, images, labels, torch.float16)
    expect_direction(parameters(net), float32_steps(start, 0.1)[1], start)
    net, optimizer = new_reader(4, lr=0.1)
    scaler, start = new_scaler(torch.float16, scale=2.0**30), drawn(4, net)
    loss = train_step(net, optimizer, scaler, images, labels, torch.float16)
    check.close(
        loss,
        float32_steps(start, 0.1)[0][0],
        rtol=0.01,
        name="loss of a step that is skipped and changes the scale",
    )
    check.close(
        distance(parameters(net), start), 0.0, name="length of that step"
    )
with check.hidden_case(
    "the step is at most 1 long if nobody says otherwise",
    hint=(
        "large gradients, no max_norm given: which length does the stub"
        " promise, and is it clipped, unscaled?"
    ),
    weight=0.5,
):
    net, optimizer = new_reader(6, lr=1.0, momentum=0.0)
    start, scaler = drawn(6, net), new_scaler(torch.float32)
    train_step(net, optimizer, scaler, 30 * images, labels, torch.float32)
    length = distance(parameters(net), start)
    check.close(length, 1.0, rtol=0.01, name="length of the step")
    end = float32_steps(start, 1.0, max_norm=1.0, pixels=30 * images)[1]
    expect_direction(parameters(net), end, start)
with check.hidden_case(
    "good steps let the scale grow",
    hint=(
        "several good steps, one scaler: who counts them, is it told "
        "after each, and does each move?"
    ),
):
    net, optimizer = new_reader(5, lr=0.1, momentum=0.0)
    scaler, start = (
        new_scaler(torch.float16, scale=256.0, growth_interval=2),
        drawn(5, net),
    )
    for _ in range(2):
        train_step(net, optimizer, scaler, images, labels, torch.float16)
    check.close(scaler.get_scale(), 512.0, name="scale")
    expect_direction(
        parameters(net), float32_steps(start, 0.1, steps=2)[1], start
    )
# Two steps of 0.5 move by about 0.5; bfloat16 changes that by less than 1 %.
with check.hidden_case(
    "two steps end where float32 ends",
    hint=(
        "two steps: is the second along its own gradient, and is each "
        "made in the dtype, and unclipped?"
    ),
):
    for dtype in (torch.bfloat16, torch.float32):
        net, optimizer = new_reader(6, lr=0.5, momentum=0.0)
        start = drawn(6, net)
        _, wanted = float32_steps(start, 0.5, steps=2)
        for _ in range(2):
            train_step(
                net, optimizer, new_scaler(dtype), images, labels, dtype, 100.0
            )
        away = distance(parameters(net), wanted) / distance(wanted, start)
        check.at_most(
            away,
            0.05,
            name="distance from float32's end, as a share of the way",
        )
# A step moves a weight by less than half of what 16 bits can tell apart.
with check.hidden_case(
    "ten small steps end where float32 ends",
    hint=(
        "small steps add up in float32 only: which numbers does the "
        "optimiser change, and does anything round them afterwards?"
    ),
    essential=True,
):
    for dtype in (torch.float16, torch.bfloat16):
        net, optimizer = new_reader(7, lr=1e-3, momentum=0.0)
        start, scaler = drawn(7, net), new_scaler(dtype, scale=256.0)
        _, wanted = float32_steps(start, 1e-3, steps=10)
        for _ in range(10):
            train_step(net, optimizer, scaler, images, labels, dtype, 100.0)
        away = distance(parameters(net), wanted) / distance(wanted, start)
        name = "distance from float32's end, as a share of the way"
        check.at_most(away, 0.1, name=name)
with check.hidden_case(
    "gradients from before the first step are forgotten",
    hint=(
        "somebody has called backward before: when are gradients "
        "forgotten, and all of them?"
    ),
):
    net, optimizer = new_reader(9, lr=0.5, momentum=0.0)
    start = drawn(9, net)
    net(100 * images).pow(2).sum().backward()
    train_step(
        net,
        optimizer,
        new_scaler(torch.float32),
        images,
        labels,
        torch.float32,
        100.0,
    )
    wanted = float32_steps(start, 0.5)[1]
    off = distance(parameters(net), wanted) / distance(wanted, start)
    check.at_most(off, 0.01, name="distance from one plain step's end")
with check.hidden_case(
    "images and labels stay as they were",
    hint="a batch is used again in the next epoch: does a step write into it?",
    weight=0.5,
    guard=True,
):
    net, optimizer = new_reader(8, lr=0.1)
    batch, scaler = (images.clone(), labels.clone()), new_scaler(torch.float32)
    with check.unchanged(images=batch[0], labels=batch[1]):
        train_step(net, optimizer, scaler, *batch, torch.float32)
with check.hidden_case(
    "with float32 autocast is off",
    hint=(
        "float32 is asked for: is autocast off then, and does the loss "
        "come back with all its digits?"
    ),
):
    narrow = (
        "how far the losses are from float32's, where bfloat16's are 1 away"
    )
    expect_forward_in(torch.float32, torch.bfloat16, narrow)
with check.hidden_case(
    "float16 is float16",
    hint=(
        "float16 is asked for: does autocast get it, and does the loss "
        "come back with all its digits?"
    ),
):
    narrow = "how far the losses are from float16's, where float32's are 1 away"
    expect_forward_in(torch.float16, torch.float32, narrow)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## The real thing: Keras
#
# Keras says it with a *policy* for each layer: a dtype to compute in and one for the variables.
#
# | policy | computes in | variables |
# |---|---|---|
# | `"float32"` | float32 | float32 |
# | `"mixed_bfloat16"` | bfloat16 | float32 |
# | `"bfloat16"` | bfloat16 | bfloat16 |
#
# The variables are the master weights, so the second is mixed precision and the third is not.

# %% [markdown]
# ### Task 7. A policy for every layer but the last (1 point)
#
# `keras_model(policy)` returns a network for rows of 64 numbers:
# a hidden dense layer of 128 units with relu, under `policy`,
# and a dense output layer of 10 logits without activation, under `"float32"` whatever the policy:
# the exponentials of the loss are computed from its output.
#
# Give each layer its `dtype=`; leave Keras's global policy as it is.
# Import Keras inside the function. About 6 lines. `inspect_keras`, `under_global` and `run_keras` are given, for the check.


# %% folded=true nbgrader={"grade_id": "inspect-keras", "locked": true}
def keras_layers(model) -> list:
    """Return the hidden layer and the output layer, built."""
    import keras

    model(
        keras.ops.ones((3, 64))
    )  # builds the layers, if that has not been done yet
    layers = [layer for layer in model.layers if layer.weights]
    return sorted(layers, key=lambda layer: layer.weights[0].shape[0] != 64)


def inspect_keras(model) -> dict:
    """Return what a test or a person wants to know about a Keras model."""
    import keras

    layers = keras_layers(model)
    return {
        "is a Keras model": isinstance(model, keras.Model),
        "computes in": [layer.compute_dtype for layer in layers],
        "variables": [
            [str(w.dtype) for w in layer.weights] for layer in layers
        ],
        "shapes": [[tuple(w.shape) for w in layer.weights] for layer in layers],
        "output": keras.backend.standardize_dtype(
            model(keras.ops.ones((3, 64))).dtype
        ),
        "global policy": keras.config.dtype_policy().name,
    }


def under_global(policy: str, make):
    """Return what make() makes while Keras's global policy is another."""
    import keras

    before = keras.config.dtype_policy().name
    keras.config.set_dtype_policy(policy)
    try:
        return make()
    finally:
        keras.config.set_dtype_policy(before)


def run_keras(model, weights: list, rows) -> tuple:
    """Set each layer's weights; return what the layers hold, and logits."""
    import keras

    kept, to_numpy = [], keras.ops.convert_to_numpy
    for layer, values in zip(keras_layers(model), weights, strict=True):
        layer.set_weights(values)
        kept.append(
            [to_numpy(keras.ops.cast(w, "float32")) for w in layer.weights]
        )
    return kept, to_numpy(
        keras.ops.cast(model(keras.ops.convert_to_tensor(rows)), "float32")
    )


# %% nbgrader={"grade_id": "keras-model", "solution": true}
def keras_model(policy: str):
    """Return a model 64-128-10 that computes under policy; float32 logits."""
    ### BEGIN SOLUTION
    import keras

    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(128, activation="relu", dtype=policy),
            keras.layers.Dense(10, dtype="float32"),
        ]
    )
    ### END SOLUTION


# %% explore=true
def keras_accuracies(policies, rates, epochs=3):
    """Train a model per policy and optimiser; return backend and accuracies."""
    import keras

    data = load("digits")
    x, y = data.train.x.reshape(-1, 64), data.train.y
    x_held_out, y_held_out = (
        data.validation.x.reshape(-1, 64),
        data.validation.y,
    )
    found = {}
    for policy in policies:
        for name, lr in rates.items():
            keras.utils.set_random_seed(0)
            model = keras_model(policy)
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            kind = {"SGD": keras.optimizers.SGD, "Adam": keras.optimizers.Adam}[
                name
            ]
            model.compile(
                kind(learning_rate=lr), loss=loss, metrics=["accuracy"]
            )
            model.fit(x, y, epochs=epochs, batch_size=32, verbose=0)
            _, found[policy, name] = model.evaluate(
                x_held_out, y_held_out, verbose=0
            )
    return keras.config.backend(), found


# %% explore=true
def show_keras(backend, rates):
    """Train in a process of its own with this backend; print and compare."""
    chosen = {"KERAS_BACKEND": backend}
    policies = ("float32", "mixed_bfloat16", "bfloat16")
    name, found = in_fresh_process(
        keras_accuracies,
        policies,
        rates,
        environment=chosen,
        timeout_s=180,  # a busy machine needs more than a minute
    )
    for policy in policies:
        accuracies = "   ".join(
            f"{kind} {found[policy, kind]:6.1%}" for kind in rates
        )
        print(f"{name:11} {policy:15} {accuracies}")


show_keras("torch", {"SGD": 0.05, "Adam": 0.001})

# %% explore=true
show_keras("tensorflow", {"Adam": 0.001})

# %% [markdown]
# Each of the two cells ran in a process of its own, because Keras chooses its backend when it is imported.
# `mixed_bfloat16` should give float32's accuracy, to within a few images.
#
# Pure `bfloat16` at this rate gets by with SGD and breaks with Adam,
# which corrects its means by $1 - \beta_2^t$ with $\beta_2 = 0.999$.
# Keras computes that in the variable's dtype, and the bfloat16 nearest to 0.999 is 1:
# the correction is 0, and so is the step, which is multiplied by its root.
# With the torch backend Keras 3 updates all layers together, in one dtype, and none of them moves.
# With tensorflow the float32 output layer learns, on top of a hidden layer that stays as it was drawn.

# %% nbgrader={"grade_id": "keras-model-check", "grade": true, "points": 1}
from functools import partial

import numpy as np
import torch

from labkit import check

SIZES = [(64, 128), (128,)], [(128, 10), (10,)]
draw = np.random.default_rng(21)
ROWS = draw.normal(size=(50, 64)).astype(np.float32)
WEIGHTS = [
    [draw.normal(size=size).astype(np.float32) / 8 for size in sizes]
    for sizes in SIZES
]
# Small integers are exact in every format, and so are sums of 64 of them.
SIGNS = draw.integers(-1, 2, (50, 64)).astype(np.float32)
WHOLE = [
    [draw.integers(-1, 2, size).astype(np.float32) for size in SIZES[0]],
    WEIGHTS[1],
]


def logits_in(policy, weights, rows):
    """Return the logits if the hidden layer rounds to the policy's format."""
    narrow = getattr(torch, policy.removeprefix("mixed_"))
    (w1, b1), (w2, b2) = [
        [torch.tensor(values) for values in layer] for layer in weights
    ]
    x, w1, b1 = [
        values.to(narrow).float() for values in (torch.tensor(rows), w1, b1)
    ]
    products = (x @ w1).to(narrow).float()
    return ((products + b1).to(narrow).float().relu() @ w2 + b2).numpy()


def expect_layers(model):
    """Expect two layers of the right shapes; return what was seen."""
    seen = inspect_keras(model)
    check.true(seen["is a Keras model"], "a Keras model")
    shapes = [
        [tuple(shape) for shape in layer] for layer in list(seen["shapes"])
    ]
    check.equal(shapes, [*SIZES], name="shapes of weights and biases")
    return seen


def expect_variables(model, policy):
    """Expect that the layers keep the digits that their variables have."""
    hidden, output = list(run_keras(model, WEIGHTS, ROWS)[0])
    dtype = torch.bfloat16 if policy == "bfloat16" else torch.float32
    rounded = [
        torch.tensor(values).to(dtype).float().numpy() for values in WEIGHTS[0]
    ]
    for found, want in zip(
        [*hidden, *output], rounded + WEIGHTS[1], strict=True
    ):
        check.close(
            found,
            want,
            rtol=1e-6,
            atol=0,
            name=f"{policy}: weights set and read",
        )


def expect_logits(model):
    """Expect the logits of set weights where no format rounds anything."""
    _, found = run_keras(model, WHOLE, SIGNS)
    check.close(
        found,
        logits_in("float32", WHOLE, SIGNS),
        rtol=1e-5,
        atol=1e-4,
        name="logits",
    )


def expect_rounding(model, policy):
    """Expect logits of set weights, off by what rounding in one layer does.

    Other orders of sums give 0.7 to 1.5 for bfloat16; float16 would be 0.1.
    """
    _, found = run_keras(model, WEIGHTS, ROWS)
    wide, narrow = (
        logits_in(dtype, WEIGHTS, ROWS) for dtype in ("float32", "bfloat16")
    )
    check.close(found, wide, rtol=0.1, atol=0.1, name="logits")
    away = float(
        np.abs(np.array(found) - wide).mean() / np.abs(narrow - wide).mean()
    )
    name = f"{policy}: distance from float32's logits; bfloat16's are 1 away"
    check.at_least(away, 0.0 if policy == "float32" else 0.6, name=name)
    check.at_most(away, 0.02 if policy == "float32" else 3.0, name=name)


with check.case(
    "mixed_bfloat16: computes in bfloat16, keeps its variables in float32",
    hint=(
        "two layers: how many inputs, units, which activation? which of"
        " them gets the policy, and how?"
    ),
    more="a layer takes it as its dtype",
    essential=True,
):
    model = keras_model("mixed_bfloat16")
    seen = expect_layers(model)
    check.equal(
        seen["computes in"][0], "bfloat16", name="hidden layer computes in"
    )
    check.equal(
        seen["variables"][0],
        ["float32", "float32"],
        name="variables of the hidden layer",
    )
    expect_variables(model, "mixed_bfloat16")
    expect_rounding(model, "mixed_bfloat16")
with check.case(
    "logits are float32",
    hint=(
        "the last layer: which dtype, which activation? the hidden one:"
        " which activation?"
    ),
):
    model = keras_model("mixed_bfloat16")
    seen = expect_layers(model)
    check.equal(seen["output"], "float32", name="output")
    check.equal(
        seen["computes in"][-1], "float32", name="output layer computes in"
    )
    expect_logits(model)
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "the policy is the caller's",
    hint=(
        "other policies: does the argument reach the hidden layer, and "
        "only that one? sizes as the text says?"
    ),
):
    for policy in ("bfloat16", "float32"):
        model = keras_model(policy)
        seen = expect_layers(model)
        check.equal(
            seen["computes in"][:1],
            [policy],
            name=f"{policy}: hidden layer computes in",
        )
        check.equal(
            seen["variables"],
            [[policy] * 2, ["float32"] * 2],
            name=f"{policy}: variables",
        )
        check.equal(seen["output"], "float32", name=f"{policy}: output")
        expect_variables(model, policy)
        expect_logits(model)
        expect_rounding(model, policy)
with check.hidden_case(
    "the global policy is left alone",
    hint=(
        "what in the function is set globally, and would later models notice?"
    ),
    guard=True,
):
    seen = expect_layers(keras_model("mixed_bfloat16"))
    check.equal(seen["global policy"], "float32")
with check.hidden_case(
    "each layer says its own dtype",
    hint=("another global policy: which layer does not name its own dtype?"),
    guard=True,
):
    model = under_global("float64", partial(keras_model, "mixed_bfloat16"))
    seen = expect_layers(model)
    check.equal(
        seen["computes in"],
        ["bfloat16", "float32"],
        name="layers compute in, under the global policy float64",
    )
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ## And is it faster?
#
# On a CPU that depends on whether it has instructions for bfloat16.
# The next cell multiplies two matrices in both formats, in turns, on one core.


# %% explore=true
def product_ratio(side):
    """Return the time of a float32 product over a bfloat16 one."""
    a, b = torch.rand(2, side, side)
    a_16, b_16 = a.bfloat16(), b.bfloat16()
    ways = {"float32": lambda: a @ b, "bfloat16": lambda: a_16 @ b_16}
    times = compare(ways)
    wide, narrow = (min(times[way].samples_s) for way in ways)
    return wide / narrow


# AVX2 or AVX512 says nothing about bfloat16: that, only the times tell.
print(f"vector instructions: {torch.backends.cpu.get_cpu_capability()}")
for side in (64, 256):
    ratio = product_ratio(side)
    verdict = (
        "faster" if ratio > 1.1 else "slower" if ratio < 0.9 else "as fast"
    )
    print(
        f"{side:3} x {side:3}: float32 takes {ratio:.2g} times as long, by the "
        f"fastest runs: bfloat16 is {verdict} here"
    )

# %% [markdown]
# Without instructions for bfloat16 a CPU converts, or multiplies one by one, which can be a hundred times slower.
# With them it can be several times faster, but need not be: small matrices, or a library that does not use them,
# and the ratio is below 1 again.
#
# NVIDIA's Volta GPU does 125 trillion operations a second in float16 products with float32 sums,
# twelve times its predecessor's rate in float32.
# A whole training step gains less: what is not a product does not get faster.

# %% [markdown]
# ### With a GPU
#
# The next cell times a step of a wide network in four ways.
# TF32 is one more format: float32 in memory, 10 fraction bits inside the product.

# %% explore=true
from labkit import recorded

if device() == "cpu":
    print("No GPU here: skipped a step in float32, TF32, float16, bfloat16.")
    print(recorded("07_mixed_precision"))
else:
    where = device()
    wide = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(4)]).to(where)
    batch = torch.randn(4096, 4096, device=where)

    def gpu_step(dtype=torch.float32, precision="highest"):
        torch.set_float32_matmul_precision(precision)
        with torch.autocast(where, dtype=dtype, enabled=dtype != torch.float32):
            loss = wide(batch).float().square().mean()
        loss.backward()
        wide.zero_grad()
        torch.set_float32_matmul_precision("highest")

    ways = {
        "float32": gpu_step,
        "float32 as TF32": lambda: gpu_step(precision="high"),
        "float16, autocast": lambda: gpu_step(torch.float16),
        "bfloat16, autocast": lambda: gpu_step(torch.bfloat16),
    }
    print(compare(ways, repeat=10))

# %% [markdown]
# On the H100 that we recorded TF32 made float32 5.8 times as fast (30.0 to 5.15 ms), with the program unchanged.
# 16 bits added a factor of 1.8 only, the same for both formats:
# their products run at no more than twice TF32's rate, and half the bytes are moved.
# (A GPU from before 2020 has no TF32 and no bfloat16 of its own.)

# %% [markdown]
# ## After 2022: eight bits
#
# Since 2022 GPUs multiply floating-point numbers of eight bits, in two formats (Micikevicius et al. 2022):
#
# | | bits: sign, exponent, fraction | largest | smallest above 0 | meant for |
# |---|---|---|---|---|
# | E4M3 | 1, 4, 3 | 448 | $2^{-9}$ | weights and activations |
# | E5M2 | 1, 5, 2 | 57344 | $2^{-16}$ | gradients |
#
# What you have built stays: sums and master weights are wide, and a scale moves numbers into range.
# But E4M3 spans eighteen powers of two, too few for one scale for the whole network: each tensor has its own, from its largest entry.
# (*MX* formats, 2023, go further: 32 neighbours share a scale, and even four bits can be enough; lab 03.)

# %% [markdown]
# ### Open task: your own eight bits (2 points)
#
# The cells below train the autoencoder in simulated FP8:
# weights, activations and gradients are rounded to the formats that you choose, and too large ones saturate.
# Sums, statistics and master weights stay float32.
# `fp8_score(recipe, power)` multiplies the loss by 2 to this `power` and returns the score after 300 steps
# (float32, too, is only on its way by then: compare with its line, not with 0.6).

# %% [markdown]
# Hand in a figure, drawn by the cells below (their output is kept), and your sentences in the last of these cells:
#
# 1. a figure of the score against the loss scale, for at least two recipes and six scales each, labelled, float32 with them;
# 2. three or four sentences: which recipe and scale you would take, *why* its valley lies where it does
#    and is as wide as it is, and why a loss scale is needless with `"tensor scales"`.


# %% explore=true
class Rounded(torch.autograd.Function):
    """Rounds values by `there` on the way forward, gradients by `back`."""

    @staticmethod
    def forward(ctx, x, there, back):
        ctx.back = back
        return there(x)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.back(gradient), None, None


def to_format(x, name, own_scale):
    """Return x, rounded to a dtype of torch; what is too large saturates."""
    dtype, scale = getattr(torch, name), 1.0
    largest = torch.finfo(dtype).max
    if own_scale and x.abs().max() > 0:
        scale = 2.0 ** torch.floor(torch.log2(largest / x.abs().max()))
    return (x * scale).clamp(-largest, largest).to(dtype).float() / scale


# %% explore=true
def fp8_forward(weights, pixels, recipe):
    """Return logits of the autoencoder, rounded as the recipe says."""

    def narrow(x, kind, back=None):
        rounding = [
            (lambda t, k=k: to_format(t, recipe[k], recipe["tensor scales"]))
            if k
            else (lambda t: t)
            for k in (kind, back)
        ]
        return Rounded.apply(x, *rounding)

    w1, b1, w2, b2 = weights
    mean, variance = mean_and_variance(pixels)
    x = (pixels - mean) / (variance + 1.0).sqrt()
    for w, b, last in ((w1, b1, False), (w2, b2, True)):
        x = narrow(x, "activations") @ narrow(w, "weights")
        x = narrow(x + b, None, back="gradients")
        x = x if last else torch.tanh(x)
    return x


# %% explore=true
def fp8_score(recipe, power, seed=0, steps=300):
    """Return the score after training with a loss scale of 2**power."""
    weights = [w.requires_grad_() for w in new_weights(seed)]
    sgd = torch.optim.SGD(weights, lr=RATE / 2.0**power, momentum=0.9)
    order = torch.Generator().manual_seed(seed)
    ways = {"size": (64,), "generator": order}
    for _ in range(steps):
        batch = pixels_train[torch.randint(len(pixels_train), **ways)]
        loss = nn.functional.binary_cross_entropy_with_logits(
            fp8_forward(weights, batch, recipe), batch / 255, reduction="sum"
        )
        sgd.zero_grad()
        (loss / PIXELS * 2.0**power).backward()
        sgd.step()
    with torch.no_grad():
        logits = fp8_forward(weights, pixels_validation, recipe)
    truth, grey = pixels_validation / 255, pixels_train.mean(dim=0) / 255
    left = ((torch.sigmoid(logits) - truth) ** 2).sum()
    return 1 - float(left / ((grey - truth) ** 2).sum())


# %% explore=true
# Change this cell: four scales of two recipes are a beginning.
E4M3, E5M2 = "float8_e4m3fn", "float8_e5m2"
kinds = ("weights", "activations", "gradients")
recipes = {
    "float32": {**dict.fromkeys(kinds, "float32"), "tensor scales": False},
    "all E4M3": {**dict.fromkeys(kinds, E4M3), "tensor scales": False},
}
powers, LEAST = [0, 8, 16, 24], -0.5  # what is worse stands at the edge
ax = plot.curves(
    {
        name: (powers, [max(fp8_score(recipe, p), LEAST) for p in powers])
        for name, recipe in recipes.items()
    },
    xlabel="loss scale, as a power of two",
    ylabel="score, 300 steps, at least -0.5",
    title="How wide is the valley of eight bits?",
)
for line in ax.lines:
    line.set_marker("o")
limits = ax.set_ylim(bottom=LEAST - 0.05)

# %% [markdown] nbgrader={"grade_id": "eight-bits", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# I take E4M3 for weights and activations, E5M2 for gradients, and a loss scale of $2^{24}$.
# All in E4M3 has a plateau from about $2^{18}$ to $2^{28}$: the gradients are between $2^{-36}$ and $2^{-20}$,
# and most of them must get above $2^{-9}$ without the largest passing 448; beyond, they saturate and the score falls.
# E5M2 has one bit of exponent more: it reaches seven powers of two further down, and seven further up.
# So its plateau begins near $2^{12}$ and goes on beyond $2^{40}$; that it has a bit less of fraction costs almost nothing,
# because gradients are averaged over a batch and many steps in float32.
# With a scale for each tensor the score is the same at every loss scale:
# each tensor's largest entry is brought to the top of the range, which is what the loss scale did for all of them at once.
#
# **Rubric.**
#
# * 1 point: the figure, from runs of their own, with two recipes, six scales each, labelled axes and float32 beside them.
#   Half a point if scales do not reach both edges of a valley or its plateau.
# * Half a point: a choice inside the plateau of the figure.
# * Half a point: the left edge by what underflows and the right one by what saturates, and the width by the exponent's bits;
#   or a scale per tensor, which does for each what the loss scale does for all.
#
# The height of the score earns nothing. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ### In your words (2 points)
#
# A classmate trains in float16 with autocast and PyTorch's `GradScaler` (growth interval 2000) and shows you this log.
#
# | steps | loss | loss scale | steps skipped |
# |---|---|---|---|
# | 0 to 3 | 2.31 | 65536 falls to 4096 | 4 |
# | 4 to 5999 | 2.30 falls to 0.41 | 4096, and 8192 for a step now and then | 2 |
# | 6000 to 6040 | nan | 4096 falls to below $10^{-8}$ | all |

# %% [markdown]
# 1. Which skipped steps are harmless, and why?
# 2. From step 6000 on a smaller scale does not help. What does that say about where the nan comes from?
#    Name an operation that can produce it, and how you would find it.
# 3. He proposes bfloat16 without a scaler. What does he gain, what does he lose, and what must stay as it is?
#
# About 150 words.

# %% [markdown] nbgrader={"grade_id": "diagnosis", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# The first four skips are the scaler finding its place: 65536 is too large, each overflow costs one step and halves the scale.
# The two later ones are its regular attempts to double after 2000 good steps; 8192 overflows, it goes back.
# In both cases the weights were not touched.
# From step 6000 on the *loss* itself is nan. The scale multiplies the loss after the forward pass,
# so a nan or infinity in the forward pass is not changed by any scale, and halving goes on forever.
# Candidates: activations or logits beyond 65504 in a float16 product, a sum, a square or a variance computed in float16,
# 0 times the logarithm of a probability that underflowed to 0 ($0 \cdot \infty$), infinity minus infinity, or a bad input.
# Look for the first tensor that is not finite, for example with forward hooks on each layer, on the batch of step 6000;
# then compute that operation in float32, or keep its input small.
# The weights are still good, because every step since was skipped.
# bfloat16 has float32's range: such overflows do not occur and no scale is needed.
# It has three bits less, so it rounds eight times more coarsely. A log of zero or a bad input would still give inf or nan.
# Master weights in float32, and sums, normalisations and the loss in float32, must stay.
#
# **Rubric.**
#
# * Half a point: both kinds of harmless skips (start, and attempts to grow), and that a skipped step leaves the weights alone.
# * Half a point: the forward pass, argued from the loss being nan or from the scale acting only after it.
# * Half a point: a plausible operation, and a way to find it (hooks, isfinite, anomaly detection, one batch run in float32).
# * Half a point: gains range and loses digits; keeps float32 master weights and wide sums.
#
# A claim without a reason earns half of its half. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## Optional: wrong loops that learn (15 minutes)
#
# No points here. Each of these steps has one fault. Which ones will the accuracy betray? Guess first.
#
# * *clips first*: clips the scaled gradients, then unscales
# * *never unscales*: the optimiser gets the scaled gradients, clipped
# * *no update*: the scale stays at its first value
# * *keeps gradients*: forgets to forget the gradients of the steps before


# %% explore=true
def faulty_step(net, optimizer, scaler, images, labels, fault):
    if fault != "keeps gradients":
        optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(
            net(images), labels, reduction="mean"
        )
    scaler.scale(loss).backward()
    if fault not in ("clips first", "never unscales"):
        scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    if fault == "never unscales":
        optimizer.step()
        return
    scaler.step(optimizer)
    scaler.update(scaler.get_scale() if fault == "no update" else None)


# %% explore=true
def run_with(fault):
    """Return the validation accuracy after six epochs with a fault."""
    net, optimizer = new_reader(0, lr=0.01, momentum=0.0)
    scaler, order = new_scaler(torch.float16), torch.Generator().manual_seed(0)
    for _ in range(6):
        for some in torch.randperm(len(x_train), generator=order).split(16):
            x, y = x_train[some], y_train[some]
            faulty_step(net, optimizer, scaler, x, y, fault)
    return accuracy(net, x_validation, y_validation)


right = run_with("none")
print(f"{'none':16} {right:.1%}")
faults = ("clips first", "never unscales", "no update", "keeps gradients")
for fault in faults:
    found = run_with(fault)
    away = 100 * (round(found, 3) - round(right, 3))  # as printed
    print(f"{fault:16} {found:.1%}, {away:+.1f} points")

# %% [markdown]
# * *Clips first*: the scaled norm is cut down to 1, and then divided by 65,536. Nothing moves.
# * *Never unscales*: the same cut leaves a gradient of length 1, always.
#   It learns, but the rate means something else, and an infinity would not be skipped.
# * *No update*: harmless as long as nothing overflows.
#   When gradients outgrow the scale, it never comes down, and in the end all steps are skipped.
# * *Keeps gradients*: the old gradients, unscaled already, are divided by 65,536 once more, which hides them.
#   Change to bfloat16, where there is no scale, and the fault is back: a momentum that you did not set.
#
# So look at the scale, too, and at the length of the steps.

# %% [markdown]
# ## Your result card
#
# Three seeds give a mean and a spread of the share of updates
# that float16 weights lose without a master copy.

# %% explore=true
more = [
    train(torch.float16, DynamicLossScaler(), NoMaster, seed=seed)
    for seed in (1, 2)
]
lost = [
    run["updates lost"] for run in (runs["no master weights"], *more)
]  # seeds 0, 1, 2
result_card(
    "float16 weights without a float32 master copy lose updates",
    sum(lost) / len(lost),
    n=len(lost),
    spread=float(torch.tensor(lost).std()),
    source="A: compute gradients in FP16 but keep the weights in FP32",
    lab="07_mixed_precision",
)

# %% [markdown]
# ## What you take along
#
# * 16 bits for what is multiplied and moved: weights' copies, activations, gradients. 32 bits for what is added up:
#   master weights, optimiser state, sums, normalisation, loss.
# * float16 lacks range: scale the loss, look for infinities, skip, unscale before you clip.
# * bfloat16 lacks digits: no scale, but master weights all the more.
# * A first test at a large rate does not show lost updates. Count them.
# * Mixed precision halves activations, not the memory of weights and optimiser.
# * Eight bits need the same three things, and a scale for each tensor or block.
#
# The next lab goes below eight bits, on disk: most weights go, and the others share a few values.
