# %% [markdown]
# # 03. Number formats
#
# **What is lost with 16, 8 or 4 bits?**
# A number is a pattern of bits with a rule that says what it means.
# Fewer bits mean less memory, traffic and energy, and more numbers in one instruction.
# They also mean that most numbers are no longer there, and something has to be put in their place.
# Here you write the rules of several formats, compare them bit by bit with NumPy's and PyTorch's,
# and measure what each costs a trained network.

# %% [markdown]
# | | |
# |---|---|
# | Prerequisites | NumPy, binary numbers; lab 01 or its equivalent |
# | Time | about 5 hours |
# | Points | 20: 16 from checks, 4 from two written answers |
# | Hardware | two CPU cores; with a GPU, one cell near the end times narrow products there |

# %% [markdown]
# ## How this notebook works
#
# Each task asks for one or two functions: replace the line that raises `NotImplementedError`, keep names and arguments.
# Then run the look cell and the check below it, and read the first case that fails.
# Hidden cases test what the text promises, with other numbers, when your work is graded. No check looks at a clock.
# Your functions must not change their arguments.
# Return a new array each time, never one that an earlier call has returned.
#
# Cells that begin with `# explore` are yours to change and are not run then:
# a helper or an import that a task needs belongs in the task's cell, and your own plots are read as saved.

# %% nbgrader={"grade_id": "setup", "locked": true}
import numpy as np
import torch

from labkit import check, compare, device, load, plot, result_card

torch.set_num_threads(1)
digits = load("digits")
print(digits)

# %% [markdown]
# ### Who eats the ones?
#
# Begin at 0 and add 1, again and again. How far does the sum come in float32, in float16, in bf16? Guess, then run.

# %% explore=true
for kind in (torch.float32, torch.float16, torch.bfloat16):
    total, one = torch.zeros((), dtype=kind), torch.ones((), dtype=kind)
    ones = 0
    while ones < 5000 and total + one != total:
        total, ones = total + one, ones + 1
    end = (
        "and goes on" if ones == 5000 else "and stays there, whatever is added"
    )
    print(f"{kind}: after {ones} ones the sum is {total.item():g} {end}")

# %% [markdown]
# No error is raised: the next number is simply not there.
# A loss summed over a data set, a mean over pixels, a counter of steps are such sums.

# %% [markdown]
# ### Task 1. Predict (1 point)
#
# Commit to three numbers before you measure them; the point is for writing them down.
#
# * `"finite"`: how many of the 65,536 codes of float16 are finite numbers.
# * `"int8"`: how many times as fast as in float32
#   this CPU multiplies two 512 x 512 matrices of 8-bit integers, with PyTorch's `torch._int_mm` (0.5 means half as fast).
# * `"outlier"`: a matrix of 64 columns is stored in 8-bit integers, first with one scale (the step between neighbouring integers) for each column,
#   then with one scale for all. One column is 100 times as large as the others.
#   By which factor does the error of the *others* grow?
#
# `predictions()` returns a dictionary with these three keys and a finite number above 0 for each, the same in each call. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return a count of at most 65,536 and two ratios, each above 0."""
    ### BEGIN SOLUTION
    return {"finite": 65_000, "int8": 4.0, "outlier": 100.0}
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "three predictions",
    hint=(
        "which three keys does the text name, and is each of them there once?"
    ),
):
    check.equal(sorted(predictions()), ["finite", "int8", "outlier"])
with check.case(
    "each is above 0", hint="is each above 0? 0.5 means half as fast, 2 twice"
):
    for name in ("finite", "int8", "outlier"):
        check.at_least(predictions()[name], 1e-9, name=name)
with check.case(
    "there are 65,536 codes",
    hint="is it a count, not a share, and at most all of them?",
):
    check.at_most(predictions()["finite"], 65_536, name="finite")
    check.at_least(predictions()["finite"], 1, name="finite")
with check.case(
    "the same in each call", hint="commit: draw nothing", guard=True
):
    check.equal(predictions(), predictions(), name="two calls")
check.score(1)

# %% [markdown]
# ## A number in binary scientific notation
#
# ![Five bars of bits. FP16: 1 sign, 5 exponent, 10 fraction bits. bf16: 1, 8, 7. E5M2: 1, 5, 2. E4M3: 1, 4, 3. E2M1: 1, 2, 1.](figures/formats.svg)
#
# A floating-point number is $\pm\, 1.f \times 2^{e}$: a sign, a fraction, a power of **two**.
# (Source A, a lecture, says a power of ten. Then 0.1 would be exact.)
# With $p$ bits of fraction there are $2^p$ numbers between a power of two and the next,
# equally far apart; one power higher they lie twice as far apart.
# Bits of exponent buy range, bits of fraction buy digits.

# %% [markdown]
# ### Task 2. Decode (3 points)
#
# From left to right a code has one sign bit, `exponent` bits $E$ and `mantissa` bits $M$, those of the fraction.
# With the bias $b = 2^{\mathtt{exponent}-1} - 1$ its value is
#
# $$\pm\,(1 + M/2^{\mathtt{mantissa}})\, 2^{E-b} \quad\text{if } E > 0, \qquad
# \pm\,(M/2^{\mathtt{mantissa}})\, 2^{1-b} \quad\text{if } E = 0.$$
#
# The second kind, *subnormal*, fills the gap between 0 and $2^{1-b}$ evenly.
# Without it, two different numbers could have a difference of 0.

# %% [markdown]
# What the largest $E$ (all ones) means depends on `specials`:
#
# * `"ieee"`: $\pm\infty$ if $M = 0$, else NaN (FP16, bf16, E5M2);
# * `"nan"`: NaN if $M$ is all ones too; all others are ordinary numbers (E4M3);
# * `"none"`: all are ordinary numbers (E2M1).
#
# `decode(codes, exponent, mantissa, specials)` takes an array of one or more axes and any integer dtype, `uint8` too,
# whose entries are at least 0 and have no bits above the sign.
# It returns their values, exactly, as an array of floats of the same shape; the sign of a zero is kept.
#
# In E4M3 the code `0 0111 100` is $1.5$, `1 0000 001` is $-2^{-9}$ and `0 1111 110` is 448.
# About 12 lines; what comes out is compared with NumPy's and PyTorch's own below.

# %% nbgrader={"grade_id": "formats", "locked": true}
# Bits of exponent, bits of mantissa, meaning of the largest exponent.
FORMATS = {
    "FP16": (5, 10, "ieee"),
    "bf16": (8, 7, "ieee"),
    "E5M2": (5, 2, "ieee"),
    "E4M3": (4, 3, "nan"),
    "E2M1": (2, 1, "none"),
}


# %% nbgrader={"grade_id": "decode", "solution": true}
def decode(
    codes: np.ndarray, exponent: int, mantissa: int, specials: str
) -> np.ndarray:
    """Return the values of codes, an array of the same shape."""
    ### BEGIN SOLUTION
    codes = codes.astype(np.int64)  # uint8 would overflow
    m = codes % 2**mantissa
    e = codes // 2**mantissa % 2**exponent
    negative = codes // 2 ** (exponent + mantissa) == 1
    low = 2.0 ** (2 - 2 ** (exponent - 1) - mantissa)
    step = low * 2.0 ** np.maximum(e - 1, 0)
    value = np.where(e > 0, 2**mantissa + m, m) * step
    if specials == "ieee":
        special = np.where(m == 0, np.inf, np.nan)
        value = np.where(e == 2**exponent - 1, special, value)
    if specials == "nan":
        ones = 2 ** (exponent + mantissa) - 1
        value = np.where(codes % (ones + 1) == ones, np.nan, value)
    return np.where(negative, -value, value)
    ### END SOLUTION


# %% explore=true
def all_values(name):
    """Return the values of all codes of a format, by your decode."""
    exponent, mantissa, specials = FORMATS[name]
    codes = np.arange(2 ** (1 + exponent + mantissa))
    return decode(codes, exponent, mantissa, specials)


print("format   codes   finite      smallest > 0     largest   next after 1")
for name in FORMATS:
    values = all_values(name)
    real = values[np.isfinite(values)]
    above = real[real > 0]
    step = above[above > 1].min() - 1
    print(
        f"{name:6}{len(values):8,}{len(real):9,}{above.min():18.4g}"
        f"{above.max():12.5g}   1 + {step:g}"
    )
print(f"you predicted {predictions()['finite']:,} finite codes of FP16")
print(
    "a tenth is no finite sum of powers of two: "
    f"in FP16 it is {np.float16(0.1):.7f}"
)

# %% [markdown]
# Of FP16's $2^{16}$ codes $2 \cdot 2^{10}$ are infinities or NaN, and two of the others are both zero.
# (Source A says that as many points are representable as there are codes.)
# E2M1 has no infinity: with 16 codes in all one cannot afford that.
# What is too large has to *saturate*, which means that it becomes the largest number.
#
# And who ate the ones? With $p$ bits of fraction the numbers above $2^{p+1}$ are 2 apart.
# One more is a tie, and goes back: at 2048 in FP16, at 256 in bf16. Where would float32 stop?


# %% explore=true
def compare_bits(name, theirs):
    """Count the codes whose value is the library's, NaN included."""
    mine = all_values(name)
    same = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
    same &= np.isnan(mine) | (np.signbit(mine) == np.signbit(theirs))
    print(f"{name}: {same.sum():,} of {len(mine):,} codes agree")


sixteen, eight = np.arange(2**16), np.arange(2**8)
compare_bits("FP16", sixteen.astype(np.uint16).view(np.float16))
bits = torch.tensor(sixteen.astype(np.uint16).view(np.int16))
compare_bits("bf16", bits.view(torch.bfloat16).double().numpy())
bits = torch.tensor(eight.astype(np.uint8))
for name, dtype in {"E5M2": "float8_e5m2", "E4M3": "float8_e4m3fn"}.items():
    theirs = bits.view(getattr(torch, dtype)).double().numpy()
    compare_bits(name, theirs)

# %% [markdown]
# ### Every value of each format
#
# How far does each format reach (subnormals are paler)? In the two pictures below that, each line is one number,
# on a logarithmic axis and on an ordinary one, where integers have a row, too.

# %% explore=true
import matplotlib.pyplot as plt


def draw_reach(ax):
    """Draw from the smallest number to the largest, on a log axis."""
    for row, (name, (exponent, _, _)) in enumerate(FORMATS.items()):
        values = all_values(name)
        values = values[np.isfinite(values) & (values > 0)]
        normal, look = 2.0 ** (2 - 2 ** (exponent - 1)), plot.PALETTE[row]
        ax.hlines(row, values.min(), normal, look, lw=11, alpha=0.4)
        ax.hlines(row, normal, values.max(), look, lw=11)
        ends = f"  {len(values):,} numbers, up to {values.max():.5g}"
        ax.text(2.0**130, row, ends, va="center", fontsize=9)
    ax.set_xscale("log", base=2)
    ax.set_xlim(2.0**-140, 2.0**230)
    ax.set_xticks([2.0**k for k in (-133, -100, -50, 0, 50, 100, 128)])


def draw_lines(ax, formats, low, high, most=300):
    """Draw each number from low to high as a line, or say how many."""
    for row, every in enumerate(formats.values()):
        look = plot.PALETTE[row]
        values = every[(every >= low) & (every <= high)]
        if len(values) <= most:
            ax.vlines(values, row - 0.38, row + 0.38, look, lw=1)
            continue
        ax.hlines(row, values.min(), high, look, lw=14, alpha=0.25)
        words = f"{len(values):,} lines, too close to draw"
        middle = np.sqrt(low * high) if low < 0.1 else (low + high) / 2
        ax.text(middle, row, words, ha="center", va="center", fontsize=9)


# %% explore=true
rows = plot.panels(3, stacked=True)
draw_reach(rows[0])
floats = {name: all_values(name) for name in FORMATS}
draw_lines(rows[1], floats, 2.0**-10, 8.0)
rows[1].set_xscale("log", base=2)
formats = floats | {"int8 / 32": np.arange(1, 128) / 32}
draw_lines(rows[2], formats, 0.5, 4)
titles = (
    "How far the positive numbers reach, logarithmic",
    "Every value from 2^-10 to 8, logarithmic",
    "Every value from 0.5 to 4, linear",
)
for ax, title in zip(rows, titles, strict=True):
    names = formats if ax is rows[2] else floats
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %% [markdown]
# Seen logarithmically a floating-point format is a comb that is even but for a factor of two, as wide as its exponent allows.
# bf16 reaches as far up as a float32, FP16 hardly further than E5M2, which has as many bits of exponent.
# At the left end the teeth move apart: these are the subnormals, evenly spaced.
# An integer format is even on the linear axis: the last row is int8 in steps of 1/32.
# Which is better depends on how your numbers are spread.

# %% nbgrader={"grade_id": "decode-check", "grade": true, "points": 3}
import numpy as np

from labkit import check

ONE, TINY, TOP = 0b0_0111_100, 0b1_0000_001, 0b0_1111_110
with check.case(
    "the worked example",
    hint=(
        "is each field right: sign, E and M? then: which formula holds "
        "where E > 0, with which bias?"
    ),
    more="remainder and quotient by powers of two cut fields out",
):
    got = decode(np.array([ONE, TINY, TOP]), 4, 3, "nan")
    check.close(got, [1.5, -(2.0**-9), 448.0], rtol=0, name="E4M3")
with check.case(
    "zero and subnormals",
    hint=(
        "E = 0: is there a leading 1, which exponent holds, and what is"
        " M divided by?"
    ),
):
    got = decode(np.array([[0, 1], [2, 3]]), 2, 1, "none")
    check.close(got, [[0, 0.5], [1, 1.5]], rtol=0, name="E2M1")
with check.case(
    "codes of dtype uint8",
    hint=(
        "do sums and shifts fit into uint8, or negative exponents? "
        "which type do you compute in?"
    ),
    more="the exponent minus the bias may be negative",
):
    some = np.array([0x01, 0x3C, 0x7B, 0x84, 0xC0], np.uint8)
    want = [2.0**-16, 1.0, 57344.0, -(2.0**-14), -2.0]
    check.close(decode(some, 5, 2, "ieee"), want, rtol=0, name="E5M2")
with check.case(
    "the largest exponent",
    hint=(
        "E all ones: what does `specials` make of it, for which M, and "
        "with which sign?"
    ),
):
    top = np.array([0x7C, 0x7D, 0x7F, 0xFC])
    want = np.array([np.inf, np.nan, np.nan, -np.inf])
    check.equal(decode(top, 5, 2, "ieee"), want, name="E5M2")
    got = decode(np.array([0x78, 0x7E, 0x7F]), 4, 3, "nan")
    check.equal(got, np.array([256.0, 448.0, np.nan]), name="E4M3")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "every code of FP16, as NumPy reads it",
    hint=(
        "all codes of 16 bits, NaN and both signs: compare with NumPy's"
        " float16: which is the first code?"
    ),
    essential=True,
):
    codes = np.arange(2**16, dtype=np.uint16)
    want = codes.view(np.float16).astype(np.float64)
    check.equal(decode(codes, 5, 10, "ieee"), want, name="FP16")
with check.hidden_case(
    "codes in any order, some of them more than once",
    hint=(
        "codes in any order, some twice: does every entry get its own "
        "value, in its place?"
    ),
):
    codes = np.array([0x38, 0x7E, 0x38, 0x01, 0x38, 0x01, 0xC0], np.uint8)
    want = [1.0, 448.0, 1.0, 2.0**-9, 1.0, 2.0**-9, -2.0]
    check.equal(decode(codes, 4, 3, "nan"), np.array(want), name="E4M3")
with check.hidden_case(
    "every code of bf16: a float32 whose lower half is zero",
    hint=(
        "very large and very small exponents: is each power of two "
        "exact, or infinite or 0 on the way?"
    ),
):
    codes = np.arange(2**16, dtype=np.uint16)
    wide = codes.astype(np.uint32) << 16
    want = wide.view(np.float32).astype(np.float64)
    check.equal(decode(codes, 8, 7, "ieee"), want, name="bf16")
with check.hidden_case(
    "every code of both 8-bit formats, and of E2M1",
    hint=(
        "all codes of 8 and 4 bits: which are NaN or infinite, in each "
        "format, and what of both signs?"
    ),
):
    codes = np.arange(256, dtype=np.uint8)
    want = (codes.astype(np.uint16) << 8).view(np.float16).astype(float)
    check.equal(decode(codes, 5, 2, "ieee"), want, name="E5M2")
    half = [k * 2.0**-9 for k in range(8)]
    half += [(8 + k) * 2.0**e for e in range(-9, 6) for k in range(8)]
    want = np.array([*half[:-1], np.nan])
    got = decode(codes, 4, 3, "nan")
    check.equal(got, np.concatenate([want, -want]), name="E4M3")
    want = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    got = decode(codes[:16], 2, 1, "none")
    check.equal(got, np.concatenate([want, -want]), name="E2M1")
with check.hidden_case(
    "formats that have no name here",
    hint=(
        "other widths, no mantissa bit too: is any width, bias or mask "
        "fixed? where is the sign bit?"
    ),
):
    got = decode(np.array([1, 7, 8, 31, 63]), 2, 3, "none")
    check.close(got, [0.125, 0.875, 1, 7.5, -7.5], rtol=0, name="E2M3")
    got = decode(np.array([1, 4, 30, 31, 63]), 3, 2, "nan")
    want = np.array([0.0625, 0.25, 24.0, np.nan, np.nan])
    check.equal(got, want, name="E3M2")
    got = decode(np.array([1, 6, 7, 15]), 3, 0, "ieee")
    want = np.array([0.25, 8.0, np.inf, -8.0 * np.inf])
    check.equal(got, want, name="E3M0")
with check.hidden_case(
    "the same widths with another meaning of the largest exponent",
    hint=(
        "the same codes and widths, another `specials`: does it decide "
        "in this call?"
    ),
):
    for specials, last in (("nan", 448.0), ("ieee", np.nan), ("none", 448.0)):
        got = decode(np.array([0x7E, 0x38]), 4, 3, specials)
        check.equal(got, np.array([last, 1.0]), name=f"{specials!r}")
with check.hidden_case(
    "the sign of a zero is kept",
    hint=(
        "zeros of both signs: is the sign put on by a product, a "
        "comparison or a copy?"
    ),
):
    got = decode(np.array([0x00, 0x80]), 4, 3, "nan")
    check.equal(np.signbit(got), np.array([False, True]), name="sign bits")
with check.hidden_case(
    "any shape; the codes and an earlier result stay as they were",
    hint=(
        "three axes, of length 1 too, and no code: is the shape kept? "
        "is codes, or an earlier result, changed?"
    ),
    guard=True,
):
    codes = np.array([[[0x38, 0x40, 0xC0]]], np.int16)
    with check.unchanged(codes=codes):
        got = decode(codes, 4, 3, "nan")
    check.shape(got, (1, 1, 3), name="values")
    decode(codes + 1, 4, 3, "nan")
    check.close(got, [[[1.0, 2.0, -2.0]]], name="the first of two results")
    got = decode(np.zeros((0, 2), np.uint8), 4, 3, "nan")
    check.shape(got, (0, 2), name="values of no code")
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Task 3. Round to bfloat16 (2 points)
#
# bf16 is the upper half of a float32.
# Cutting off the lower half would always move a number towards 0.
# *Round to nearest* takes the closer neighbour, and a tie goes to the *even* one, whose last bit is 0:
# up as often as down, so that errors of a long sum cancel.
#
# Codes of one sign are ordered as the magnitudes of their values are.
# So adding to the *bits* of a float32 moves its magnitude up, from one power of two to the next without a special case,
# and in the end to infinity: there rounding is an integer addition.

# %% [markdown]
# `round_to_bfloat16(x)` takes a float32 array of any shape
# and returns an array of dtype `uint16`, of the same shape: the codes of the nearest bf16 numbers.
#
# * Ties go to the even code.
# * What is nearer to $2^{128}$ than to the largest number becomes infinite, as IEEE 754 asks; so does the tie between the two.
# * Infinities stay. NaN becomes a NaN, whichever: there the addition needs help.
#
# $1 + 2^{-8}$ is a tie between the codes `0x3F80` and `0x3F81` and becomes `0x3F80`;
# $1 + 3 \cdot 2^{-8}$ becomes `0x3F82`.
# About 4 lines of integer arithmetic on `x.view(np.uint32)`.


# %% nbgrader={"grade_id": "round-to-bfloat16", "solution": true}
def round_to_bfloat16(x: np.ndarray) -> np.ndarray:
    """Return the bf16 codes, dtype uint16, nearest to float32 numbers."""
    ### BEGIN SOLUTION
    bits = x.view(np.uint32)
    odd = (bits >> 16) & 1
    nearest_even = (bits + 0x7FFF + odd) >> 16
    return np.where(np.isnan(x), 0x7FC0, nearest_even).astype(np.uint16)
    ### END SOLUTION


# %% explore=true
draw = np.random.default_rng(0)
some = draw.uniform(1, 2, 100_000).astype(np.float32)
kept = {
    "cut off": some.view(np.uint32) >> 16,
    "rounded, yours": round_to_bfloat16(some),
}
for name, codes in kept.items():
    off = (decode(codes, *FORMATS["bf16"]) - some) * 128
    print(
        f"{name:15} mean error {off.mean():+.4f}, largest "
        f"{np.abs(off).max():.3f}, in units of the last bit"
    )
x = np.linspace(1, 1 + 5 / 128, 401).astype(np.float32)
steps = {"float32": (x, x)}
for name, codes in {
    "cut off": x.view(np.uint32) >> 16,
    "rounded, yours": round_to_bfloat16(x),
}.items():
    steps[name] = (x, decode(codes, *FORMATS["bf16"]))
plot.curves(steps, xlabel="float32", ylabel="bf16", title="Five steps of bf16")

# %% [markdown]
# Cutting off errs by half a unit on average, always in the same direction:
# in a sum of $n$ such numbers that bias grows like $n$, the errors of rounding like $\sqrt n$.

# %% nbgrader={"grade_id": "round-to-bfloat16-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

F = np.float32


def check_codes(got, want, dtype=""):
    """Compare codes, and say those that differ as the text writes them."""
    check.shape(got, np.shape(want), name="codes")
    there, here = (
        [
            f"0x{int(code):04X}" if code % 1 == 0 else str(code)
            for code in np.ravel(codes).tolist()
        ]
        for codes in (got, want)
    )
    check.equal(there, here, name="codes")
    check.close(got, want, rtol=0, dtype=dtype, name="codes")


with check.case(
    "the worked example, and its negatives",
    hint=(
        "what is added before the lower half is cut off, when the last "
        "bit is 0, and when 1? what of signs?"
    ),
    more="add a little less than half, and one more where the code is odd",
):
    pair = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8], F)
    got = round_to_bfloat16(np.concatenate([pair, -pair]))
    want = [0x3F80, 0x3F82, 0xBF80, 0xBF82]
    check_codes(got, want, "uint16")
with check.case(
    "the nearest of the two neighbours",
    hint=(
        "the lower half: less, exactly or more than a half? is it "
        "compared with all its bits?"
    ),
):
    some = np.array([1 + 2.0**-9, 1 + 2.0**-8 + 2.0**-20, 1.9999], F)
    got = round_to_bfloat16(some)
    check_codes(got, [0x3F80, 0x3F81, 0x4000])
with check.case(
    "what is exact stays",
    hint=(
        "lower half 0: does anything change, in zeros, signs or shape? "
        "which dtype comes back?"
    ),
):
    some = np.array([[0.0, -0.0], [-2.0, 2.0**-133]], F)
    want = [[0, 0x8000], [0xC000, 1]]
    check_codes(round_to_bfloat16(some), want)
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "as PyTorch rounds, for floats of every size",
    hint=(
        "random bits, two axes: does the addition overflow? compare "
        "with torch's bfloat16: where first?"
    ),
    essential=True,
):
    import torch

    bits = np.random.default_rng(5).integers(0, 2**32, 40_000)
    some = bits.astype(np.uint32).view(F)
    some = some[~np.isnan(some)][:39_000].reshape(4, -1)
    want = torch.tensor(some).bfloat16().view(torch.int16).numpy()
    got = round_to_bfloat16(some)
    check.close(got, want.view(np.uint16), rtol=0, name="codes")
with check.hidden_case(
    "all ties go to the even code",
    hint=("ties in every octave: which bit decides, and which code is even?"),
):
    bits = np.arange(0, 2**31 - 2**24, 2**16 * 7, np.uint32) + 2**15
    want = bits // 2**16 + bits // 2**16 % 2
    got = round_to_bfloat16(bits.view(F))
    check.close(got, want, rtol=0, name="codes")
with check.hidden_case(
    "too large is infinite, and infinity stays",
    hint=(
        "beyond the largest, and infinity: what does the addition give "
        "there, with either sign?"
    ),
):
    ends = np.array([3.4028235e38, -3.4028235e38, 3.39e38, np.inf, -np.inf], F)
    want = [0x7F80, 0xFF80, 0x7F7F, 0x7F80, 0xFF80]
    check.close(round_to_bfloat16(ends), want, rtol=0, name="codes")
with check.hidden_case(
    "NaN stays NaN, whatever its bits are",
    hint=(
        "NaN of all kinds: what does the addition make of its bits? are"
        " the others untouched?"
    ),
):
    odd = [0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000, 0xFF800100]
    got = round_to_bfloat16(np.array(odd, np.uint32).view(F))
    kept = np.asarray(got).astype(int) % 2**15
    check.at_least(kept.min(), 0x7F81, name="smallest code without its sign")
    got = round_to_bfloat16(np.array([np.nan, 1.0, np.nan], F))
    check.close(got[1], 0x3F80, rtol=0, name="code of 1 between two NaN")
with check.hidden_case(
    "one row, one column",
    hint=("one row, one column, three axes: do the codes keep the shape of x?"),
    weight=0.5,
):
    some = np.array([1.5, -2.0, 0.25], F)
    want = some.view(np.uint32) >> 16
    for shape in ((1, 3), (3, 1), (1, 3, 1)):
        got = round_to_bfloat16(some.reshape(shape))
        check.close(got, want.reshape(shape), name="codes")
with check.hidden_case(
    "other orders in memory, no number; x and an earlier result stay",
    hint=(
        "transposed, empty: can x be viewed as it lies? is x, or an "
        "earlier result, written to?"
    ),
    guard=True,
):
    some = np.arange(12, dtype=F).reshape(3, 4)
    with check.unchanged(x=some):
        got = round_to_bfloat16(some)
    want = some.view(np.uint32) >> 16  # small integers are exact
    round_to_bfloat16(some + 1)
    check.close(got, want, name="the first of two results")
    check.close(round_to_bfloat16(some.T), want.T, name="codes, transposed")
    check.shape(round_to_bfloat16(np.zeros((0, 3), F)), (0, 3), name="none")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## Fixed point, and rounding by chance
#
# ### Task 4. Fixed point (3 points)
#
# Put an imaginary point into an integer: in $Qm.n$ the integer $c$ stands for $c / 2^n$.
# It has a sign, $m$ bits before the point and $n$ after it,
# so $c$ lies between $-2^{m+n}$ and $2^{m+n} - 1$. What lies outside *saturates*: it becomes the end of that range.

# %% [markdown]
# Rounding to the nearest loses every update smaller than half a step.
# *Stochastic rounding* (Gupta et al. 2015) rounds 2.3 up to 3 with probability 0.3, and else down to 2.
# Each result is worse, but its expectation is exactly 2.3: sums stay right.

# %% [markdown]
# `to_fixed(x, m, n, draw=None)` takes an array of float32 or float64 numbers, of any shape, infinite ones too,
# and returns the codes, an array of dtype `int32` and x's shape; $m + n$ is at most 31.
#
# * Without `draw` it rounds to the nearest code, a tie to the even one.
# * With a generator `draw` it rounds down, and up where `draw.random(x.shape)`, drawn once,
#   is less than the fraction that is cut off, $x \cdot 2^n - \lfloor x \cdot 2^n \rfloor$.
#   So each entry goes up by a chance of its own, and what is exact stays.
# * What is out of range saturates, infinity too, drawn or not: it has no fraction. (Not every `int32` is a float32.)
#
# In Q2.5 the number $1.3$ becomes $42$ (as $41.6$ is nearest to it) and $-9$ becomes $-128$.
# About 6 lines, no loop.


# %% nbgrader={"grade_id": "to-fixed", "solution": true}
def to_fixed(
    x: np.ndarray, m: int, n: int, draw: np.random.Generator | None = None
) -> np.ndarray:
    """Return Qm.n codes, dtype int32; with draw, rounded by chance."""
    ### BEGIN SOLUTION
    scaled = x.astype(np.float64) * 2.0**n
    most = 2.0 ** (m + n)
    scaled = np.clip(scaled, -most, most - 1)  # infinity has no fraction
    if draw is None:
        return np.rint(scaled).astype(np.int32)
    low = np.floor(scaled)
    up = draw.random(x.shape) < scaled - low
    return (low + up).astype(np.int32)
    ### END SOLUTION


# %% nbgrader={"grade_id": "one-after-the-other", "locked": true}
def one_after_the_other(arrays, m, n, seed):
    """Return the codes of several arrays, by chance, of one generator."""
    draw = np.random.default_rng(seed)
    return [to_fixed(x, m, n, draw) for x in arrays]


# %% explore=true
def many_updates(step, draw=None, runs=1, count=3000):
    """Add step again and again to Q2.5 numbers; shape (count, runs)."""
    value, seen = np.zeros(runs), []
    for _ in range(count):
        value = to_fixed(value + step, 2, 5, draw) / 2**5
        seen.append(value)
    return np.array(seen)


updates, draw = 0.001, np.random.default_rng(0)
by_chance = many_updates(updates, draw, runs=200)
exact = np.arange(1, 3001) * updates
mean = "mean of 200 runs"
plot.curves(
    {
        "exact": exact,
        mean: by_chance.mean(axis=1),
        "one of these runs": by_chance[:, 0],
        "to the nearest": many_updates(updates)[:, 0],
    },
    spread={mean: np.percentile(by_chance, [5, 95], axis=1)},
    xlabel="update",
    ylabel="value",
    title=f"3000 updates of {updates} in Q2.5, rounded by you",
)
for count in (300, 3000):
    off = by_chance[count - 1].std() * 2**5
    share = off / 2**5 / exact[count - 1]
    print(f"after {count}: the runs spread by {off:.1f} steps, {share:.0%}")

# %% [markdown]
# One step of Q2.5 is $2^{-5}$, some thirty updates.
# To the nearest, every one of them is rounded away, and nothing is ever learned.
# By chance, the mean of many runs follows the exact line
# (the band holds the middle 90 % of them); one run may stay on one side for a thousand updates.
# Its spread grows like $\sqrt k$ after $k$ updates, the sum like $k$: compare the two printed lines.

# %% nbgrader={"grade_id": "to-fixed-check", "grade": true, "points": 3}
import numpy as np

from labkit import check

with check.case(
    "the worked example",
    hint=(
        "by what is x scaled, how is it rounded, where does it saturate"
        " at both ends? which type?"
    ),
):
    got = to_fixed(np.array([1.3, -9.0]), 2, 5)
    check.close(got, [42, -128], rtol=0, dtype="int32", name="Q2.5 codes")
with check.case(
    "to the nearest, also below 0, a tie to the even code",
    hint=(
        "negative numbers and ties: to the nearest, or towards 0, or "
        "always up? where does a tie go?"
    ),
):
    some = np.array([[0.5, 1.5, 2.5], [-0.5, -1.7, -2.2]])
    want = [[0, 2, 2], [0, -2, -2]]
    check.close(to_fixed(some, 7, 0), want, rtol=0, name="Q7.0 codes")
with check.case(
    "both ends saturate",
    hint=(
        "large and infinite numbers: what are the two ends, and is it "
        "clipped before it becomes an integer?"
    ),
):
    some = np.array([3.99, 4.0, 100.0, np.inf, -4.0, -4.1, -np.inf])
    want = [127, 127, 127, 127, -128, -128, -128]
    check.close(to_fixed(some, 2, 5), want, rtol=0, name="Q2.5 codes")
with check.case(
    "by chance, each entry by itself, and right on average",
    hint=(
        "down first; then which random number is less than what, entry "
        "by entry? how often does it go up?"
    ),
    more="a random number is below 0.3 in three cases of ten",
    essential=True,
    weight=2,
):
    # Five standard deviations of a mean of 20,000 draws: 0.016 at most.
    for value in (0.3, 2.9, -1.25):
        codes = np.asarray(
            to_fixed(np.full(20_000, value), 3, 0, np.random.default_rng(2))
        )
        low = np.floor(value)
        check.equal(
            sorted(set(codes.tolist())),
            [int(low), int(low) + 1],
            name=f"codes that occur for {value}",
        )
        check.close(codes.mean(), value, rtol=0, atol=0.017, name="mean")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "by chance, too, what is exact stays",
    hint=(
        "exact numbers, of both signs: what is cut off, and does "
        "anything go up then?"
    ),
):
    some = np.repeat([[-2.0, -0.5, 0.0, 0.25, 1.75]], 400, axis=0)
    got = to_fixed(some, 3, 2, np.random.default_rng(3))
    check.close(got, 4 * some, rtol=0, dtype="int32", name="Q3.2 codes")
with check.hidden_case(
    "by chance, too, it saturates, after rounding",
    hint=(
        "near and beyond both ends, by chance: is it clipped after "
        "rounding, and has infinity a fraction?"
    ),
):
    some = np.repeat([[3.99, 40.0, -4.0, -50.0, np.inf]], 300, axis=0)
    got = to_fixed(some, 2, 5, np.random.default_rng(4))
    check.at_most(np.asarray(got).max(), 127, name="largest code")
    check.close(got[:, 1:], [[127, -128, -128, 127]] * 300, name="codes")
with check.hidden_case(
    "it goes up where the drawn number is less than the fraction",
    hint=(
        "which number is drawn, in which shape, and which side of which"
        " comparison? is anything rounded?"
    ),
):
    some = np.random.default_rng(5).uniform(-3, 3, (40, 50))
    for seed, n in ((6, 4), (7, 0)):
        drawn = np.random.default_rng(seed).random((40, 50))
        low = np.floor(some * 2**n)
        want = low + (drawn < some * 2**n - low)
        got = to_fixed(some, 2, n, np.random.default_rng(seed))
        check.close(got, want, rtol=0, name=f"Q2.{n} codes")
        some[::2, ::3] = np.floor(some[::2, ::3])  # draws, and stays
    same = np.random.default_rng(8).random(50)  # equal is not less
    got = to_fixed(same, 2, 0, np.random.default_rng(8))
    check.close(got, np.zeros(50), rtol=0, name="codes of the same numbers")
    got = to_fixed(same * (1 + 1e-9), 2, 0, np.random.default_rng(8))
    check.close(got, np.ones(50), rtol=0, name="codes of larger numbers")
with check.hidden_case(
    "a generator goes on from where the call before has left it",
    hint=(
        "two calls, one generator: is it made anew, or asked more than "
        "once, or in another shape?"
    ),
):
    pair = [np.full(30, 0.5), np.full((2, 15), 0.5)]
    drawn = np.random.default_rng(10).random(60)
    got = one_after_the_other(pair, 3, 0, 10)
    want = [drawn[:30] < 0.5, (drawn[30:] < 0.5).reshape(2, 15)]
    for number, each in enumerate(want):
        title = f"codes of array {number}"
        check.close(got[number], each.astype(int), rtol=0, name=title)
with check.hidden_case(
    "small chances, in other formats",
    hint=(
        "small numbers, many bits: the fraction of which number is the chance?"
    ),
):
    # 0.0009 in Q0.7: 0.1152 of a step; five standard deviations are 0.008.
    codes = to_fixed(np.full(40_000, 9e-4), 0, 7, np.random.default_rng(9))
    mean = np.asarray(codes).mean()
    check.close(mean, 0.1152, rtol=0, atol=0.009, name="mean code")
with check.hidden_case(
    "31 bits, from float32 as well",
    hint=(
        "31 bits, from float32: in which type is it scaled and clipped,"
        " and do both ends fit?"
    ),
):
    some = np.array([1.0, -1.0, 0.5 + 2.0**-24, 2.0**-31], np.float32)
    want = [2**31 - 1, -(2**31), 2**30 + 128, 1]
    check.close(to_fixed(some, 0, 31), want, rtol=0, name="Q0.31 codes")
    check.close(to_fixed(np.array([2.0**-30]), 0, 31), [2], name="code")
with check.hidden_case(
    "any shape; x and an earlier result stay as they were",
    hint=(
        "three axes, none, several calls: is the shape kept? is x, or "
        "an earlier result, written to?"
    ),
    guard=True,
):
    some = np.array([[[1.26], [-1.26]]])
    with check.unchanged(x=some):
        got = to_fixed(some, 4, 2)
        to_fixed(some, 4, 2, np.random.default_rng(1))
        other = to_fixed(-some, 4, 2)
    check.close(got, [[[5], [-5]]], name="the first of three results")
    check.close(other, [[[-5], [5]]], name="the last of three results")
    check.shape(to_fixed(np.zeros((2, 0)), 4, 2), (2, 0), name="no codes")
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ## Integers with a scale
#
# ### Task 5. Quantise (2 points)
#
# Networks are stored with steps that fit the data: an entry $x$ becomes the integer $q$ with
#
# $$x \approx s\,(q - z),$$
#
# where the *scale* $s$ is the step and the integer *zero point* $z$ is the code of 0.
# That 0 has a code of its own matters: padding and the output of a ReLU are exactly 0.

# %% [markdown]
# `quantize(x, bits, axis)` takes floats with any number of axes and returns `(codes, scale, zero)`.
#
# * `low` is the smaller of 0 and the smallest entry, `high` the larger of 0 and the largest.
#   `axis` goes to `min` and `max`: `None` asks for one scale for all, 0 for one for each column of a matrix.
#   `scale` and `zero` have as many axes as x; those that the scale is shared along have length 1:
#   `(1, 1)` or `(1, columns)` for a matrix, `(1,)` for a vector.
# * `scale` is $(high - low) / (2^{bits} - 1)$, or 1 where that is 0.
# * `zero` is a whole number: the one nearest to $-2^{bits-1} - low/scale$.
# * `codes`, dtype `int8`, are the integers nearest to $x / scale + zero$, between $-2^{bits-1}$ and $2^{bits-1} - 1$.
#   `bits` is at most 8. Ties may go either way, those of `zero` too.

# %% [markdown]
# `dequantize(codes, scale, zero)` returns $s\,(q - z)$, as floats; `codes` and `zero` may be `int8`.
#
# With 8 bits, `[[-1, 0, 1.55]]` has scale 0.01, zero -28 and codes `[[-128, -28, 127]]`.
# About 7 lines, and 1.


# %% nbgrader={"grade_id": "quantize", "solution": true}
def quantize(
    x: np.ndarray, bits: int = 8, axis: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return int8 codes; and scale and zero, with as many axes as x."""
    ### BEGIN SOLUTION
    low = np.minimum(x.min(axis=axis, keepdims=True), 0)
    high = np.maximum(x.max(axis=axis, keepdims=True), 0)
    scale = (high - low) / (2**bits - 1)
    scale = np.where(scale == 0, 1, scale)
    least = -(2 ** (bits - 1))
    zero = np.rint(least - low / scale).astype(np.int64)
    codes = np.clip(np.rint(x / scale + zero), least, -least - 1)
    return codes.astype(np.int8), scale, zero
    ### END SOLUTION


def dequantize(
    codes: np.ndarray, scale: np.ndarray, zero: np.ndarray
) -> np.ndarray:
    """Return the numbers that codes stand for."""
    ### BEGIN SOLUTION
    return scale * (codes.astype(np.int64) - zero)
    ### END SOLUTION


# %% nbgrader={"grade_id": "lost", "locked": true}
def lost(x, y):
    """Return how large y's error is, relative to x (root mean square)."""
    return float(np.sqrt(((y - x) ** 2).sum() / (x**2).sum()))


# %% explore=true
factors = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
others = {"one scale for all": [], "a scale for each column": []}
for factor in factors:
    matrix = np.random.default_rng(0).normal(size=(256, 64))
    matrix[:, 7] *= factor
    for axis, name in zip((None, 0), others, strict=True):
        back = dequantize(*quantize(matrix, 8, axis))
        rest = np.delete(matrix, 7, 1), np.delete(back, 7, 1)
        others[name].append(lost(*rest))
ratio = others["one scale for all"][6] / others["a scale for each column"][6]
print(f"a column 100 times as large: the others' error grows {ratio:.0f}-fold")
print(f"you predicted {predictions()['outlier']:g}")
plot.curves(
    {name: (factors, errors) for name, errors in others.items()},
    logx=True,
    logy=True,
    xlabel="one column of 64 is so many times as large",
    ylabel="relative error of the other 63",
    title="Counter-experiment: one outlier column, 8 bits",
)

# %% [markdown]
# The scale follows the largest entry, and the error of everybody else follows the scale.
# Near the right end nothing is left of the other columns.
# A scale for each column costs a few bytes and keeps the outlier from the others.
#
# Columns here are the outputs of a layer, in $y = xW$:
# a factor of a whole column of $W$ can be applied after the sum.
# One of a *row* of $W$, which is an input, cannot be taken out of the sum.

# %% nbgrader={"grade_id": "quantize-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

with check.case(
    "the worked example",
    hint=(
        "low, high; scale over how many steps? zero and codes: which "
        "line, rounded how, clipped to which ends?"
    ),
):
    codes, scale, zero = quantize(np.array([[-1.0, 0.0, 1.55]]), 8, None)
    check.close(scale, [[0.01]], name="scale")
    check.close(zero, [[-28]], rtol=0, name="zero")
    want = [[-128, -28, 127]]
    check.close(codes, want, rtol=0, dtype="int8", name="codes")
with check.case(
    "back again, from int8",
    hint=(
        "does the difference fit into int8? does each scale and zero go"
        " with its own column, unrounded?"
    ),
    more="make the codes wider before you subtract",
):
    codes = np.array([[127, -128], [-100, 0]], np.int8)
    zero = np.array([[-128, 100]], np.int8)
    got = dequantize(codes, np.array([[0.5, 0.25]]), zero)
    want = [[127.5, -57.0], [14.0, -25.0]]
    check.close(got, want, rtol=1e-6, name="numbers")
    fine, zero = np.array([[1.23456e-4]]), np.array([[-28]])
    got = dequantize(codes, fine, zero)
    want = [
        [155 * 1.23456e-4, -100 * 1.23456e-4],
        [-72 * 1.23456e-4, 28 * 1.23456e-4],
    ]
    check.close(got, want, rtol=1e-5, name="numbers in small steps")
with check.case(
    "a scale for each column",
    hint=(
        "over which axis go min and max, and do they keep it? is each "
        "column's own scale, zero used?"
    ),
    essential=True,
):
    # Multiples of powers of two: no rounding error anywhere.
    steps = np.array([[-20.0, 155.0, 64], [235, -100, 255], [7, 3, 0]])
    codes, scale, zero = quantize(steps * [0.5, 8.0, 0.25], 8, 0)
    check.close(scale, [[0.5, 8.0, 0.25]], name="scale")
    check.close(zero, [[-108, -28, -128]], rtol=0, name="zero")
    want = steps + np.array([-108, -28, -128])
    check.close(codes, want, rtol=0, name="codes")
with check.case(
    "0 is always in the range, and has a code of its own",
    hint=(
        "all positive, or all negative: where are low and high? is zero"
        " a whole number, 0's own code?"
    ),
):
    for some in ([[3.0, 6.0]], [[-3.0, -6.0]]):
        codes, scale, zero = quantize(np.array(some), 8, None)
        check.close(scale, [[6 / 255]], name="scale")
        ends = -128 if some[0][0] > 0 else 127
        check.close(zero, [[ends]], rtol=0, name="zero")
    codes, scale, zero = quantize(np.array([[-0.3, 1.0, 0.0]]), 8, None)
    check.close(zero, [[-69]], rtol=0, name="zero, a whole number")
    check.close(codes[0, 2], -69, rtol=0, name="code of 0")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "nothing but zeros",
    hint=(
        "a column of zeros: which scale does the text name, for that "
        "column alone? and its zero?"
    ),
):
    some = np.array([[0.0, 2.0], [0.0, -0.55]])
    codes, scale, zero = quantize(some, 8, 0)
    check.close(scale, [[1.0, 0.01]], name="scale")
    check.close(zero, [[-128, -73]], rtol=0, name="zero")
    check.close(codes, [[-128, 127], [-128, -128]], rtol=0, name="codes")
with check.hidden_case(
    "very small numbers, in no order",
    hint=(
        "tiny and huge numbers, unsorted: is scale compared with 0 "
        "exactly? is anything rounded or in order?"
    ),
):
    some = np.array([1.55, -1.0, 0.4, -0.3])
    for size in (1e-12, 1e9):
        codes, scale, zero = quantize(size * some)
        check.close(scale / size, [0.01], name="scale over size")
        check.close(zero, [-28], rtol=0, name="zero")
        check.close(codes, [127, -128, 12, -58], rtol=0, name="codes")
with check.hidden_case(
    "fewer bits, and eight unless said otherwise",
    hint=(
        "other bits, none given: which numbers depend on it, steps and "
        "both ends? the defaults, bits and axis?"
    ),
):
    some = np.array([[-7.0, 8.0, 0.4, -3.7]])
    codes, scale, zero = quantize(some, 4, None)
    check.close(scale, [[1.0]], name="scale of 4 bits")
    check.close(zero, [[-1]], rtol=0, name="zero of 4 bits")
    want = [[-8, 7, -1, -5]]
    check.close(codes, want, rtol=0, dtype="int8", name="codes of 4 bits")
    codes, scale, zero = quantize(np.array([[-1.0, 2.0, 0.9]]), 2, None)
    check.close(codes, [[-2, 1, 0]], rtol=0, name="codes of 2 bits")
    codes, scale, zero = quantize(np.array([[-1.0, 0.0], [1.55, 0.0]]))
    check.close(scale, [[0.01]], name="scale without bits and axis")
with check.hidden_case(
    "a scale for each row, one row, one column",
    hint=(
        "scales a row, sides of 1: which axis do scale and zero go "
        "with, and is any axis dropped?"
    ),
):
    codes = np.array([[10, -20, 30], [-7, 8, 90]], np.int8)
    scale, zero = np.array([[0.5], [0.25]]), np.array([[2], [-3]])
    for some in (codes, codes[:, :1], codes[:, 1:2]):
        got = dequantize(some, scale, zero)
        want = scale * (some.astype(float) - zero)
        check.close(got, want, rtol=1e-6, name=f"{some.shape[1]} columns")
    got = dequantize(codes[:1], scale[:1], zero[:1])
    check.close(got, [[4.0, -11.0, 14.0]], rtol=1e-6, name="one row")
with check.hidden_case(
    "no entry is further from its code than half a step",
    hint=(
        "float32, every axis: are scale, zero, codes each made along "
        "that axis, to the nearest, in order?"
    ),
):
    some = np.random.default_rng(1).normal(size=(40, 6)).astype(np.float32)
    for axis in (None, 0, 1):
        codes, scale, zero = (
            np.asarray(part) for part in quantize(some, 8, axis)
        )
        check.equal(scale.shape, some.min(axis=axis, keepdims=True).shape)
        size = np.ptp(some.astype(float), axis=axis, keepdims=True) / 255
        check.close(scale, size, rtol=1e-5, name="scale")
        # float32 makes a rounding error of 1e-7 of 255 steps
        off = np.abs(size * (codes.astype(float) - zero) - some) / size
        check.at_most(off.max(), 0.501, name="largest error in steps")
with check.hidden_case(
    "where zero was rounded, both ends still saturate",
    hint=(
        "where zero was rounded: can a code leave the range at either "
        "end, with fewer bits too?"
    ),
):
    some = np.array([[-77.5, 177.5, 0.0]])
    codes, scale, zero = quantize(some, 8, None)
    # The text leaves open where a tie goes: zero is -50 or -51.
    check.close(zero, [[-50.5]], rtol=0, atol=0.5, name="zero")
    check.at_least(codes[0, 1], 126, name="code of the largest entry")
    check.at_most(codes[0, 0], -127, name="code of the smallest entry")
    codes, scale, zero = quantize(np.array([[-1.5, 13.5, 3]]), 4, None)
    check.at_most(np.asarray(codes).max(), 7, name="largest code of 4 bits")
    codes, scale, zero = quantize(np.array([[-3.5, 11.5, 3]]), 4, None)
    check.at_most(np.asarray(codes).max(), 7, name="largest code of 4 bits")
with check.hidden_case(
    "scale and zero have as many axes as x",
    hint=(
        "one, two, three axes: how many axes have scale and zero, and "
        "how long is each?"
    ),
):
    for shape in ((4,), (2, 3), (2, 3, 4)):
        _, scale, zero = quantize(
            np.arange(24.0)[: np.prod(shape)].reshape(shape)
        )
        check.shape(scale, (1,) * len(shape), name="scale")
        check.shape(zero, (1,) * len(shape), name="zero")
with check.hidden_case(
    "other axes; arguments and earlier results stay as they were",
    hint=(
        "another axis, several calls: is the shape kept? is an "
        "argument, or an earlier result, written to?"
    ),
    guard=True,
):
    some = np.arange(24.0).reshape(2, 3, 4) - 5
    with check.unchanged(x=some):
        codes, scale, zero = quantize(some, 8, 2)
        other = quantize(3 - 2 * some, 8, 2)
    check.separate(other, codes, scale, zero)
    check.close(scale[:, :, 0] * 255, [[5, 3, 6], [10, 14, 18]])
    check.close(zero[:, :, 0], [[127, -43, -128], [-128, -128, -128]])
    check.close(codes[0, 0], [-128, -77, -26, 25], name="codes")
    check.shape(codes, (2, 3, 4), name="codes")
    check.shape(scale, (2, 3, 1), name="scale")
    check.shape(zero, (2, 3, 1), name="zero")
    given = [np.array([[3, 4]], np.int8), np.array([[2.0]]), np.array([[1]])]
    with check.unchanged(given=given):
        got = dequantize(*given)
        other = dequantize(given[0], given[1], given[2] + 1)
    check.close(got, [[4.0, 6.0]], name="the first of two results")
    check.close(other, [[2.0, 4.0]], name="the second of two results")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## Multiply integers
#
# ### Task 6. An int8 product (2 points)
#
# With $x \approx s_x (q_x - z)$ and weights $w \approx s_w q_w$, whose zero is 0, a layer's output is
#
# $$y_{ij} = \sum_k x_{ik} w_{kj} \approx s_x s_w \sum_k (q_{x,ik} - z)\, q_{w,kj}.$$
#
# The sum needs integers only. Its terms just fit into 16 bits, and a sum of two may not, so it is kept in 32.
# The next layer wants 8 bits again: multiply by $s_x s_w / s_y$, round, saturate. This is called *requantising*.
# If the weights have a scale for each column, so does this multiplier.

# %% [markdown]
# `int8_matmul(a, zero, w, multiplier)` takes
#
# * `a`, int8 of shape `(n, k)` with k up to 65,000, and its zero point, an integer of 8 bits,
# * `w`, int8 of shape `(k, m)`,
# * `multiplier`: one float above 0, or an array of m, one for each column of the result.
#
# It returns int8 of shape `(n, m)`: the exact sums $\sum_k (a_{ik} - zero)\, w_{kj}$,
# times the multiplier in float64, rounded to the nearest (a tie to the even one), between -128 and 127.
#
# With `a = [[100, 100]]`, zero -28, `w = [[127, 1], [127, -3]]`
# the sums are 32,512 and -256; times 0.001 they become `[[33, 0]]`.
# About 3 lines.


# %% nbgrader={"grade_id": "int8-matmul", "solution": true}
def int8_matmul(
    a: np.ndarray, zero: int, w: np.ndarray, multiplier: float | np.ndarray
) -> np.ndarray:
    """Return the requantised product of int8 matrices, dtype int8."""
    ### BEGIN SOLUTION
    sums = (a.astype(np.int32) - np.int32(zero)) @ w.astype(np.int32)
    scaled = np.rint(sums * np.asarray(multiplier, np.float64))
    return np.clip(scaled, -128, 127).astype(np.int8)
    ### END SOLUTION


# %% explore=true
terms = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
draw = np.random.default_rng(1)
names = ("int16, wraps", "int16, saturates", "float16")
wrong, far = {name: [] for name in names}, {name: [] for name in names}
for k in terms:
    products = draw.integers(-128, 128, (400, k)) * draw.integers(
        -128, 128, (400, k)
    )
    exact = products.sum(axis=1)
    wraps = products.astype(np.int16).sum(axis=1, dtype=np.int16)
    total, half = np.zeros(400, int), np.zeros(400, np.float16)
    for column in products.T:
        total = np.clip(total + column, -(2**15), 2**15 - 1)
        with np.errstate(over="ignore"):  # infinity is one of the wrong sums
            half = half + column.astype(np.float16)
    for name, sums in zip(names, (wraps, total, half), strict=True):
        wrong[name].append((sums != exact).mean())
        off = np.nan_to_num(sums) - exact.astype(float)  # infinity: 65504
        far[name].append(np.abs(off).mean() / np.abs(exact).mean())
panels, titles = plot.panels(2), ("Share of sums that are wrong", "Error")
for ax, found, title in zip(panels, (wrong, far), titles, strict=True):
    lines = {name: (terms, found[name]) for name in names}
    plot.curves(lines, logx=True, logy=found is far, title=title, ax=ax)
    ax.set_xticks(terms[::2], terms[::2])
    ax.set_xlabel("products in a sum")
panels[0].get_legend().remove()
panels[1].set_ylabel("mean |error| over mean |sum|")
panels[1].figure.set_size_inches(9, 3.1)

# %% [markdown]
# A wrapped sum has any value, and is far off at once.
# A saturated one loses what is cut off on the way: it is wrong at least as often, and by less in short sums.
# float16 is wrong even where nothing overflows, as it has no odd integers above 2048, but by little until it overflows, too.
# In 32 bits 65,793 of the largest terms fit, $65{,}793 \cdot 255 \cdot 128 < 2^{31}$:
# int32 sums are *exact*, whatever the order of the terms.

# %% explore=true
draw = np.random.default_rng(2)
acts = np.maximum(draw.normal(size=(64, 512)), 0)  # after a ReLU
weights = draw.normal(size=(512, 512)) / 16
codes, scale, zero = quantize(acts)
size = np.abs(weights).max(axis=0) / 127  # weights: zero at 0, by column
weight_codes = np.rint(weights / size).astype(np.int8)
y = acts @ weights
step = np.abs(y).max() / 127
output = int8_matmul(
    codes, int(zero[0, 0]), weight_codes, scale[0, 0] * size / step
)
sums = (codes - zero) @ weight_codes.astype(int)  # not requantised
inputs = lost(y, scale * size * sums)
alone = lost(y, step * np.rint(y / step))
print(f"lost by the codes of x and w alone: {inputs:.2%}")
print(f"lost by the 8 bits of y alone: {alone:.2%}")
print(f"root of the sum of their squares: {np.hypot(inputs, alone):.2%}")
print(f"lost in the int8 layer: {lost(y, step * output):.2%}")
theirs = torch._int_mm(torch.tensor(codes), torch.tensor(weight_codes))
mine = codes.astype(np.int32) @ weight_codes.astype(np.int32)
same = (theirs.numpy() == mine).mean()
print(f"PyTorch's int8 product has {theirs.dtype}: {same:.0%} are equal")

# %% [markdown]
# A layer errs before its sums and after them. These errors have nothing to do with each other, so they add in squares:
# were either mended alone, more than half would stay.

# %% nbgrader={"grade_id": "int8-matmul-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

I8 = np.int8
with check.case(
    "the worked example",
    hint=(
        "(a - zero) with w: summed in which type? then the multiplier, "
        "rounding, clipping: in which order?"
    ),
):
    a, w = np.array([[100, 100]], I8), np.array([[127, 1], [127, -3]], I8)
    got = int8_matmul(a, -28, w, 0.001)
    check.close(got, [[33, 0]], rtol=0, dtype="int8", name="result")
with check.case(
    "the zero point is taken off each entry of a",
    hint=(
        "does a - zero fit into int8? is zero taken off every entry of "
        "a, with its sign?"
    ),
):
    a, w = np.array([[127, -128], [5, 6]], I8), np.array([[1], [2]], I8)
    got = int8_matmul(a, -128, w, 0.25)
    check.close(got, [[64], [100]], rtol=0, name="result")
    got = int8_matmul(a, 7, w, 0.25)
    check.close(got, [[-38], [-1]], rtol=0, name="result with zero 7")
with check.case(
    "a multiplier for each column",
    hint=(
        "several multipliers: does each go with a column of the sums, "
        "or of a, and before or after the sum?"
    ),
):
    w = np.array([[10, 10, 10], [0, 1, 2]], I8)
    got = int8_matmul(np.array([[3, 4]], I8), 0, w, np.array([1, 0.5, 2]))
    check.close(got, [[30, 17, 76]], rtol=0, name="result")
with check.case(
    "long sums",
    hint=("many large products: in which type are they multiplied and added?"),
    more="the matrices have to be wider before they are multiplied",
    essential=True,
):
    a, w = np.full((2, 400), 127, I8), np.full((400, 3), 127, I8)
    w[:, 1] = -128
    got = int8_matmul(a, 0, w, 1e-5)
    check.close(got, [[65, -65, 65]] * 2, rtol=0, name="result")
with check.case(
    "it saturates on both sides",
    hint=(
        "large results of both signs: which two ends has int8, and is "
        "it clipped before it is converted?"
    ),
):
    a, w = np.array([[50], [-50]], I8), np.array([[3, -3, 1]], I8)
    got = int8_matmul(a, 0, w, 1.0)
    want = [[127, -128, 50], [-128, 127, -50]]
    check.close(got, want, rtol=0, dtype="int8", name="result")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "to the nearest, a tie to the even one",
    hint="halves, of both signs: to the nearest? where does a tie go?",
):
    a, w = np.array([[1], [3], [5], [-1], [-3]], I8), np.array([[1]], I8)
    got = int8_matmul(a, 0, w, 0.5)
    check.close(got, [[0], [2], [2], [0], [-2]], rtol=0, name="result")
    got = int8_matmul(a, 0, w, 0.3)
    check.close(got, [[0], [1], [2], [0], [-1]], rtol=0, name="result")
with check.hidden_case(
    "sums are exact, even beyond 2**24",
    hint=(
        "very large sums: are they added as integers, and multiplied in"
        " which type?"
    ),
):
    a, w = np.full((1, 1500), 127, I8), np.full((1500, 2), 127, I8)
    w[0] = 126, 125  # the sums are 24,193,373 and 24,193,246
    exact = np.array([1500 * 127**2 - 127, 1500 * 127**2 - 254])
    got = int8_matmul(a, 0, w, 100.5 / (exact + 0.5))
    check.close(got, [[100, 100]], rtol=0, name="result")
    got = int8_matmul(a, 0, w, 100.5 / (exact - 0.5))
    check.close(got, [[101, 101]], rtol=0, name="result")
with check.hidden_case(
    "random matrices of other shapes, all codes",
    hint=(
        "other shapes, sides of 1, all codes: rows of which with "
        "columns of which? is an axis or a sign lost?"
    ),
):
    draw = np.random.default_rng(3)
    for n, k, m in ((5, 300, 4), (1, 7, 1), (3, 1, 6)):
        a = draw.integers(-128, 128, (n, k)).astype(I8)
        w = draw.integers(-128, 128, (k, m)).astype(I8)
        factor = draw.random(m) / 4000
        sums = (a.astype(int) + 11) @ w.astype(int)
        want = np.clip(np.rint(sums * factor), -128, 127)
        got = int8_matmul(a, -11, w, factor)
        check.close(got, want, rtol=0, name="result")
with check.hidden_case(
    "arguments and an earlier result stay as they were",
    hint="is a, w or multiplier written to, or an earlier result?",
    guard=True,
):
    a, w = np.array([[1, 2]], I8), np.array([[3], [4]], I8)
    factor = np.array([0.5])
    with check.unchanged(a=a, w=w, multiplier=factor):
        got = int8_matmul(a, 1, w, factor)
        int8_matmul(a, 0, w, factor)
    check.close(got, [[2]], rtol=0, name="the first of two results")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Why narrow numbers are fast: lanes
#
# A SIMD instruction does one thing to all numbers in a register.
# Registers of x86 grew from 64 bits (MMX, 1997) to 512 (Knights Landing, 2016; AVX-512).
# How many products does one instruction of 512 bits do?
#
# | float32 (FMA) | bf16 (AVX512-BF16) | bytes (VNNI) |
# |---|---|---|
# | 16 | 32 | 64 |
#
# So two and four times are what lanes alone promise, where the chip has these instructions and the library uses them.
# Source D, slides of 2017, reports three times by fixed point, with the 128 bits of 2011.
# AMX, which multiplies tiles of bytes or bf16, may win by more.
# (A GPU's warp takes the idea further: 32 threads, written in CUDA or OpenCL, execute one instruction.)


# %% explore=true
def product_times(n, k, m, repeat=15, by_column=False):
    """Time float32, bf16 and int8 products on one core, in turns."""
    draw = torch.Generator().manual_seed(0)
    a, w = torch.randn(n, k, generator=draw), torch.randn(k, m, generator=draw)
    w = w.t().contiguous().t() if by_column else w  # the order in memory
    ways = {"float32": lambda: a @ w}
    ab, wb = a.bfloat16(), w.bfloat16()
    ways["bf16"] = lambda: ab @ wb
    ac, wc = (30 * a).clamp(-127, 127), (30 * w).clamp(-127, 127)
    ac, wc = ac.to(torch.int8), wc.to(torch.int8)
    ways["int8"] = lambda: torch._int_mm(ac, wc)
    return compare(ways, repeat=repeat)


def say(what, times, products=0):
    """Print how many times as fast as float32 the others are; return rates."""
    fastest = {way: min(t.samples_s) for way, t in times.timings.items()}
    rates = {way: products / s / 1e9 for way, s in fastest.items()}
    line = f"{what:28}"
    for way, s in fastest.items():
        line += f"{way:>9} {fastest['float32'] / s:4.2f}"
        line += f" ({rates[way]:3.0f})" if products else ""
    print(line)
    return rates


# %% explore=true
print("PyTorch uses here:", torch.backends.cpu.get_cpu_capability())
has = torch.cpu.get_capabilities()
print("VNNI here:", any(has.get(f"{avx}_vnni") for avx in ("avx", "avx512")))
print("AMX here:", has.get("amx_bf16", False))
print("times as fast as float32, by the fastest runs (products a nanosecond)")
rates = {}
for n in (1, 64, 512):
    square = product_times(n, 512, 512)
    rates[n] = say(f"{n} x 512 x 512", square, products=n * 512 * 512)
best_float = max(rates[64]["float32"], rates[512]["float32"])
int8_gain = rates[512]["int8"] / best_float
print(f"int8 at 512 rows over the better float32: {int8_gain:.2f}")
print(f"you predicted {predictions()['int8']:g}")

# %% [markdown]
# In the single row all that surrounds the product counts, and a narrow format may lose.
# From 64 rows on the products count, the numbers in brackets.
# A ratio has two of them, and the last takes float32 where it did better.
# Above 4 it says more than lanes: at 3 GHz one instruction of 512 bits a tick is 48 products of float32 a nanosecond, or 192 of bytes.
# A format that stays near its number keeps one such unit busy, one well above it more than one.
#
# The next table has one size, with NumPy and your own product beside PyTorch's.

# %% explore=true
a, w = torch.ones(128, 256), torch.ones(256, 256)
narrow = a.to(torch.int8), w.to(torch.int8)
arrays = [tensor.numpy() for tensor in narrow]
wide = [array.astype(np.int32) for array in arrays]
ways = {
    "float32": lambda: a @ w,
    "int8 with @, wraps": lambda: narrow[0] @ narrow[1],
    "yours, in NumPy": lambda: int8_matmul(arrays[0], 0, arrays[1], 1),
    "int32 with @, in NumPy": lambda: wide[0] @ wide[1],
    "int8 with _int_mm": lambda: torch._int_mm(*narrow),
}
compare(ways, repeat=9)

# %% [markdown]
# Compare orders of magnitude. NumPy calls BLAS, a tuned library, for floats, and BLAS has no integers;
# PyTorch's own `@` of integers does not use what `_int_mm` does.
# (Yours may be faster than NumPy's integers if it sums in float64: then it uses BLAS.)
# A narrow format saves time only if the instruction exists, the library uses it,
# and the bytes or the multiplications were what you waited for.

# %% [markdown]
# ### Optional: bytes, and the time they take (10 minutes)
#
# Source D says that bf16 halves the data that travels.
# Do the seconds follow?


# %% explore=true
def copy_times(count=2**24, repeat=15):
    """Time copies of 16,777,216 numbers, in turns."""
    ways = {}
    for name in ("float32", "bfloat16", "int8"):
        source = torch.zeros(count, dtype=getattr(torch, name))
        target = torch.empty_like(source)
        ways[name] = lambda s=source, t=target: t.copy_(s)
    return compare(ways, repeat=repeat)


print("times as fast as float32, by the fastest runs:")
say("a copy", copy_times())
for by_column in (False, True):
    layout = "columns" if by_column else "rows"
    times = product_times(1, 4096, 4096, 9, by_column)
    say(f"1 x 4096 x 4096, by {layout}", times)

# %% [markdown]
# A copy waits for memory alone: the bytes say 2 and 4. On a busy machine it may gain less,
# and more where only the smaller array fits into a cache.
# A large network that reads one input at a time waits for its weights, too (lab 04).
# The last lines show what PyTorch's programs make of that, with the weights stored by rows and by columns.
# A ratio below 1: that program converts as it goes. One far above 4: the float32 program makes poor use of this order.

# %% [markdown]
# ## Floats that share an exponent
#
# Four bits are too few for an exponent that covers a whole tensor, and for digits as well.
# So neighbours share one. An *MX block* (OCP Microscaling, 2023) is 32 numbers, of E2M1 or E4M3 for example,
# and one power of two, whose exponent takes 8 bits: with E2M1, 4.25 bits a number.
#
# `nearest(x, grid)` is given: it rounds to the nearest value of a sorted grid of numbers from 0 on,
# keeps the sign, saturates at the grid's end, and lets a tie go to the even place.
# With the non-negative values of a format, that is rounding to this format.

# %% nbgrader={"grade_id": "nearest", "locked": true}
E2M1 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def nearest(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Return the nearest of grid's values to each |x|, with x's sign."""
    size = np.minimum(np.abs(np.asarray(x, np.float64)), grid[-1])
    above = np.searchsorted(grid, size)
    below = np.maximum(above - 1, 0)
    up, down = grid[above] - size, size - grid[below]
    rises = (up < down) | ((up == down) & (above % 2 == 0))
    return np.copysign(np.where(rises, grid[above], grid[below]), x)


print(nearest([0.3, -0.75, 2.5, 5.0, -100.0], E2M1))

# %% [markdown]
# ### Task 7. An MX block (2 points)
#
# `mx_quantize(x, grid, block=32)` takes a one-dimensional array of finite floats whose length is a multiple of `block`,
# and the grid of a format. It returns `(exponents, elements)`:
#
# * `exponents`, integers, one for each block of `block` neighbours:
#   the exponent of the block's largest magnitude minus the exponent of the grid's largest value,
#   clipped to -127 and 127 after the subtraction. The *exponent* of a number $v > 0$ is $\lfloor \log_2 v \rfloor$.
# * `elements`, floats of shape `(blocks, block)`: each entry divided by $2^{exponent}$ of its block,
#   then rounded by `nearest`.
#
# In a block of zeros all elements are 0, and its exponent is any that is allowed.

# %% [markdown]
# With blocks of 4, `[2, -3.5, 0.4, 22]` and E2M1: 22 has exponent 4 and 6 has 2, so the block has 2;
# its elements are `[0.5, -1, 0, 6]`, which stand for `[2, -4, 0, 24]`. About 5 lines.


# %% nbgrader={"grade_id": "mx-quantize", "solution": true}
def mx_quantize(
    x: np.ndarray, grid: np.ndarray, block: int = 32
) -> tuple[np.ndarray, np.ndarray]:
    """Return a shared exponent for each block, and elements by block."""
    ### BEGIN SOLUTION
    blocks = x.astype(np.float64).reshape(-1, block)
    peak = np.abs(blocks).max(axis=1)
    # frexp is exact where log2 rounds up, and 0 has an exponent there.
    exponents = np.frexp(peak)[1] - np.frexp(grid[-1])[1]
    exponents = np.clip(exponents, -127, 127)
    return exponents, nearest(blocks / 2.0 ** exponents[:, None], grid)
    ### END SOLUTION


# %% nbgrader={"grade_id": "through-mx", "locked": true}
def grid_of(exponent, mantissa, specials="none"):
    """Return the finite values from 0 on, by your decode."""
    codes = np.arange(2 ** (exponent + mantissa))
    values = decode(codes, exponent, mantissa, specials)
    return values[np.isfinite(values)]


def through_mx(x, grid, block=32):
    """Return x as its MX blocks hold it."""
    exponents, elements = mx_quantize(x.ravel(), grid, block)
    return (elements * 2.0 ** exponents[:, None]).reshape(x.shape)


tails = np.random.default_rng(3).standard_t(4, 2**14)  # some large entries

# %% explore=true
sizes = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
errors = [lost(tails, through_mx(tails, E2M1, size)) for size in sizes]
unit = np.abs(tails).max() / 6
whole = lost(tails, unit * nearest(tails / unit, E2M1))
plot.curves(
    {
        "blocks, yours": (sizes, errors),
        "a single scale": (sizes, [whole] * len(sizes)),
    },
    logx=True,
    xlabel="numbers that share an exponent",
    ylabel="relative error",
    title="E2M1: small blocks keep outliers to themselves",
).set_ylim(bottom=0)
for size, error in zip(sizes, errors, strict=True):
    print(f"{size:5} a block: {4 + 8 / size:.2f} bits, error {error:.1%}")

# %% [markdown]
# The block is Task 5's column, made small: an outlier spoils the numbers that share its exponent and no others.
# Very small blocks gain no more: what is lost then is lost in the element itself,
# and at two numbers a block the exponents are as large as the elements.
# The standard takes 32.

# %% nbgrader={"grade_id": "mx-quantize-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

FP4 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
with check.case(
    "the worked example",
    hint=(
        "the exponent of the block's largest less that of which grid "
        "value? then divide by what, and round?"
    ),
):
    some = np.array([2.0, -3.5, 0.4, 22.0])
    exponents, elements = mx_quantize(some, FP4, 4)
    check.close(exponents, [2], rtol=0, name="exponents")
    check.close(elements, [[0.5, -1, 0, 6]], name="elements")
with check.case(
    "each block has an exponent of its own",
    hint=(
        "several blocks, negative entries: which neighbours belong "
        "together, and what is largest in each?"
    ),
    essential=True,
):
    some = np.array([1.0, 0.5, -64, 32, 0.25, 0.125, 6, -3])
    exponents, elements = mx_quantize(some, FP4, 2)
    check.close(exponents, [-2, 4, -4, 0], rtol=0, name="exponents")
    want = [[4, 2], [-4, 2], [4, 2], [6, -3]]
    check.close(elements, want, name="elements")
with check.case(
    "a block of zeros",
    hint=(
        "a block of zeros: what is its logarithm, and what is divided "
        "by what? and the block beside it?"
    ),
):
    exponents, elements = mx_quantize(np.array([0.0, 0, 8, 0]), FP4, 2)
    check.close(elements, [[0, 0], [4, 0]], name="elements")
    check.close(exponents[1], 1, name="exponent of the second block")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "another grid, and blocks of 32 unless said otherwise",
    hint=(
        "another grid, no block given: which value's exponent is taken "
        "off, how long is a block, which signs?"
    ),
):
    draw = np.random.default_rng(4)
    some = (draw.normal(size=96) * np.repeat([1e-3, 1, 1e4], 32)).astype(
        np.float32
    )
    steps = [k * 2.0**-9 for k in range(8)]
    steps += [(8 + k) * 2.0**e for e in range(-9, 6) for k in range(8)]
    steps = np.array(steps[:-1])
    parts = some.astype(float).reshape(3, 32)
    want = np.floor(np.log2(np.abs(parts).max(axis=1))) - 8
    exponents, elements = mx_quantize(some, steps)
    check.close(exponents, want, rtol=0, name="exponents")
    scaled = parts / 2.0 ** want[:, None]
    place = np.abs(np.abs(scaled)[..., None] - steps).argmin(axis=-1)
    want = np.sign(scaled) * steps[place]
    check.close(elements, want, rtol=1e-12, name="elements")
with check.hidden_case(
    "what is between the grid's end and the next power of two saturates",
    hint=(
        "beyond the grid's end: does the exponent depend on anything "
        "but powers of two? what does nearest do?"
    ),
):
    exponents, elements = mx_quantize(np.array([7.9, 1, -8, 1]), FP4, 2)
    check.close(exponents, [0, 1], rtol=0, name="exponents")
    check.close(elements, [[6, 1], [-4, 0.5]], name="elements")
    odd = np.array([0.0, 1.0, 3.0, 4.501])
    exponents, elements = mx_quantize(np.array([9.0, 15.0, -2.2]), odd, 1)
    check.close(exponents, [1, 1, -1], rtol=0, name="exponents, odd grid")
    want = [[4.501], [4.501], [-4.501]]
    check.close(elements, want, rtol=1e-6, name="elements, odd grid")
with check.hidden_case(
    "just below a power of two",
    hint=(
        "just below a power of two: is the logarithm rounded up before "
        "it is floored?"
    ),
    more="np.frexp takes a float apart without rounding",
    weight=0.5,
):
    some = np.array([np.nextafter(8.0, 0), np.nextafter(-0.25, 0)])
    exponents, _ = mx_quantize(some, FP4, 1)
    check.close(exponents, [0, -5], rtol=0, name="exponents")
with check.hidden_case(
    "exponents stay between -127 and 127",
    hint=(
        "extreme magnitudes: which two bounds has an exponent, clipped "
        "before or after the subtraction?"
    ),
):
    some = np.array([2.0**-140, 2.0**200, 2.0**-126, 2.0**129])
    exponents, elements = mx_quantize(some, FP4, 1)
    check.close(exponents, [-127, 127, -127, 127], rtol=0, name="exponents")
    check.close(elements, [[0], [6], [2], [4]], name="elements")
    exponents, _ = mx_quantize(np.zeros(3), FP4, 3)
    check.at_least(exponents[0], -127, name="exponent of a block of zeros")
    check.at_most(exponents[0], 127, name="exponent of a block of zeros")
with check.hidden_case(
    "whole exponents; arguments and earlier results stay",
    hint=(
        "whole numbers in which type? several calls: is x, grid, or an "
        "earlier result, written to?"
    ),
    guard=True,
):
    some = np.array([1.0, 2.0, 4.0, 8.0])
    with check.unchanged(x=some, grid=FP4):
        shared, inside = mx_quantize(some, FP4, 4)
        mx_quantize(16 * some[::-1], FP4, 4)
    check.close(shared, [1], name="the first of two exponents")
    check.close(inside, [[0.5, 1, 2, 4]], name="the first of two blocks")
    kind = np.asarray(shared).dtype.kind
    check.equal(kind, "i", name="kind of the exponents' dtype")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## What a network loses
#
# A small network reads digits: three linear layers, trained in float32.
# Now its weights, not its biases, go through each format, and come back.


# %% explore=true
def train_network(seed, steps=300):
    """Return the layers of a trained network as pairs (weights, biases)."""
    torch.manual_seed(seed)
    sizes, layers = (64, 64, 64, 10), []
    for inside, outside in zip(sizes, sizes[1:], strict=False):
        layers += [torch.nn.Linear(inside, outside), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers[:-1])
    x = torch.tensor(digits.train.x).reshape(-1, 64)
    y = torch.tensor(digits.train.y)
    adam = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-3)
    for _ in range(steps):
        adam.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        adam.step()
    flat = [p.detach().numpy().astype(np.float32) for p in net.parameters()]
    return [(w.T.copy(), b) for w, b in zip(flat[::2], flat[1::2], strict=True)]


# %% explore=true
def outputs(layers, split):
    """Return the logits of a split's images."""
    x = split.x.reshape(-1, 64).astype(np.float64)
    for number, (w, b) in enumerate(layers):
        x = x @ w + b
        x = np.maximum(x, 0) if number < len(layers) - 1 else x
    return x


def accuracy(layers, split):
    """Return the share of images that a network of these layers reads."""
    return float((outputs(layers, split).argmax(axis=1) == split.y).mean())


# %% explore=true
def in_integers(w, bits, axis):
    """Return w in integers, back as floats."""
    return dequantize(*quantize(w, bits, axis))


def in_blocks(w, grid):
    """Return w in MX blocks of 32 inputs: a column's neighbours."""
    return through_mx(np.ascontiguousarray(w.T), grid).T


WAYS = {  # bits a number, scales not counted
    "float32": (32, lambda w: w),
    "FP16": (16, lambda w: w.astype(np.float16).astype(np.float32)),
    "bf16": (16, lambda w: decode(round_to_bfloat16(w), *FORMATS["bf16"])),
    "E5M2": (8, lambda w: nearest(w, grid_of(5, 2, "ieee"))),
    "E4M3": (8, lambda w: nearest(w, grid_of(4, 3, "nan"))),
    "Q2.5": (8, lambda w: to_fixed(w, 2, 5) / 2**5),
    "int8, one scale": (8, lambda w: in_integers(w, 8, None)),
    "int8, by column": (8, lambda w: in_integers(w, 8, 0)),
    "int4, one scale": (4, lambda w: in_integers(w, 4, None)),
    "int4, by column": (4, lambda w: in_integers(w, 4, 0)),
    "E2M1 alone": (4, lambda w: nearest(w, E2M1)),
    "E2M1 in MX blocks": (4, lambda w: in_blocks(w, E2M1)),
    "int2, by column": (2, lambda w: in_integers(w, 2, 0)),
}

# %% [markdown]
# Second comes the *same function* in other numbers.
# A ReLU does not mind a positive factor: multiply all that goes into one hidden unit by 256,
# divide what comes out of it by 256, and every output stays as it was, bit by bit.


# %% explore=true
def outlier_unit(layers, unit=5, factor=256.0):
    """Return the same function with a unit 256 times as large."""
    (w1, b1), (w2, b2), last = [(w.copy(), b.copy()) for w, b in layers]
    w1[:, unit] *= factor
    b1[unit] *= factor
    w2[unit] /= factor
    return [(w1, b1), (w2, b2), last]


def through(layers, way):
    return [(way(w), b) for w, b in layers]


def judged(layers, split):
    """Return by format the accuracy, with an outlier, and the error."""
    found = {}
    every = np.concatenate([w.ravel() for w, _ in layers])
    for name, (_, way) in WAYS.items():
        plain, twin = through(layers, way), through(outlier_unit(layers), way)
        back = np.concatenate([w.ravel() for w, _ in plain])
        found[name] = (
            accuracy(plain, split),
            accuracy(twin, split),
            lost(every, back),
        )
    return found


# %% explore=true
networks = [train_network(seed) for seed in range(3)]
twins = [outlier_unit(layers) for layers in networks]
for layers, twin in zip(networks, twins, strict=True):
    change = outputs(layers, digits.test) - outputs(twin, digits.test)
    print(f"largest change of an output by the factor: {np.abs(change).max()}")
runs = [judged(layers, digits.test) for layers in networks]
means = {name: np.mean([run[name] for run in runs], axis=0) for name in WAYS}
print("                   bits, no  error of")
print("weights in           scales   weights  accuracy  with an outlier")
for name, (plain, twin, error) in means.items():
    bits = WAYS[name][0]
    print(f"{name:18} {bits:8} {error:9.2%} {plain:9.1%} {twin:16.1%}")
every = np.concatenate([w.ravel() for layers in networks for w, _ in layers])
print(f"weights below 1/4: {(np.abs(every) < 0.25).mean():.0%}")

# %% explore=true
drawn, named = {}, {}
for at, kind in enumerate(("as trained", "with an outlier unit")):
    rows = [(n, m) for n, m in means.items() if m[2] > 0]  # float32 has none
    missed = [100 * (1 - mean[at]) for _, mean in rows]
    drawn[kind] = ([100 * mean[2] for _, mean in rows], missed)
    said = set().union(*named.values())  # each name once, none on the heap
    named[kind] = [
        row[0] if much > 8 and row[0] not in said else ""
        for row, much in zip(rows, missed, strict=True)
    ]
ax = plot.scatter(
    drawn,
    names=named,
    logx=True,
    xlabel="error of the weights as trained, %",
    logy=True,
    ylabel="test images misread, %",
    title="Weights may be wrong by 15 %, and the network reads on",
)
plain, twin, error = means["int8, one scale"]
begin, end = (100 * error, 100 * (1 - plain)), (100 * error, 100 * (1 - twin))
arrow = {"arrowstyle": "->", "color": "grey", "shrinkA": 6, "shrinkB": 6}
ax.annotate("", end, begin, arrowprops=arrow)
ax.text(0.8 * begin[0], 40, "same function,\none unit x 256", ha="right")
ax.set_ylim(3, 150)
ax.set_yticks([5, 10, 20, 50, 100], [5, 10, 20, 50, 100])
ax.tick_params(axis="y", which="minor", labelleft=False)
own = 100 * (1 - means["float32"][0])
ax.axhline(own, color="black", linestyle=":", linewidth=1)
print(f"dotted: float32 misreads {own:.1f} %")

# %% [markdown]
# * A network tolerates a lot. Weights that are wrong by 5 per cent cost an image or none, and those of int4, wrong by three times as much, few or none:
#   independent errors average out in a sum over many inputs. So this error is a poor yardstick.
# * The factor 256 is a power of two: in bf16 it changes exponents and no digit.
#   E4M3 and E5M2 bear it as far as their exponents reach.
#   E2M1 alone has no exponents for weights: most lie below 1/4, where its nearest number is 0.
#   In MX blocks it works, but plain int4 by column is at least as good here: these weights have no tails, as Task 7's numbers had.

# %% [markdown]
# * With one scale the outlier takes nearly all steps of 8 bits for itself,
#   and its layer is lost; a scale for each column saves all other units, at 4 bits too.
#   Q2.5 has a scale that nobody fits: what is too large saturates, and the others keep their steps.
#
# What helps is what made the trouble: before quantising,
# move a factor from one layer into the next so that both are easy.
# AWQ and SmoothQuant do this to language models, whose activations have such outliers; lab 09 comes back to it.

# %% [markdown]
# ## Energy and bytes
#
# ### Task 8. What a product costs (1 point)
#
# Horowitz (2014) gives the energy of single operations on a chip of 45 nm, in picojoules.
# Chips have become better since, arithmetic more than memory: read ratios.
# Products of int8 are added in int32, and the sum is requantised.

# %% [markdown]
# `matmul_cost(n, k, m, number)` counts a product of shapes $(n, k)$ and $(k, m)$.
# `number` says in which format, as one of the rows below: bytes of a number, picojoules of a multiplication and of an addition.
# It returns `(bytes, picojoules)`: both matrices are read once from DRAM and the result, in the same format, is written once;
# each of the $nkm$ terms takes one multiplication and one addition;
# each byte that moves takes `DRAM` picojoules.
#
# One float32 times one float32 moves 12 bytes and takes $12 \cdot 162.5 + 3.7 + 0.9 = 1954.6$ pJ. About 3 lines.

# %% nbgrader={"grade_id": "energies", "locked": true}
# Bytes, multiplication, addition (pJ, 45 nm, Horowitz 2014).
NUMBERS = {
    "float32": (4, 3.7, 0.9),
    "FP16": (2, 1.1, 0.4),
    "int8": (1, 0.2, 0.1),
}
DRAM = 162.5  # pJ a byte: the lower end, 1.3 nJ for 64 bits


# %% nbgrader={"grade_id": "matmul-cost", "solution": true}
def matmul_cost(
    n: int, k: int, m: int, number: tuple[int, float, float]
) -> tuple[int, float]:
    """Return bytes moved and picojoules of an (n, k) by (k, m) product."""
    ### BEGIN SOLUTION
    size, multiply, add = number
    moved = size * (n * k + k * m + n * m)
    return moved, moved * DRAM + n * k * m * (multiply + add)
    ### END SOLUTION


# %% explore=true
import matplotlib.pyplot as plt

for ax, inputs in zip(plot.panels(2), (1, 1024), strict=True):
    title = "one input" if inputs == 1 else f"{inputs} inputs"
    energy, memory = {}, []
    for name, number in NUMBERS.items():
        moved, picojoules = matmul_cost(inputs, 1024, 1024, number)
        energy[name] = picojoules / 1e6
        memory.append(moved * DRAM / 1e6)
    plot.bars(energy, fmt=".0f", ylabel="microjoules", title=title, ax=ax)
    ax.patches[0].set_label("arithmetic")
    ax.bar(range(len(memory)), memory, color=plot.PALETTE[1], label="DRAM")
    ratio = energy["float32"] / energy["int8"]
    print(f"{title:18} int8 takes {ratio:.1f} times less (modelled)")
ax.legend(frameon=False)
plt.show()

# %% [markdown]
# Modelled, from one table.
# With one input, nearly all energy goes into fetching weights, and every format gains by its bytes.
# With many, arithmetic counts, and there an integer gains more than its bytes say:
# a multiplier's size grows about with the square of the digits that it multiplies.
# This is why chips for inference compute in 8 bits.

# %% nbgrader={"grade_id": "matmul-cost-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "the worked example",
    hint=(
        "bytes: which matrices move? energy: DRAM for each byte, and "
        "what for each term?"
    ),
    essential=True,
):
    moved, picojoules = matmul_cost(1, 1, 1, (4, 3.7, 0.9))
    check.close(moved, 12, name="bytes")
    check.close(picojoules, 1954.6, name="picojoules")
with check.case(
    "three different sides",
    hint=(
        "three sides: how many entries has each matrix, and how many "
        "terms are there?"
    ),
):
    moved, picojoules = matmul_cost(2, 3, 5, (1, 0.2, 0.1))
    check.close(moved, 31, name="bytes")
    check.close(picojoules, 31 * 162.5 + 30 * 0.3, name="picojoules")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "other numbers and large matrices",
    hint=(
        "large sides, other formats: is each field used for what it is,"
        " in bytes and energy, all digits kept?"
    ),
):
    moved, picojoules = matmul_cost(7, 4096, 300, (2, 5.0, 70.0))
    size = 2 * (7 * 4096 + 4096 * 300 + 2100)
    check.close(moved, size, name="bytes")
    want = size * 162.5 + 7 * 4096 * 300 * 75.0
    check.close(picojoules, want, name="picojoules")
    moved, picojoules = matmul_cost(4096, 4096, 4096, (4, 3.7, 0.9))
    check.close(moved, 12 * 4096**2, name="bytes of large matrices")
    want = 12 * 4096**2 * 162.5 + 4096**3 * 4.6  # more than 2**31 terms
    check.close(picojoules, want, name="picojoules of large matrices")
    _, picojoules = matmul_cost(500, 600, 700, (1, 1.0003, 2.0001))
    want = 1_070_000 * 162.5 + 500 * 600 * 700 * 3.0004
    # float64 makes a rounding error of 1e-15
    check.close(picojoules, want, rtol=1e-7, name="picojoules")
    _, picojoules = matmul_cost(1, 1, 1, (1, 2e-4, 3e-4))
    check.close(picojoules, 487.5005, rtol=1e-8, name="picojoules")
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### With a GPU
#
# The next cell multiplies larger matrices in four formats on the GPU, or shows what a recorded run printed.
# Tensor Cores do there for narrow formats what VNNI and AMX do here; plain float32 they do not multiply.
# From bf16 down, a halving of the bits gains a factor of two at most, and often less: compare int8 with bf16.
# (A product of bytes is written in 32 bits, one of bf16 in 16.)
# `int8, by rows` has the second matrix stored by rows: the fast program wants its columns.

# %% explore=true
from labkit import recorded

if device() != "cuda":
    print("No CUDA device here: skipped 4096 x 4096 in bf16, int8 and E4M3.")
    print(recorded("03_number_formats"))
else:
    at = torch.randn(4096, 4096, device="cuda")
    ways = {"float32": lambda: at @ at}
    half, whole = at.bfloat16(), (30 * at).clamp(-127, 127).to(torch.int8)
    ways["bf16"] = lambda: half @ half
    if hasattr(torch, "_int_mm"):
        ways["int8"] = lambda: torch._int_mm(whole, whole.t())
        ways["int8, by rows"] = lambda: torch._int_mm(whole, whole)
    if torch.cuda.get_device_capability() >= (8, 9):
        tiny, one = at.to(torch.float8_e4m3fn), torch.ones((), device="cuda")
        ways["E4M3"] = lambda: torch._scaled_mm(
            tiny, tiny.t(), one, one, out_dtype=torch.bfloat16
        )
    else:
        print("E4M3 left out: needs a GPU of compute capability 8.9.")
    print(compare(ways))

# %% [markdown]
# ## Open task: your own six bits (2 points)
#
# `tails` holds 16,384 numbers, some of them large.
# Store them in *at most six bits a number*, all scales and exponents counted, so that as little as possible is lost.
# Each number takes the same bits, so that any of them can be read without those before it
# (so no code of variable length).
# You choose: exponent and mantissa, integers or floats, size of the block,
# nearest or by chance, a scale that cuts off the largest entries, something of your own.
# Dotted lines below show the limit and the error to beat: half of it can be had.

# %% [markdown]
# Hand in, below and in the cell after it:
#
# 1. a figure of `lost(tails, ...)` against bits a number, of at least six choices of yours, with labelled axes;
# 2. three or four sentences: which one you take, how you counted its bits, *why* it wins here,
#    and what kind of numbers would make you choose another.

# %% explore=true
# Change this cell: the choices below are a beginning, and not good ones.
tried, named = {}, {}
for exponent, mantissa in ((2, 1), (2, 3), (3, 2)):
    points, name = [], f"E{exponent}M{mantissa}, by block"
    for block in (32, 128):
        bits = 1 + exponent + mantissa + 8 / block
        back = through_mx(tails, grid_of(exponent, mantissa), block)
        points.append((bits, lost(tails, back)))
    tried[name], named[name] = points, ["32", "128"]
tried["integers, one scale"] = [
    (bits, lost(tails, dequantize(*quantize(tails, bits))))
    for bits in (4, 5, 6)
]
ax = plot.scatter(
    {name: tuple(zip(*points, strict=True)) for name, points in tried.items()},
    names=named,
    xlabel="bits a number, everything counted",
    ylabel="relative error",
    logy=True,
    title="Six bits: what would you take?",
)
best = min(e for at in tried.values() for bits, e in at if bits <= 6)
print(f"to beat, within six bits: {best:.3f}")
for line, at in ((ax.axvline, 6), (ax.axhline, best)):
    line(at, color="black", linewidth=1, linestyle=":", zorder=0)

# %% [markdown] nbgrader={"grade_id": "six-bits", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# I take five-bit integers with a float16 scale for each block of 16: $5 + 16/16 = 6$ bits a number; about 5 % are lost.
# E2M2 with a shared exponent for each block of 16 has $1 + 2 + 2 + 8/16 = 5.5$ bits and loses about 6 %.
# E2M3 is not allowed with any block: with 32 it has 6.25 bits, and six bits leave no room for an exponent.
# A scale that fits the largest entry of its block uses all steps, while a power of two may waste nearly half of them.
# Tails are heavy here, so blocks must be small: a large entry spoils the few numbers beside it.
# In larger blocks, where the numbers spread over more powers of two, floats win:
# at 64 a block E2M2 loses less than these integers.
# For numbers spread evenly, such as pixels, I would take six-bit integers and one scale for all:
# blocks and exponents would be wasted on them.
#
# **Rubric.**
#
# * 1 point: the figure, from runs of their own, with at least six choices and labelled axes;
#   bits counted with scales or exponents. Half a point if bits are not all counted.
# * 1 point: the choice is within six bits and is that of the figure, and the reason speaks of how the numbers are spread
#   (tails, outliers, neighbours), half; and of which numbers would change it, half.
#
# The size of the error earns nothing. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ### In your words (2 points)
#
# A colleague computes a layer $y = xW$ with $k = 4096$ inputs in int8.
#
# 1. The chip offers sums of 16, 24 or 32 bits.
#    How many bits does a sum of products of codes from -127 to 127 need so that it cannot overflow, and which is the first to suffice? Show the numbers.
# 2. In $x$ a few *columns* are a hundred times as large as the others.
#    The colleague proposes a scale for each column of $x$, as there is one for each column of $W$.
#    Why does that not fit into one int8 product, although the scales of $W$'s columns do?
#    Name one way out, and its price.
#
# About 150 words.

# %% [markdown] nbgrader={"grade_id": "inner-scale", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# The largest sum is $4096 \cdot 127^2 = 66{,}064{,}384$. It lies between $2^{25}$ and $2^{26} = 67{,}108{,}864$,
# so it takes 26 bits and a sign, 27 in all: 16 and 24 are too few, 32 it is.
# In practice sums of random signs stay far below, like $\sqrt{k}$; but a guarantee needs the worst case.
#
# $y_{ij} = \sum_k x_{ik} w_{kj}$ is a sum over $k$. A scale of $W$'s column $j$ is the same in all terms of the sum
# and can be taken out of it: one multiplication after the integers have been added.
# A scale of x's column $k$ differs from term to term and cannot be taken out; the sum would have to be one of floats.
# Ways out: multiply $W$'s row $k$ by the scale before it is quantised, which moves the outlier into the weights (and they lose digits there);
# compute the few large columns in 16 bits, in a product of its own (more code, two products);
# blocks of $k$ with a scale each, as in MX, whose partial sums are added in floating point (more additions, hardware for it).
#
# **Rubric.**
#
# * 1 point: 27 bits, hence 32, from $4096 \cdot 127^2$ (half a point for the sum alone, or if the sign is forgotten).
# * 1 point: the sum goes over the columns of x, so their scales cannot be taken out (half); one way out with its price (half).
#
# Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## Your result cards
#
# int8 over float32 by the fastest runs above, beside a number from 2011 (source D), and the codes of FP16 that are finite (source A).

# %% explore=true
low, middle, high = square.ratio("float32", "int8")
result_card(
    "8-bit integers multiply faster than float32 (512 x 512, one core)",
    int8_gain,
    n=square["int8"].n,
    unit="x",
    seed_value=3,
    source="D: three times on a CPU, by fixed point (Vanhoucke 2011)",
    lab="03_number_formats",
    note="Registers were 128 bits wide in 2011; here "
    f"{torch.backends.cpu.get_cpu_capability()}. Products a nanosecond of the "
    "fastest runs, float32 at the better of 64 and 512 rows. All runs at "
    f"512 rows, in turns: median {middle:.1f}, middle half {low:.1f} to "
    f"{high:.1f}.",
)

# %% explore=true
finite = np.isfinite(all_values("FP16")).sum()
result_card(
    "codes of FP16 that are finite numbers",
    finite,
    seed_value=2**16,
    source="A: 65536 points are exactly representable",
    lab="03_number_formats",
    kind="counted",
    note=f"{2**16 - finite} codes are infinities and NaN; 0 has two.",
)

# %% [markdown]
# ## What you take along
#
# * Floats are evenly spaced in the logarithm, integers on the line.
# * Round to the nearest, ties to even; by chance where small updates have to add up.
# * Integers need a scale, and a scale is as good as the outlier beneath it. Give outliers few neighbours.
# * A scale can be taken out of a sum only if it is the same in all terms.
# * Multiply narrow, add wide.
# * Fewer bits save bytes always, energy mostly, and time only where instruction and library know them.
#
# Lab 07 trains in 16 bits, lab 08 shares values instead of steps, and lab 09 trains a network to bear fewer than 8 bits.
