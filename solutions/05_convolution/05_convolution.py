# %% [markdown]
# # 05. Convolution
#
# **Why are there so many convolution algorithms?**
# A convolution is seven nested loops, and a library for GPUs has about sixteen ways to compute it.
# They return the same numbers, nearly, and differ in how often they multiply,
# in how much memory they need beside the result, and in how many digits are left at the end.
# Here you write four of them, get two more out of these, count what each does,
# measure what each takes, and let dynamic programming choose between them.

# %% [markdown]
# | | |
# |---|---|
# | Prerequisites | NumPy with broadcasting, complex numbers, dynamic programming; lab 01 or its equivalent |
# | Time | about 5 hours, in two sittings: the algorithms (Tasks 1 to 6), then what each costs and which to take |
# | Points | 20: 16 from checks, 4 from two written answers |
# | Hardware | two CPU cores; with a GPU, one cell near the end shows what cuDNN chooses there |

# %% [markdown]
# ## How this notebook works
#
# Each task asks for one or two functions.
# Replace the line that raises `NotImplementedError` and keep the name and the arguments.
# Then run what stands below it: a cell that shows what your function does, and a check. Read the first case that fails.
# Further cases, hidden here, run when your work is graded: the text's promises, with other numbers and shapes.
# Your functions must not change their arguments, nor a result that they have returned before.
# No check looks at a clock: seconds are shown; numbers, shapes and bytes are graded.
#
# Cells that begin with `# explore` are yours to change.
# They are not run when your work is graded:
# a helper or an import that a task needs belongs in the task's cell,
# and a plot of your own is read as you saved it.

# %% nbgrader={"grade_id": "setup", "locked": true}
import math
import time
from collections import Counter, namedtuple

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from labkit import check, compare, count, device, plot, result_card

torch.set_num_threads(1)
threadpool_limits(1)  # NumPy, too
F = torch.nn.functional

# %% [markdown]
# ### Task 1. Predict (1 point)
#
# Commit to three numbers before you measure them; the point is for writing them down.
# A *kernel* here is a small window of weights that slides over an image, a *channel* one of the numbers at a place;
# Winograd's algorithm and the Fourier transform are ways to the same results with fewer multiplications (Tasks 5 and 6).

# %% [markdown]
# * `"winograd"`: kernels of 3 x 3. How many times fewer multiplications of data with data
#   does Winograd's algorithm need that computes 4 x 4 results at a time?
# * `"fft"`: two images of 32 x 32, 16 channels in and out, kernels of $r \times r$.
#   From which $r$ on does a Fourier transform multiply less than the seven loops?
# * `"microbatch"`: one layer, 12 images, and little memory beside the result.
#   How many times as fast does it become if the batch may be split?
#   (Nobody can know: it depends on how slow the algorithm is that is left for the whole batch. Task 8 shows how much.)
#
# `predictions()` returns a dictionary with these three keys and a number above 0 for each, the same in each call. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return a ratio, a kernel's side and another ratio, each above 0."""
    ### BEGIN SOLUTION
    return {"winograd": 3.0, "fft": 9, "microbatch": 2.0}
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "three predictions",
    hint=(
        "which three keys does the text name, and is each of them there once?"
    ),
):
    check.equal(sorted(predictions()), ["fft", "microbatch", "winograd"])
with check.case(
    "each is above 0",
    hint="is each a ratio above 0? a ratio of 1 means: no change",
):
    for name in ("fft", "microbatch", "winograd"):
        check.at_least(predictions()[name], 1e-9, name=name)
with check.case(
    "the same in each call", hint="commit: draw nothing", guard=True
):
    check.equal(predictions(), predictions(), name="two calls")
check.score(1)

# %% [markdown]
# ## Seven loops
#
# ### Task 2. Direct (2 points)
#
# `x` holds $n$ images of $c$ channels, shape $(n, c, h, w)$, and `weights` $k$ kernels of $c$ channels, shape $(k, c, r, s)$.
# First `padding` zeros are added at all four sides of each image.
# Then each kernel moves over it in steps of `stride`, down and across, as long as it lies inside:
#
# $$y_{n,k,i,j} = \sum_{c,a,b} x_{n,\,c,\;i \cdot stride + a,\;j \cdot stride + b}\; w_{k,c,a,b}.$$
#
# So there are $\lfloor (h + 2\,padding - r)/stride \rfloor + 1$ rows of results, and columns likewise.
# (Strictly this is a *correlation*: a convolution would turn the kernel round first. Networks learn the kernel, and do not mind.)

# %% [markdown]
# `conv_direct(x, weights, stride=1, padding=0)` returns $y$, shape $(n, k, rows, columns)$.
#
# * x and weights have one dtype, and the result has it, too: `float32` stays `float32`, and whole numbers stay exact.
# * Images and kernels need not be square, and a batch may hold no image at all.
#
# With `x = [[[[1, 2, 3], [4, 5, 6]]]]` and one kernel `[[[[1, 10]]]]` the result is `[[[[21, 32], [54, 65]]]]`;
# with stride 2 it is `[[[[21]]]]`, and with padding 1 as well `[[[[0, 0], [40, 65]]]]`.
#
# About 8 lines. Two loops suffice: one over the rows of the kernel, one over its columns.
# For each entry, one slice of x meets one $k \times c$ matrix of weights.


# %% nbgrader={"grade_id": "conv-direct", "solution": true}
def conv_direct(
    x: np.ndarray, weights: np.ndarray, stride: int = 1, padding: int = 0
) -> np.ndarray:
    """Return x (n, c, h, w) correlated with weights (k, c, r, s)."""
    ### BEGIN SOLUTION
    p, (r, s) = padding, weights.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    rows = (x.shape[2] - r) // stride + 1
    columns = (x.shape[3] - s) // stride + 1
    y = np.zeros((len(x), len(weights), rows, columns), x.dtype)
    for a in range(r):
        for b in range(s):
            part = x[:, :, a::stride, b::stride][:, :, :rows, :columns]
            y += np.einsum("nchw,kc->nkhw", part, weights[:, :, a, b])
    return y
    ### END SOLUTION


# %% explore=true
row, column = np.mgrid[:64, :64] - 31.5
ring = np.abs(np.hypot(row, column) - 20) < 5
picture = (ring | (np.abs(row - column) < 3)).astype(float)[None, None]
smooth, slope = np.array([1.0, 2, 1]), np.array([1.0, 0, -1])
kernels = {
    "blurred": np.full((7, 7), 1 / 49),
    "top edges": np.pad(np.outer(-slope, smooth), 2),
    "left edges": np.pad(np.outer(smooth, -slope), 2),
}
seen = conv_direct(picture, np.stack(list(kernels.values()))[:, None], 1, 3)
shown = np.concatenate([picture[0], seen[0]])
plot.images(
    shown / np.abs(shown).max(axis=(1, 2), keepdims=True),
    ["picture", *kernels],
    signed=True,
    title="One picture and three kernels of 7 x 7, by your conv_direct",
    tile_in=1.6,
)
narrow = picture.astype(np.float32), np.ones((1, 1, 3, 3), np.float32)
padded, plain = conv_direct(*narrow, 1, 1).dtype, conv_direct(*narrow).dtype
print(f"float32 in: {padded} out with padding, {plain} without")

# %% nbgrader={"grade_id": "conv-direct-check", "grade": true, "points": 2}
import numpy as np
import torch

from labkit import check

small = np.array([[[[1.0, 2, 3], [4, 5, 6]]]])
ten = np.array([[[[1.0, 10]]]])
with check.case(
    "the worked example",
    hint=(
        "which entries of x does y[i, j] see, with which weight? which "
        "shape does each array have on the way?"
    ),
):
    got = conv_direct(small, ten)
    check.close(got, [[[[21, 32], [54, 65]]]], name="y")
with check.case(
    "with stride and padding",
    hint=(
        "what is padded, and when? how many places fit, down and "
        "across, in which steps?"
    ),
    more="a last place where the kernel does not fit is left out",
):
    got = conv_direct(small, ten, stride=2)
    check.close(got, [[[[21]]]], name="stride 2")
    got = conv_direct(small, ten, 2, 1)
    check.close(got, [[[[0, 0], [40, 65]]]], name="and padding 1")


def theirs(x, weights, stride=1, padding=0):
    """Return what PyTorch computes from float64."""
    x, weights = (torch.from_numpy(a.astype(np.float64)) for a in (x, weights))
    conv = torch.nn.functional.conv2d
    return conv(x, weights, stride=stride, padding=padding).numpy()


rng = np.random.default_rng(0)
with check.case(
    "several images, channels and kernels, as PyTorch has them",
    hint=(
        "are all four axes as they were after padding, and over which "
        "of them does the sum run?"
    ),
    essential=True,
):
    x = rng.normal(size=(3, 4, 6, 7))
    weights = rng.normal(size=(5, 4, 3, 2))
    check.close(conv_direct(x, weights), theirs(x, weights), name="y")
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(1)
with check.hidden_case(
    "strides and paddings, images and kernels that are not square",
    hint=(
        "sides that differ, strides, paddings: are rows and columns "
        "counted and padded each by itself?"
    ),
):
    for size, kernel, stride, padding in (
        ((2, 3, 9, 5), (4, 3, 2, 3), 2, 0),
        ((1, 2, 5, 11), (3, 2, 4, 1), 3, 2),
        ((2, 1, 4, 4), (2, 1, 1, 1), 1, 1),
        ((2, 2, 1, 6), (1, 2, 3, 2), 2, 1),
        ((1, 1, 8, 8), (1, 1, 3, 3), 5, 0),
        ((1, 2, 6, 7), (2, 2, 2, 2), 3, 1),
    ):
        x, weights = rng.normal(size=size), rng.normal(size=kernel)
        want = theirs(x, weights, stride, padding)
        got = conv_direct(x, weights, stride, padding)
        check.close(got, want, name=f"{size} with {kernel}")
with check.hidden_case(
    "float32 stays float32, and float64 keeps its digits",
    hint=(
        "float32 and float64, with padding and without: which dtype "
        "have the zeros that you add to?"
    ),
):
    x = rng.integers(-8, 8, (2, 3, 5, 6)).astype(np.float32)
    weights = rng.integers(-8, 8, (4, 3, 2, 2)).astype(np.float32)
    for p in (0, 1):
        got = conv_direct(x, weights, 1, p)
        want = theirs(x, weights, 1, p)
        check.close(got, want, rtol=0, dtype="float32", name=f"y, padding {p}")
    x = 1 + 1e-12 * rng.normal(size=(1, 2, 4, 4))
    weights = np.array([[[[1.0]], [[-1.0]]]])
    want = x[:, :1] - x[:, 1:]
    got = conv_direct(x, weights)
    check.close(got, want, rtol=1e-3, atol=0, dtype="float64", name="y")
with check.hidden_case(
    "no image; x, weights and an earlier result stay",
    hint=(
        "several calls, then no image: is y made anew, an argument "
        "written to, a shape kept at size 0?"
    ),
    guard=True,
):
    x, weights = rng.normal(size=(2, 2, 4, 5)), rng.normal(size=(3, 2, 2, 2))
    with check.unchanged(x=x, weights=weights):
        first = conv_direct(x, weights, 1, 1)
        second = conv_direct(2 * x, weights, 1, 1)
    want = theirs(x, weights, 1, 1)
    check.close(first, want, name="the first of two")
    check.close(second, 2 * want, name="the second of two")
    check.shape(conv_direct(x[:0], weights), (0, 3, 3, 4), name="no image")
with check.hidden_case(
    "whole numbers are exact, and float16 stays float16",
    hint=(
        "another dtype: what is it of each array that is made, and does "
        "anything pass through floats?"
    ),
    weight=2,
):
    some = np.array([[[[1, 2, 3], [4, 5, 6]]]])
    kernel = np.array([[[[1, -1]]]])
    got = conv_direct(2**53 + some, kernel)
    check.equal(got, np.full((1, 1, 2, 2), -1), name="of int64")
    got = conv_direct(some.astype(np.float16), kernel.astype(np.float16))
    check.close(got, -np.ones((1, 1, 2, 2)), dtype="float16", name="of float16")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## As one matrix product
#
# ![Left an image of 4 x 4 numbers. im2col makes a matrix of it: four rows, one for each entry of a 2 x 2 kernel, and nine columns, one for each place. k kernels times that matrix are k images of 3 x 3. col2im goes back.](figures/im2col.svg)
#
# Nothing has been tuned as long as the matrix product.
# So put what the kernel sees at each place into a *column*, all columns side by side,
# and the convolution is one product of two matrices (Chellapilla et al. 2006).
# The multiplications stay the same. The price is memory: an entry of x is copied once for each place that sees it.

# %% [markdown]
# ### Task 3. im2col (2 points)
#
# `im2col(x, size, stride=1, padding=0)`, with `size = (r, s)` that of the kernel,
# returns an array of shape $(n,\; c\,r\,s,\; places)$ in x's dtype.
#
# * Each column holds what the kernel sees at one place.
#   Places are numbered row by row.
# * Rows are ordered as the weights are: by channel, within it by row of the kernel, within that by its column.
#
# `conv_im2col(x, weights, stride=1, padding=0)` returns what `conv_direct` returns, by one matrix product an image.
#
# For `x = [[[[1, 2, 3], [4, 5, 6]]]]` and size `(1, 2)`, columns are `[[[1, 2, 4, 5], [2, 3, 5, 6]]]`.
# About 8 lines, and 4. `np.lib.stride_tricks.sliding_window_view` may help; so may two loops as in Task 2.


# %% nbgrader={"grade_id": "im2col", "solution": true}
def im2col(
    x: np.ndarray, size: tuple[int, int], stride: int = 1, padding: int = 0
) -> np.ndarray:
    """Return what a kernel sees: shape (n, c * r * s, places)."""
    ### BEGIN SOLUTION
    p = padding
    x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    seen = np.lib.stride_tricks.sliding_window_view(x, size, axis=(2, 3))
    seen = seen[:, :, ::stride, ::stride]
    n, c, rows, columns, r, s = seen.shape
    seen = seen.transpose(0, 1, 4, 5, 2, 3)
    return seen.reshape(n, c * r * s, rows * columns)
    ### END SOLUTION


def conv_im2col(
    x: np.ndarray, weights: np.ndarray, stride: int = 1, padding: int = 0
) -> np.ndarray:
    """Return x (n, c, h, w) correlated with weights (k, c, r, s)."""
    ### BEGIN SOLUTION
    k, c, r, s = weights.shape
    flat = weights.reshape(k, c * r * s) @ im2col(x, (r, s), stride, padding)
    rows = (x.shape[2] + 2 * padding - r) // stride + 1
    columns = (x.shape[3] + 2 * padding - s) // stride + 1
    return flat.reshape(len(x), k, rows, columns)
    ### END SOLUTION


# %% explore=true
draw = np.random.default_rng(0)
x = draw.normal(size=(4, 16, 32, 32)).astype(np.float32)
weights = draw.normal(size=(16, 16, 3, 3)).astype(np.float32)
tensors = torch.from_numpy(x), torch.from_numpy(weights)
same = im2col(x, (3, 3), 2, 1) == F.unfold(tensors[0], 3, 1, 1, 2).numpy()
print(f"equal to torch.nn.functional.unfold: {same.all()}")
bytes_more = im2col(x, (3, 3)).nbytes / x.nbytes
print(
    f"columns of a 3 x 3 kernel take {bytes_more:.1f} times the image's bytes"
)
ways = {
    "direct": lambda: conv_direct(x, weights),
    "im2col": lambda: conv_im2col(x, weights),
    "PyTorch": lambda: F.conv2d(*tensors),
}
print(compare(ways))

# %% nbgrader={"grade_id": "im2col-check", "grade": true, "points": 2}
import numpy as np
import torch

from labkit import check


def theirs(x, weights, stride=1, padding=0):
    """Return what PyTorch computes from float64."""
    x, weights = (torch.from_numpy(a.astype(np.float64)) for a in (x, weights))
    conv = torch.nn.functional.conv2d
    return conv(x, weights, stride=stride, padding=padding).numpy()


small = np.array([[[[1.0, 2, 3], [4, 5, 6]]]])
with check.case(
    "the worked example",
    hint=(
        "which axis holds kernel entries, which places? are x's four "
        "axes kept, those of length 1 too?"
    ),
):
    got = im2col(small, (1, 2))
    check.close(got, [[[1, 2, 4, 5], [2, 3, 5, 6]]], name="columns")
with check.case(
    "the order of rows: channel, row of the kernel, column of the kernel",
    hint=(
        "in which order do channel, kernel row, kernel column vary, and"
        " which is fastest?"
    ),
    essential=True,
):
    x = np.arange(1.0, 17).reshape(1, 2, 2, 4)
    got = im2col(x, (2, 2), 2)
    want = [[1, 3], [2, 4], [5, 7], [6, 8]]
    want += [[9, 11], [10, 12], [13, 15], [14, 16]]
    check.close(got, [want], rtol=0, name="columns")
with check.case(
    "one product is the convolution",
    hint=(
        "which product, for which image? what shape has it, and which "
        "axis becomes rows and columns?"
    ),
):
    x = np.stack([small[0], small[0] + 10])
    weights = np.array([[[[1.0, 10]]], [[[0, 1]]]])
    got = conv_im2col(x, weights, 1, 0)
    first = [[[21, 32], [54, 65]], [[2, 3], [5, 6]]]
    second = [[[131, 142], [164, 175]], [[12, 13], [15, 16]]]
    check.close(got, [first, second], name="y")
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(2)
with check.hidden_case(
    "as PyTorch unfolds, with strides and paddings",
    hint=(
        "sides, strides, paddings that differ: are places counted down "
        "and across, zeros on all sides?"
    ),
):
    for shape, size, stride, padding in (
        ((2, 3, 5, 7), (2, 3), 1, 0),
        ((2, 2, 9, 4), (3, 1), 2, 1),
        ((1, 1, 4, 8), (2, 5), 3, 2),
        ((3, 2, 1, 1), (1, 1), 1, 0),
        ((1, 2, 7, 7), (7, 7), 1, 0),
        ((2, 1, 8, 6), (3, 2), 5, 0),
        ((1, 2, 6, 7), (2, 2), 3, 1),
    ):
        x = rng.normal(size=shape)
        unfold = torch.nn.Unfold(size, padding=padding, stride=stride)
        want = unfold(torch.from_numpy(x)).numpy()
        got = im2col(x, size, stride, padding)
        check.close(got, want, rtol=0, dtype="float64", name=f"{shape}")
with check.hidden_case(
    "the product, with strides and paddings",
    hint=(
        "strides, paddings, sides of 1: how many places, as in Task 2, "
        "and are both arguments used?"
    ),
):
    for shape, kernel, stride, padding in (
        ((2, 3, 6, 9), (4, 3, 3, 2), 1, 0),
        ((3, 2, 5, 8), (2, 2, 2, 3), 2, 1),
        ((1, 1, 3, 3), (1, 1, 1, 3), 3, 2),
        ((1, 2, 6, 7), (2, 2, 2, 2), 3, 1),
    ):
        x, weights = rng.normal(size=shape), rng.normal(size=kernel)
        want = theirs(x, weights, stride, padding)
        got = conv_im2col(x, weights, stride, padding)
        check.close(got, want, name=f"{shape} with {kernel}")
with check.hidden_case(
    "float32 stays float32, in columns and results",
    hint=(
        "float32, columns and y, with padding and without: which array "
        "on the way has another dtype?"
    ),
):
    x = rng.integers(-9, 9, (2, 2, 4, 3)).astype(np.float32)
    weights = rng.integers(-9, 9, (2, 2, 2, 2)).astype(np.float32)
    for p in (0, 1):
        want = torch.nn.Unfold((2, 2), padding=p)(torch.from_numpy(x)).numpy()
        got, title = im2col(x, (2, 2), 1, p), f"columns, padding {p}"
        check.close(got, want, rtol=0, dtype="float32", name=title)
        want = theirs(x, weights, 1, p)
        got = conv_im2col(x, weights, 1, p)
        check.close(got, want, rtol=0, dtype="float32", name=f"y, padding {p}")
with check.hidden_case(
    "no image; arguments and an earlier result stay",
    hint=(
        "several calls, then no image: is each result made anew, an "
        "argument written to, a shape kept?"
    ),
    guard=True,
):
    x, weights = rng.normal(size=(2, 3, 4, 6)), rng.normal(size=(2, 3, 2, 3))
    with check.unchanged(x=x, weights=weights):
        columns = im2col(x, (2, 3), 1, 1)
        first = conv_im2col(x, weights)
        others = im2col(3 * x, (2, 3), 1, 1)
        second = conv_im2col(3 * x, weights)
    unfold = torch.nn.Unfold((2, 3), padding=1)
    want = unfold(torch.from_numpy(x)).numpy()
    check.close(columns, want, name="columns, the first of two")
    check.close(others, 3 * want, name="columns, the second of two")
    check.close(first, theirs(x, weights), name="y, the first of two")
    check.close(second, 3 * theirs(x, weights), name="y, the second of two")
    check.shape(im2col(x[:0], (2, 3)), (0, 18, 12), name="no image")
    check.shape(conv_im2col(x[:0], weights), (0, 2, 3, 4), name="no image")
with check.hidden_case(
    "whole numbers are exact here, and float16 stays float16",
    hint=(
        "another dtype: what is it of each array that is made, and does "
        "anything pass through floats?"
    ),
    weight=2,
):
    some = np.array([[[[1, 2, 3], [4, 5, 6]]]])
    kernel = np.array([[[[1, -1]]]])
    seen = np.array([[[1, 2, 4, 5], [2, 3, 5, 6]]])
    check.equal(im2col(2**53 + some, (1, 2)), 2**53 + seen, name="of int64")
    got = conv_im2col(2**53 + some, kernel)
    check.equal(got, np.full((1, 1, 2, 2), -1), name="results of int64")
    some, kernel = some.astype(np.float16), kernel.astype(np.float16)
    got = im2col(some, (1, 2))
    check.close(got, seen, dtype="float16", name="columns of float16")
    got = conv_im2col(some, kernel)
    check.close(got, -np.ones((1, 1, 2, 2)), dtype="float16", name="results")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 4. And back (2 points)
#
# im2col copies and pads, so it is linear: columns $= M x$ with a matrix $M$ of zeros and ones.
# Its *adjoint* $M^\top$ takes columns to images, so that for all x and all columns $u$
#
# $$\langle \mathrm{im2col}(x),\, u \rangle = \langle x,\, \mathrm{col2im}(u) \rangle .$$
#
# Where im2col copies an entry to three columns, col2im *adds up* these three.
# It is not the inverse: it is what backpropagation needs.
# Where $y = W\,\mathrm{im2col}(x)$ and $\partial y$ is the gradient with respect to y,
# that with respect to x is $\mathrm{col2im}(W^\top \partial y)$.

# %% [markdown]
# `col2im(columns, shape, size, stride=1, padding=0)` takes columns as im2col returns them for images
# of shape `shape` $= (n, c, h, w)$, and returns an array of that shape, in the dtype of `columns`.
# What belongs to the padding is left out; what no place has seen is 0.
#
# For shape `(1, 1, 2, 3)`, size `(1, 2)` and columns `[[[1, 2, 3, 4], [10, 20, 30, 40]]]`
# the result is `[[[[1, 12, 20], [3, 34, 40]]]]`: both copies of a middle entry meet there.
# About 9 lines, again with a loop over rows and one over columns of the kernel.


# %% nbgrader={"grade_id": "col2im", "solution": true}
def col2im(
    columns: np.ndarray,
    shape: tuple[int, int, int, int],
    size: tuple[int, int],
    stride: int = 1,
    padding: int = 0,
) -> np.ndarray:
    """Return images of a shape (n, c, h, w): im2col's adjoint."""
    ### BEGIN SOLUTION
    (n, c, h, w), (r, s), p = shape, size, padding
    high = (h + 2 * p - r) // stride + 1
    wide = (w + 2 * p - s) // stride + 1
    parts = columns.reshape(n, c, r, s, high, wide)
    x = np.zeros((n, c, h + 2 * p, w + 2 * p), columns.dtype)
    for a in range(r):
        for b in range(s):
            part = x[:, :, a::stride, b::stride][:, :, :high, :wide]
            part += parts[:, :, a, b]
    return x[:, :, p : p + h, p : p + w]
    ### END SOLUTION


# %% explore=true
draw = np.random.default_rng(1)
x, dy = draw.normal(size=(2, 3, 9, 7)), draw.normal(size=(2, 4, 5, 4))
weights = draw.normal(size=(4, 3, 3, 3))
with_gradient = torch.from_numpy(x).requires_grad_()
y = F.conv2d(with_gradient, torch.from_numpy(weights), stride=2, padding=1)
y.backward(torch.from_numpy(dy))
du = weights.reshape(4, 27).T @ dy.reshape(2, 4, 20)
mine = col2im(du, x.shape, (3, 3), 2, 1)
off = np.abs(mine - with_gradient.grad.numpy()).max()
print(f"gradient of a convolution, against PyTorch's: off by {off:.1e}")
u = draw.normal(size=(2, 27, 20))
left = (im2col(x, (3, 3), 2, 1) * u).sum()
right = (x * col2im(u, x.shape, (3, 3), 2, 1)).sum()
print(f"<im2col(x), u> = {left:.9f}, <x, col2im(u)> = {right:.9f}")
ones = np.ones((1, 9, 36))
counts = col2im(ones, (1, 1, 8, 8), (3, 3))[0, 0]
ax = plot.matrix(
    counts,
    xlabel="column of the image",
    ylabel="row of the image",
    title="How many places of a\n3 x 3 kernel see each entry",
)
ax.set_aspect("equal")
ax.figure.set_size_inches(4, 4.2)

# %% nbgrader={"grade_id": "col2im-check", "grade": true, "points": 2}
import numpy as np
import torch

from labkit import check

with check.case(
    "the worked example",
    hint=(
        "how many places are there, down and across? to which entry of "
        "x does each column entry belong?"
    ),
    more="the last one written must not win",
):
    u = np.array([[[1.0, 2, 3, 4], [10, 20, 30, 40]]])
    got = col2im(u, (1, 1, 2, 3), (1, 2))
    check.close(got, [[[[1, 12, 20], [3, 34, 40]]]], name="x")
with check.case(
    "how often each entry was seen",
    hint=(
        "which axes of x are rows and columns, and does each slice stand "
        "at its own? is every sight of an entry added?"
    ),
):
    got = col2im(np.ones((1, 4, 9)), (1, 1, 4, 4), (2, 2))
    want = np.outer([1, 2, 2, 1], [1, 2, 2, 1])[None, None]
    check.close(got, want, name="x")
with check.case(
    "with a stride, entries that no place has seen are 0",
    hint=(
        "which entries does a stride leave out? is the shape the one "
        "given, and filled with zeros?"
    ),
):
    got = col2im(np.array([[[5.0, 6.0, 7.0, 8.0]]]), (1, 1, 4, 4), (1, 1), 2)
    want = [[5, 0, 6, 0], [0, 0, 0, 0], [7, 0, 8, 0], [0, 0, 0, 0]]
    check.close(got, [[want]], name="x")
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(3)
with check.hidden_case(
    "as PyTorch folds, with strides and paddings",
    hint=(
        "strides and paddings, sides that differ: is the array padded "
        "on all sides, and which part comes back?"
    ),
    essential=True,
):
    for shape, size, stride, padding, places in (
        ((2, 3, 5, 7), (2, 3), 1, 0, 20),
        ((2, 2, 9, 4), (3, 1), 2, 1, 15),
        ((1, 1, 4, 8), (2, 5), 3, 2, 9),
        ((1, 2, 6, 5), (3, 2), 5, 0, 1),
        ((3, 1, 1, 1), (3, 3), 1, 1, 1),
    ):
        u = rng.normal(size=(shape[0], shape[1] * size[0] * size[1], places))
        fold = torch.nn.Fold(shape[2:], size, padding=padding, stride=stride)
        want = fold(torch.from_numpy(u)).numpy()
        got = col2im(u, shape, size, stride, padding)
        check.close(got, want, dtype="float64", name=f"{shape}")
with check.hidden_case(
    "float32 stays float32",
    hint=(
        "float32 columns, with padding and without: which dtype have "
        "the zeros that you add into?"
    ),
):
    for p, places in ((0, 6), (1, 20)):
        u = rng.integers(-9, 9, (2, 4, places)).astype(np.float32)
        fold = torch.nn.Fold((3, 4), (2, 2), padding=p)
        want = fold(torch.from_numpy(u)).numpy()
        got = col2im(u, (2, 1, 3, 4), (2, 2), 1, p)
        check.close(got, want, rtol=0, dtype="float32", name=f"x, padding {p}")
with check.hidden_case(
    "no image; columns and an earlier result stay",
    hint=(
        "several calls, then no image: zeros of this call's own? "
        "columns written to? a shape kept at size 0?"
    ),
    guard=True,
):
    u = rng.normal(size=(2, 4, 6))
    padded = rng.normal(size=(1, 4, 20))
    with check.unchanged(columns=u, more=padded):
        first = col2im(u, (2, 1, 3, 4), (2, 2))
        second = col2im(5 * u, (2, 1, 3, 4), (2, 2))
        col2im(padded, (1, 1, 3, 4), (2, 2), 1, 1)
    want = torch.nn.Fold((3, 4), (2, 2))(torch.from_numpy(u)).numpy()
    check.close(first, want, name="the first of two")
    check.close(second, 5 * want, name="the second of two")
    got = col2im(u[:0], (0, 1, 3, 4), (2, 2))
    check.shape(got, (0, 1, 3, 4), name="no image")
with check.hidden_case(
    "whole numbers add up exactly, and float16 stays float16",
    hint=(
        "another dtype: what is it of each array that is made, and does "
        "anything pass through floats?"
    ),
    weight=2,
):
    columns = np.array([[[1, 2, 3, 4], [10, 20, 30, 40]]])
    want = np.array([[[[1, 12, 20], [3, 34, 40]]]])
    one = np.array([[[[1, 2, 1], [1, 2, 1]]]])
    got = col2im(columns + 2**54 + 1, (1, 1, 2, 3), (1, 2))
    check.equal(got, want + (2**54 + 1) * one, name="of int64")
    got = col2im(columns.astype(np.float16), (1, 1, 2, 3), (1, 2))
    check.close(got, want, dtype="float16", name="of float16")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## By Fourier transform
#
# A *Fourier transform* writes an image as a sum of waves; the heights of these waves, complex numbers, are its *spectrum*.
# `np.fft.rfft2` computes it in about $hw \log(hw)$ steps, `irfft2` goes back.
# (For real images half of a spectrum follows from the other half: `rfft2` keeps $h\,(\lfloor w/2 \rfloor + 1)$ numbers.)
# The transform of a convolution is the product of the transforms, entry by entry, however large the kernel is;
# and each image and each kernel is transformed only once,
# while their spectra meet $n\,k\,c$ times (Mathieu et al. 2014).

# %% [markdown]
# For a correlation, one spectrum is *conjugated*: $\hat y = \sum_c \hat x_c\, \overline{\hat w_c}$.
# (To conjugate a real array's spectrum is to mirror the array, and a correlation is a convolution with the mirrored kernel.)
# That correlation is *circular*: a kernel which leaves at the right comes in again at the left.
# The results at places where it lies inside are not touched by this: keep these.

# %% [markdown]
# ### Task 5. By Fourier transform (2 points)
#
# `conv_fft(x, weights, forward=np.fft.rfft2, inverse=np.fft.irfft2)` returns what `conv_direct(x, weights)` returns:
# stride 1, no padding, the dtype of x.
#
# * `forward(a, size)` transforms the last two axes of a, filled with zeros up to `size`.
#   `inverse(spectra, size)` goes back to real arrays of that size.
#   `size` is $(h, w)$, the image's: a larger one would give the same results and cost more.
# * Every image, kernel and result passes through these two functions,
#   whichever they are. (To count and to check, others are handed over.)
#
# About 6 lines. A line of 3 numbers, `[1, 2, 3]`, and a kernel `[1, 10]` give 21, 32 and, around the edge, 13.
# The last one is to be cut off.


# %% nbgrader={"grade_id": "conv-fft", "solution": true}
def conv_fft(
    x: np.ndarray,
    weights: np.ndarray,
    forward=np.fft.rfft2,
    inverse=np.fft.irfft2,
) -> np.ndarray:
    """Return x (n, c, h, w) correlated with weights (k, c, r, s)."""
    ### BEGIN SOLUTION
    size, (r, s) = x.shape[2:], weights.shape[2:]
    images = forward(x, size).transpose(2, 3, 0, 1)
    kernels = forward(weights, size).conj().transpose(2, 3, 1, 0)
    spectra = (images @ kernels).transpose(2, 3, 0, 1)
    y = inverse(spectra, size)[:, :, : size[0] - r + 1, : size[1] - s + 1]
    return y.astype(x.dtype)
    ### END SOLUTION


# %% explore=true
draw = np.random.default_rng(2)
x = draw.normal(size=(4, 16, 32, 32)).astype(np.float32)
for side in (3, 15):
    weights = draw.normal(size=(16, 16, side, side)).astype(np.float32)
    off = np.abs(conv_fft(x, weights) - conv_direct(x, weights)).max()
    print(f"kernels of {side} x {side}: largest difference {off:.1e}")
    ways = {
        "direct": lambda w=weights: conv_direct(x, w),
        "im2col": lambda w=weights: conv_im2col(x, w),
        "FFT": lambda w=weights: conv_fft(x, w),
    }
    print(compare(ways), "\n")

# %% [markdown]
# For 3 x 3 kernels the transforms are a detour beside im2col: compare the two rows in the first table.
# But the work between the transforms does not grow with the kernel: Task 7 asks from which side on the detour pays.
# (A wide middle half, from far below 1x to above it, say, is a busy machine.)

# %% nbgrader={"grade_id": "conv-fft-check", "grade": true, "points": 2}
import math
from collections import Counter

import numpy as np
import torch

from labkit import check


def theirs(x, weights, stride=1, padding=0):
    """Return what PyTorch computes from float64."""
    x, weights = (torch.from_numpy(a.astype(np.float64)) for a in (x, weights))
    conv = torch.nn.functional.conv2d
    return conv(x, weights, stride=stride, padding=padding).numpy()


line, pair = np.array([[[[1.0, 2, 3]]]]), np.array([[[[1.0, 10]]]])
with check.case(
    "the worked example",
    hint=(
        "which two axes does size name? what turns a kernel round, and "
        "which results has the edge not touched?"
    ),
    more="21, 32 and 13 come out of the circle; 31, 12 and 23 mean that no"
    " spectrum was conjugated",
):
    check.close(conv_fft(line, pair), [[[[21, 32]]]], name="y")
    # With another inverse, twice as large, so is y.
    twice = conv_fft(
        line, pair, inverse=lambda a, size: 2 * np.fft.irfft2(a, size)
    )
    check.close(twice, [[[[42, 64]]]], name="y, with twice the inverse")
with check.case(
    "channels are added, kernels are not",
    hint=(
        "which axis is summed, channels or kernels? in which order "
        "stand images and kernels afterwards?"
    ),
    guard=True,
):
    x = np.arange(24.0).reshape(2, 2, 2, 3)
    weights = np.arange(12.0).reshape(3, 2, 1, 2)
    got = conv_fft(x, weights)
    want = theirs(x, weights)
    check.close(got, want, rtol=1e-9, name="y")
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(4)
with check.hidden_case(
    "odd and even sides, kernels as large as the image",
    hint=(
        "odd and even sides, kernels as large as the image: does "
        "inverse know the size? what is cut off?"
    ),
    guard=True,
):
    for shape, kernel in (
        ((2, 3, 6, 9), (4, 3, 3, 2)),
        ((1, 2, 7, 4), (3, 2, 7, 4)),
        ((3, 1, 5, 5), (1, 1, 1, 1)),
        ((1, 4, 1, 8), (2, 4, 1, 5)),
    ):
        x, weights = rng.normal(size=shape), rng.normal(size=kernel)
        want = theirs(x, weights)
        # Errors of a transform: some 1e-15.
        got = conv_fft(x, weights)
        check.close(got, want, rtol=1e-9, atol=1e-12, name=f"{shape}")
with check.hidden_case(
    "x and weights pass through forward, the sum through inverse",
    hint=(
        "other transforms are handed in: does all pass through them, "
        "how often, and at which size?"
    ),
    essential=True,
):
    # A gain for each frequency: no convolution can make up for it.
    gains, sizes = rng.uniform(0.5, 2, size=(2, 5, 4)), []
    planes = Counter()

    def noted(name, a, size):
        sizes.append(tuple(int(side) for side in size))
        planes[name] += math.prod(np.shape(a)[:-2])

    def forward(a, size):
        noted("forward", a, size)
        return gains[0] * np.fft.rfft2(a, size)

    def inverse(a, size):
        noted("inverse", a, size)
        return np.fft.irfft2(gains[1] * a, size)

    x, weights = rng.normal(size=(2, 3, 5, 7)), rng.normal(size=(2, 3, 3, 3))
    got = conv_fft(x, weights, forward, inverse)
    images, kernels = (np.fft.rfft2(a, (5, 7)) for a in (x, weights))
    spectra = np.einsum("nchw,kchw->nkhw", images, kernels.conj())
    want = np.fft.irfft2(gains[1] * gains[0] ** 2 * spectra, (5, 7))
    check.close(got, want[..., :3, :5], rtol=1e-9, atol=1e-12, name="y")
    check.equal(sorted(set(sizes)), [(5, 7)], name="sizes of the transforms")
    most = 2 * 3 + 2 * 3
    check.at_most(planes["forward"], most, name="channels transformed")
    check.at_most(planes["inverse"], 2 * 2, name="results transformed back")
with check.hidden_case(
    "float32 stays float32, and float64 keeps its digits",
    hint=(
        "float32, also from wider transforms: which dtype has y, and is"
        " anything rounded before?"
    ),
    guard=True,
):
    x = rng.normal(size=(2, 2, 6, 6)).astype(np.float32)
    weights = rng.normal(size=(2, 2, 3, 3)).astype(np.float32)
    want = theirs(x, weights)
    got = conv_fft(x, weights)
    # Sums of 18 products in float32: some 1e-6.
    check.close(got, want, rtol=0, atol=2e-5, dtype="float32", name="y")

    def wide(a, size):
        return np.fft.rfft2(a.astype(np.float64), size)

    got = conv_fft(x, weights, wide)
    check.close(got, want, rtol=0, atol=2e-5, dtype="float32", name="y")
with check.hidden_case(
    "x, weights and an earlier result stay",
    hint=(
        "three calls of one shape: is each result made from this call's"
        " x and weights? is one written to?"
    ),
    guard=True,
):
    x, weights = rng.normal(size=(2, 2, 5, 6)), rng.normal(size=(3, 2, 2, 2))
    want = theirs(x, weights)
    with check.unchanged(x=x, weights=weights):
        first = conv_fft(x, weights)
        conv_fft(2 * x, 3 * weights)
        third = conv_fft(x, 3 * weights)
    check.close(first, want, rtol=1e-9, atol=1e-12, name="first of three")
    check.close(third, 3 * want, rtol=1e-9, atol=1e-12, name="last of three")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## With fewer multiplications
#
# Two results of a kernel of three numbers take six multiplications. Winograd (1980) needs four:
# $m_1 = (d_0 - d_2)\,g_0$, $\; m_2 = (d_1 + d_2)\,\tfrac{g_0 + g_1 + g_2}{2}$,
# $\; m_3 = (d_2 - d_1)\,\tfrac{g_0 - g_1 + g_2}{2}$, $\; m_4 = (d_1 - d_3)\,g_2$;
# the results are $m_1 + m_2 + m_3$ and $m_2 - m_3 - m_4$.
# This is $F(2, 3)$: two results, three weights, and $t = 2 + 3 - 1 = 4$ products.
# Written as matrices, these are $B^\top$ (which data are added), $G$ (which weights) and $A^\top$ (which products).
# `winograd`, below, builds them for $m + r$ from 4 to 9, by interpolation through up to seven points; you need not read it.

# %% [markdown]
# In two dimensions (Lavin and Gray 2016), a tile $d$ of $t \times t$ numbers and a kernel $g$ of $r \times r$ give
# $m \times m$ results:
#
# $$Y = A^\top \left[\, (G\, g\, G^\top) \odot (B^\top d\, B) \,\right] A, \qquad t = m + r - 1,$$
#
# where $\odot$ multiplies entry by entry. For $F(2 \times 2, 3 \times 3)$ these are 16 products in place of 36
# (from here on $F(2, 3)$ for short).
# Over channels one adds before the last step: transforms are linear.
# Neighbouring tiles overlap by $r - 1$; their results lie side by side.


# %% nbgrader={"grade_id": "cook-toom", "locked": true}
def winograd(m, r):
    """Return BT (t, t), G (t, r) and AT (m, t) of F(m, r), t = m + r - 1."""
    points = [0, 1, -1, 2, -2, 0.5, -0.5][: m + r - 2]
    t = m + r - 1
    bt, g, at = np.zeros((t, t)), np.zeros((t, r)), np.zeros((m, t))
    for j, point in enumerate(points):
        others = points[:j] + points[j + 1 :]
        g[j] = point ** np.arange(r) / np.prod(np.subtract(point, others))
        at[:, j] = float(point) ** np.arange(m)
        bt[j, : t - 1] = np.poly(others)[::-1]
    g[-1, -1] = at[-1, -1] = 1  # the point at infinity
    bt[-1] = np.poly(points)[::-1]
    return bt, g, at


# %% explore=true
for name, one in zip(("BT", "G", "AT"), winograd(2, 3), strict=True):
    print(f"{name} of F(2, 3):\n{one}")

# %% [markdown]
# (Some signs differ from the formulas above. They do so in pairs, which cancel.)
#
# ### Task 6. Winograd (3 points)
#
# `conv_winograd(x, weights, transforms)` takes `transforms = (BT, G, AT)` of shapes $(t, t)$, $(t, r)$, $(m, t)$,
# and kernels of $r \times r$. It returns what `conv_direct(x, weights)` returns: stride 1, no padding, in x's dtype.
#
# * $m$ and $t$ are read off the matrices.
#   Fill x with zeros at the right and at the bottom until tiles cover all results, and cut off what is too much.
# * The three matrices are converted to x's dtype first, and all arrays after that have it, too.
# * $Y$ is computed by the formula, whatever the three matrices are: each is used where the formula has it.

# %% [markdown]
# With the four products above, the line 1, 2, 3, 4 and weights 1, 10, 100 give
# $m = (-2,\, 277.5,\, 45.5,\, -200)$ and so 321 and 432.
#
# About 15 lines:
# tiles (`sliding_window_view` with every $m$-th place), two transforms, a product summed over channels, the third transform,
# and an exchange of axes that puts tiles side by side.
# `@` works on the last two axes of arrays with more of them.


# %% nbgrader={"grade_id": "conv-winograd", "solution": true}
def conv_winograd(
    x: np.ndarray,
    weights: np.ndarray,
    transforms: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return x (n, c, h, w) correlated with weights (k, c, r, r)."""
    ### BEGIN SOLUTION
    bt, g, at = (one.astype(x.dtype) for one in transforms)
    (m, t), r, k = at.shape, g.shape[1], len(weights)
    n, c, h, w = x.shape
    high, wide = -(-(h - r + 1) // m), -(-(w - r + 1) // m)
    down, right = high * m + r - 1 - h, wide * m + r - 1 - w
    x = np.pad(x, ((0, 0), (0, 0), (0, down), (0, right)))
    window = np.lib.stride_tricks.sliding_window_view
    tiles = window(x, (t, t), axis=(2, 3))[:, :, ::m, ::m]
    v = (bt @ tiles @ bt.T).transpose(4, 5, 1, 0, 2, 3).reshape(t, t, c, -1)
    u = (g @ weights @ g.T).transpose(2, 3, 0, 1)
    products = (u @ v).reshape(t, t, k, n, high, wide)
    y = at @ products.transpose(3, 2, 4, 5, 0, 1) @ at.T
    y = y.swapaxes(3, 4).reshape(n, k, high * m, wide * m)
    return y[:, :, : h - r + 1, : w - r + 1]
    ### END SOLUTION


# %% explore=true
draw = np.random.default_rng(3)
x, weights = draw.normal(size=(2, 16, 26, 26)), draw.normal(size=(16, 16, 3, 3))
exact = conv_direct(x, weights)


def digits_lost(dtype):
    """Return by algorithm the error of y, relative to y (root mean square)."""
    narrow = x.astype(dtype), weights.astype(dtype)
    found = {"direct": conv_direct(*narrow)}
    for m in (2, 4, 6):
        found[f"F({m},3)"] = conv_winograd(*narrow, winograd(m, 3))
    return {
        name: np.sqrt(((y - exact) ** 2).mean() / (exact**2).mean())
        for name, y in found.items()
    }


for ax, dtype in zip(plot.panels(2), ("float16", "float32"), strict=True):
    errors = digits_lost(dtype)
    right = {name: -np.log10(error) for name, error in errors.items()}
    plot.bars(right, fmt=".1f", title=f"In {dtype}", ax=ax)
    ax.set_ylim(0, 8)  # one scale for both
    ax.set_ylabel("right decimal digits")

# %% [markdown]
# From $F(2,3)$ to $F(6,3)$ multiplications become fewer, and so do digits: larger tiles mean larger constants,
# so numbers become large first, and are then subtracted from each other.
# In float32 nobody minds. In float16, which has three digits to begin with, $F(6,3)$ loses about one.
# And $F(2,3)$, whose constants are 1 and 1/2? Compare its bar with direct's.
# So with 16 bits take small tiles, or compute the transforms in float32.

# %% nbgrader={"grade_id": "conv-winograd-check", "grade": true, "points": 3}
import numpy as np
import torch

from labkit import check


def theirs(x, weights, stride=1, padding=0):
    """Return what PyTorch computes from float64."""
    x, weights = (torch.from_numpy(a.astype(np.float64)) for a in (x, weights))
    conv = torch.nn.functional.conv2d
    return conv(x, weights, stride=stride, padding=padding).numpy()


BT = np.array([[1.0, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1.0]])
AT = np.array([[1.0, 1, 1, 0], [0, 1, -1, -1]])
with check.case(
    "one tile",
    hint=(
        "which m, r and t do the matrices say? are all three used as "
        "they came, signs too, on both sides?"
    ),
):
    line, weights = np.array([1.0, 2, 3, 4]), np.array([1.0, 10, 100])
    x, kernel = np.outer([1, 1, 1, 1], line), np.outer([0, 1, 0], weights)
    got = conv_winograd(x[None, None], kernel[None, None], (BT, G, AT))
    check.close(got, [[[[321, 432], [321, 432]]]], name="y")
    # With the rows of AT exchanged, so are the results.
    got = conv_winograd(x[None, None], kernel[None, None], (BT, G, AT[::-1]))
    check.close(got, [[[[432, 321], [432, 321]]]], name="y, AT upside down")
with check.case(
    "several tiles lie side by side",
    hint=(
        "where does each tile begin, and how far does it reach? which "
        "axis stands beside which at the end?"
    ),
    more="which axis belongs beside which before you reshape?",
    guard=True,
):
    x = np.arange(48.0).reshape(1, 1, 6, 8) ** 2
    kernel = np.array([[[[0.0, 0, 0], [0, 1, 2], [0, 0, -1]]]])
    got = conv_winograd(x, kernel, (BT, G, AT))
    want = theirs(x, kernel)
    check.close(got, want, name="y")
with check.case(
    "results that tiles do not divide",
    hint=(
        "tiles that do not divide: how many down and across, how many "
        "zeros are added, what is cut off?"
    ),
    guard=True,
):
    x, kernel = np.arange(25.0).reshape(1, 1, 5, 5), np.ones((1, 1, 3, 3))
    got = conv_winograd(x, kernel, (BT, G, AT))
    want = 9 * np.arange(25.0).reshape(5, 5)[1:4, 1:4]
    check.close(got, want[None, None], name="y")
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(5)


def by_formula(x, kernels, transforms):
    """Return Y of each tile, one entry after another."""
    bt, g, at = transforms
    m, t = at.shape
    r = g.shape[1]
    n, c, h, w = x.shape
    rows, columns = h - r + 1, w - r + 1
    wide = np.zeros((n, c, h + m + t, w + m + t))
    wide[:, :, :h, :w] = x
    y = np.zeros((n, len(kernels), rows + m, columns + m))
    for i in range(0, rows, m):
        for j in range(0, columns, m):
            d = wide[:, :, i : i + t, j : j + t]
            spread = np.einsum("ab,ncbe,fe->ncaf", bt, d, bt)
            kernel = np.einsum("ab,kcbe,fe->kcaf", g, kernels, g)
            total = np.einsum("ncaf,kcaf->nkaf", spread, kernel)
            tile = np.einsum("ab,nkbe,fe->nkaf", at, total, at)
            y[:, :, i : i + m, j : j + m] = tile
    return y[:, :, :rows, :columns]


# Matrices that are none of a convolution's: whoever calls one gets others.
odd = [rng.normal(size=size) for size in ((4, 4), (4, 3), (2, 4))]
with check.hidden_case(
    "images, channels and kernels",
    hint=(
        "several images, channels, kernels: over which axis is added, "
        "when, and in which order are the others?"
    ),
):
    for shape, k in (((3, 2, 7, 10), 4), ((1, 5, 3, 4), 2), ((2, 1, 9, 3), 3)):
        x, kernels = (
            rng.normal(size=shape),
            rng.normal(size=(k, shape[1], 3, 3)),
        )
        want = by_formula(x, kernels, odd)
        got = conv_winograd(x, kernels, tuple(odd))
        check.close(got, want, rtol=1e-9, atol=1e-10, name=f"{shape}")
with check.hidden_case(
    "the formula, with any three matrices",
    hint=(
        "other matrices and sizes: are m, r, t read off them, and is "
        "each used left as is, right transposed?"
    ),
    more="other matrices give other results than a convolution's: is each of"
    " the three used, and where?",
    essential=True,
):
    for m, r, shape in (
        (2, 3, (2, 3, 6, 8)),
        (3, 2, (1, 2, 7, 5)),
        (1, 3, (2, 2, 5, 4)),
        (2, 1, (1, 3, 4, 5)),
        (4, 3, (2, 1, 9, 12)),
    ):
        t = m + r - 1
        some = [rng.normal(size=size) for size in ((t, t), (t, r), (m, t))]
        x = rng.normal(size=shape)
        kernels = rng.normal(size=(2, shape[1], r, r))
        want = by_formula(x, kernels, some)
        got = conv_winograd(x, kernels, tuple(some))
        check.close(got, want, rtol=1e-9, atol=1e-10, name=f"F({m}, {r})")
with check.hidden_case(
    "float32 stays float32 although the matrices are float64",
    hint=(
        "float32 x and float64 matrices: what is converted, and when? "
        "which dtype has y?"
    ),
):
    x = rng.normal(size=(2, 3, 6, 6)).astype(np.float32)
    kernels = rng.normal(size=(2, 3, 3, 3)).astype(np.float32)
    want = by_formula(x, kernels, odd)
    got = conv_winograd(x, kernels, tuple(odd))
    check.close(got, want, rtol=1e-4, atol=1e-3, dtype="float32", name="y")
with check.hidden_case(
    "transforms in float16, too, where x is float16",
    hint=(
        "float16 x: which arrays are converted, and before which step? "
        "a tenth is another number there"
    ),
):
    # In float16 a tenth is 0.09998: squared and times 100 it is 0.9995.
    x = kernels = np.ones((1, 1, 1, 1), np.float16)
    tenth, ten, same = (np.array([[a]]) for a in (0.1, 10.0, 1.0))
    got = conv_winograd(x, kernels, (tenth, ten, same))
    check.close(got, [[[[0.9995]]]], rtol=4e-4, dtype="float16", name="y")
with check.hidden_case(
    "arguments and an earlier result stay",
    hint=(
        "several calls of one shape: is each made from its own x and "
        "weights? is an argument written to?"
    ),
    guard=True,
):
    x, kernels = rng.normal(size=(2, 2, 5, 6)), rng.normal(size=(3, 2, 3, 3))
    want = by_formula(x, kernels, (BT, G, AT))
    with check.unchanged(x=x, weights=kernels, BT=BT, G=G, AT=AT):
        first = conv_winograd(x, kernels, (BT, G, AT))
        conv_winograd(2 * x, kernels, (BT, G, AT))
        third = conv_winograd(2 * x, 3 * kernels, (BT, G, AT))
    check.close(first, want, rtol=1e-9, atol=1e-12, name="first of three")
    check.close(third, 6 * want, rtol=1e-9, atol=1e-12, name="last of three")
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Where the matrices come from (optional, 5 minutes)
#
# Take the numbers as coefficients of two polynomials, of degree $m - 1$ and $r - 1$.
# Their product has degree $m + r - 2$, so its values at $t = m + r - 1$ points say all about it:
# evaluate both polynomials at these points, multiply the values, $t$ products in all, and interpolate.
# Evaluating and interpolating are matrices of constants. A correlation is the transpose of such a product, and takes as many.
# $F(2, 3)$ has the points 0, 1, -1 and infinity (the leading coefficients);
# larger tiles need 2, -2 and 1/2, too, and their powers.

# %% [markdown]
# ## What each costs
#
# cuDNN, NVIDIA's library of network operators, has about 16 implementations of a convolution, says talk B (T. Hoefler's of 2018, one of this course's sources).
# Why so many? You will have three tables to answer it.
#
# Two algorithms more come without a new function: $F(4,3)$ is yours with other matrices,
# and a large image can be cut into tiles of 16 x 16 that overlap, each with a small Fourier transform.
# So there are six. All return the same; each is called as `RUN[name](x, weights)`.

# %% nbgrader={"grade_id": "six", "locked": true}
SIDE = 16
FFT = np.fft.rfft2, np.fft.irfft2
Shape = namedtuple("Shape", "n c h w k r s")


def conv_fft_tiles(x, weights, *transforms):
    """Return x correlated with weights, by conv_fft on tiles that overlap."""
    (n, c, h, w), (k, _, r, s) = x.shape, weights.shape
    down, across = SIDE + 1 - r, SIDE + 1 - s
    high, wide = -(-(h + 1 - r) // down), -(-(w + 1 - s) // across)
    big = np.zeros((n, c, high * down + r - 1, wide * across + s - 1), x.dtype)
    big[:, :, :h, :w] = x
    view = np.lib.stride_tricks.sliding_window_view
    tiles = view(big, (SIDE, SIDE), axis=(2, 3))[:, :, ::down, ::across]
    tiles = tiles.transpose(0, 2, 3, 1, 4, 5).reshape(-1, c, SIDE, SIDE)
    y = conv_fft(tiles, weights, *transforms)
    y = y.reshape(n, high, wide, k, down, across).transpose(0, 3, 1, 4, 2, 5)
    y = y.reshape(n, k, high * down, wide * across)
    return y[:, :, : h + 1 - r, : w + 1 - s]


RUN = {
    "direct": lambda x, w: conv_direct(x, w, 1, 0),
    "im2col": lambda x, w: conv_im2col(x, w, 1, 0),
    "FFT": lambda x, w, *fft: conv_fft(x, w, *(fft or FFT)),
    "FFT tiles": lambda x, w, *fft: conv_fft_tiles(x, w, *(fft or FFT)),
    "F(2,3)": lambda x, w: conv_winograd(x, w, winograd(2, 3)),
    "F(4,3)": lambda x, w: conv_winograd(x, w, winograd(4, 3)),
}

# %% [markdown]
# ### Task 7. Count (2 points)
#
# `multiplications_and_workspace(algorithm, shape)` takes a name of `RUN` and a `Shape(n, c, h, w, k, r, s)`,
# stride 1 and no padding, and returns two numbers:
# how many real multiplications it makes, and the bytes that it needs beside x, weights and result, in float32.
#
# | algorithm | multiplications | workspace |
# |---|---|---|
# | direct | one for each term of the sum | none |
# | im2col | the same | the columns |
# | FFT | $h\,(\lfloor w/2 \rfloor + 1)$ complex products for each triple of image, kernel and channel, and all transforms | all spectra: images, kernels, results |
# | FFT tiles | as FFT, with tiles in place of images | as FFT |
# | F(m,3) | $t^2$ for each tile, kernel and channel | all that has $t^2$ entries: tiles, kernels, products |

# %% [markdown]
# * A complex product is four real multiplications, and a complex number has 8 bytes.
# * Images and kernels are transformed channel by channel, results kernel by kernel.
#   A transform of $N = h\,w$ real numbers takes $N \log_2 N$ real multiplications
#   (half of what the classical algorithm needs for complex ones: $\frac{N}{2} \log_2 N$ complex products),
#   and its spectrum has $h\,(\lfloor w/2 \rfloor + 1)$ numbers.
# * A tile of 16 x 16 yields $17 - r$ rows and $17 - s$ columns of results; $F(m,3)$ yields $m$ and $m$, with $t = m + 2$.
#   Where tiles do not divide the results, their number is rounded up, rows and columns each.
# * Winograd's transforms multiply by constants only, and count nothing.
#   For it, r and s are 3; for tiles they are at most 16.

# %% [markdown]
# For one image of 8 x 8, one channel, one kernel of 3 x 3:
# direct takes $36 \cdot 9 = 324$ multiplications and 0 bytes;
# F(2,3) has 9 tiles of 16 entries, so 144 multiplications and $4 \cdot 16 \cdot (9 + 1 + 9) = 1216$ bytes;
# FFT has 40 complex products and three transforms of 64 numbers: $160 + 3 \cdot 384 = 1312$, and $8 \cdot 3 \cdot 40 = 960$ bytes.
#
# About 15 lines. Write the formula of a Fourier transform once: tiles are many small images.


# %% nbgrader={"grade_id": "multiplications-and-workspace", "solution": true}
def multiplications_and_workspace(
    algorithm: str, shape: Shape
) -> tuple[float, float]:
    """Return real multiplications, and bytes beside arguments and result."""
    ### BEGIN SOLUTION
    n, c, h, w, k, r, s = shape
    rows, columns = h - r + 1, w - s + 1

    def by_spectra(n, h, w):
        each, many = h * (w // 2 + 1), n * c + k * c + n * k
        transforms = many * h * w * math.log2(h * w)
        return 4 * n * k * c * each + transforms, 8 * many * each

    if algorithm == "direct":
        return n * k * c * rows * columns * r * s, 0
    if algorithm == "im2col":
        seen = n * c * r * s * rows * columns
        return k * seen, 4 * seen
    if algorithm == "FFT":
        return by_spectra(n, h, w)
    if algorithm == "FFT tiles":
        tiles = math.ceil(rows / (17 - r)) * math.ceil(columns / (17 - s))
        return by_spectra(n * tiles, 16, 16)
    m = int(algorithm[2])
    tiles = n * math.ceil(rows / m) * math.ceil(columns / m)
    entries = tiles * c + k * c + tiles * k
    return tiles * k * c * (m + 2) ** 2, 4 * entries * (m + 2) ** 2
    ### END SOLUTION


# %% [markdown]
# A formula is an assertion. So let your own code be counted:
# `labkit.count.multiplications` hands it arrays whose numbers note each product that they take part in
# (and to `conv_fft`, transforms that do the same).
# `labkit.count.workspace` asks Python how many bytes a call holds at its peak, beside arguments and result.


# %% explore=true
def arrays(shape, seed=0):
    """Return x and weights of a shape, in float32."""
    draw, (n, c, h, w, k, r, s) = np.random.default_rng(seed), shape
    x, weights = draw.normal(size=(n, c, h, w)), draw.normal(size=(k, c, r, s))
    return x.astype(np.float32), weights.astype(np.float32)


def counted(algorithm, shape):
    """Return products, and multiplications by constants, of your code."""
    with_fft = (count.rfft2, count.irfft2) if "FFT" in algorithm else ()
    small = arrays(shape)
    found = count.multiplications(RUN[algorithm], *small, *with_fft)
    return found["products"] + found["in transforms"], found["by constants"]


small, large = Shape(2, 3, 16, 8, 4, 3, 3), Shape(8, 32, 32, 32, 32, 3, 3)
print("             multiplications             by     workspace, MB")
print("             formula     counted  constants   formula  counted")
for algorithm, run in RUN.items():
    formula, _ = multiplications_and_workspace(algorithm, small)
    products, constants = counted(algorithm, small)
    _, space = multiplications_and_workspace(algorithm, large)
    held = count.workspace(run, *arrays(large))
    print(
        f"{algorithm:10}{formula:10,.0f}{products:12,}{constants:11,}"
        f"{space / 1e6:10.2f}{held / 1e6:9.2f}"
    )

# %% [markdown]
# Both counts of multiplications should be equal (small shape: 2 images, 16 x 8).
# If yours are not, a formula is wrong, or your code does more than it has to.
# The workspace of a plain NumPy program is as a rule larger than the formula's, smaller where you take one image after the other;
# a library writes into one buffer, and asks for as many bytes as the formula.
# Winograd's multiplications by constants are forgotten where channels are many:
# a tile is transformed once and multiplied with $k$ kernels.

# %% nbgrader={"grade_id": "multiplications-and-workspace-check", "grade": true, "points": 2}
from collections import namedtuple

import numpy as np

from labkit import check

Sizes = namedtuple("Sizes", "n c h w k r s")


def asked(algorithm, sizes):
    """Return the two numbers for the Shape of these sizes."""
    return multiplications_and_workspace(algorithm, Shape(*sizes))


one = Sizes(1, 1, 8, 8, 1, 3, 3)
with check.case(
    "the worked example: direct and F(2,3)",
    hint=(
        "how many results, down and across? multiplications: terms of "
        "one; bytes: what has t x t entries?"
    ),
):
    got = asked("direct", one)
    check.close(got, [324, 0], name="direct")
    got = asked("F(2,3)", one)
    check.close(got, [144, 1216], name="F(2,3)")
with check.case(
    "the worked example: FFT",
    hint=(
        "multiplications: which products, how many transforms of which "
        "size? bytes: which spectra are kept?"
    ),
):
    got = asked("FFT", one)
    check.close(got, [1312, 960], name="FFT")
with check.case(
    "im2col keeps its columns",
    hint=(
        "multiplications: terms of all results; bytes: columns of how "
        "many images, of how many numbers?"
    ),
):
    got = asked("im2col", Sizes(2, 3, 5, 7, 4, 2, 3))
    check.close(got, [2880, 2880], name="im2col")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "direct and im2col, all sizes different",
    hint=(
        "sizes that all differ: is n, c, k, r, s, rows and columns in "
        "each of the two numbers that needs it?"
    ),
    essential=True,
):
    for sizes, places in (
        (Sizes(7, 2, 9, 12, 5, 4, 3), 60),
        (Sizes(3, 5, 6, 4, 2, 1, 4), 6),
        (Sizes(64, 256, 56, 56, 256, 3, 3), 54 * 54),
    ):
        n, c, _, _, k, r, s = sizes
        terms = n * k * c * r * s * places
        got = asked("direct", sizes)
        check.close(got, [terms, 0], rtol=1e-12, name="direct")
        got = asked("im2col", sizes)
        check.close(got, [terms, 4 * terms // k], rtol=1e-12, name="im2col")
with check.hidden_case(
    "FFT, all sizes different, odd sides too",
    hint=(
        "odd and unequal sides: which pairs have a spectrum, which "
        "triples a product, in count and in bytes?"
    ),
):
    got = asked("FFT", Sizes(2, 3, 8, 16, 5, 3, 4))
    many = 6 + 15 + 10
    want = [4 * 30 * 8 * 9 + many * 128 * 7, 8 * many * 72]
    check.close(got, want, rtol=1e-12, name="FFT")
    got = asked("FFT", Sizes(3, 1, 9, 7, 2, 5, 2))
    many = 3 + 2 + 6
    want = [4 * 6 * 36 + many * 63 * np.log2(63), 8 * many * 36]
    check.close(got, want, rtol=1e-12, name="FFT")
with check.hidden_case(
    "FFT tiles: how many, rounded up in rows and columns",
    hint=(
        "is the name as in the table? how many tiles, down and across, "
        "and what of kernels in both numbers?"
    ),
):
    for sizes, tiles in (
        (Sizes(2, 3, 16, 16, 5, 3, 3), 1),
        (Sizes(2, 3, 17, 30, 5, 3, 3), 4),
        (Sizes(1, 4, 40, 20, 2, 5, 9), 6),
        (Sizes(1, 2, 16, 31, 3, 3, 3), 3),
        (Sizes(1, 2, 31, 16, 3, 3, 3), 3),
        (Sizes(3, 1, 18, 16, 4, 16, 16), 3),
    ):
        n, c, _, _, k, _, _ = sizes
        n = n * tiles
        many = n * c + k * c + n * k
        want = [4 * n * k * c * 144 + many * 2048, 8 * many * 144]
        got = asked("FFT tiles", sizes)
        check.close(got, want, rtol=1e-12, name=f"{sizes}")
with check.hidden_case(
    "F(2,3) and F(4,3): tiles rounded up in rows and columns",
    hint=(
        "names and sizes that differ: tiles cover what, rounded how? "
        "which of n, c, k multiply each number?"
    ),
):
    for name, sizes, tiles in (
        ("F(2,3)", Sizes(3, 5, 7, 10, 2, 3, 3), 12),
        ("F(4,3)", Sizes(3, 5, 7, 10, 2, 3, 3), 4),
        ("F(4,3)", Sizes(1, 2, 3, 4, 6, 3, 3), 1),
        ("F(2,3)", Sizes(2, 7, 6, 6, 4, 3, 3), 4),
        ("F(4,3)", Sizes(2, 7, 6, 6, 4, 3, 3), 1),
    ):
        n, c, _, _, k, _, _ = sizes
        t = 4 if "2" in name else 6
        entries = n * tiles * c + k * c + n * tiles * k
        want = [n * tiles * k * c * t * t, 4 * t * t * entries]
        got = asked(name, sizes)
        check.close(got, want, rtol=1e-12, name=f"{name} of {sizes}")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Which is the best where?
#
# Some of your algorithms multiply far less than the loops. Which one would you ship here? Guess before you run the cells:
# for each kernel's side and number of channels (in and out the same), a map shows
# the algorithm with the fewest multiplications by your formulas,
# and the one that is fastest here, by your code (pale where the second takes less than 10 % more).

# %% explore=true
import matplotlib.pyplot as plt

SIDES, CHANNELS = (1, 3, 5, 7, 9, 11, 13), (1, 4, 16, 48)


def able(shape):
    """Return the names of the algorithms that take this shape."""
    three = shape.r == shape.s == 3
    return [name for name in RUN if three or not name.startswith("F(")]


def fewest(shape):
    """Return the algorithm that multiplies least; the first of several."""
    costs = {
        name: multiplications_and_workspace(name, shape)[0]
        for name in able(shape)
    }
    return min(costs, key=costs.get)


# %% explore=true
def clocked(run, *given, turns=1):
    """Return the seconds of the fastest of several turns."""
    found = []
    for _ in range(turns):
        begin = time.perf_counter()
        run(*given)
        found.append(time.perf_counter() - begin)
    return min(found)


def times(shape):
    """Return each algorithm's seconds: the best of three turns by turns."""
    given, names = arrays(shape), able(shape)
    turns = [[clocked(RUN[n], *given) for n in names] for _ in range(3)]
    return dict(zip(names, np.min(turns, axis=0), strict=True))


shapes = {(c, r): Shape(2, c, 32, 32, c, r, r) for c in CHANNELS for r in SIDES}
measured = {at: times(shape) for at, shape in shapes.items()}
fastest = {
    "Fewest multiplications": {at: fewest(s) for at, s in shapes.items()},
    "Fastest here": {at: min(t, key=t.get) for at, t in measured.items()},
}
two_best = {at: sorted(t.values())[:2] for at, t in measured.items()}
close = {at for at, (best, next_) in two_best.items() if next_ < 1.1 * best}


# %% explore=true
COLOURS = ["#999999", *(plot.PALETTE[i] for i in (0, 1, 4, 2, 3))]


def draw_map(ax, title, winners, pale=()):
    """Draw a field for each kernel and number of channels."""
    names = list(RUN)
    grid = [[names.index(winners[c, r]) for r in SIDES] for c in CHANNELS]
    colours = plt.matplotlib.colors.ListedColormap(COLOURS)
    sure = [[0.2 if (c, r) in pale else 0.55 for r in SIDES] for c in CHANNELS]
    ax.imshow(grid, cmap=colours, vmin=0, vmax=5, aspect="auto", alpha=sure)
    for (i, j), which in np.ndenumerate(grid):
        ax.text(j, i, names[which], ha="center", va="center")
    ax.set_xticks(range(len(SIDES)), SIDES)
    ax.set_yticks(range(len(CHANNELS)), CHANNELS)
    ax.set(xlabel="kernel's side", ylabel="channels")
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)


figure, axes = plt.subplots(2, 1, figsize=(8.5, 5.6), layout="constrained")
(counts, here), (above, below) = fastest.values(), axes
draw_map(above, "Fewest multiplications", counts)
agree = sum(counts[at] == here[at] for at in shapes)
title = f"Fastest here: {agree} of {len(shapes)} as above"
draw_map(below, f"{title} (pale: the second is close)", here, close)
plt.show()
for title, winners in fastest.items():
    won = {name: [*winners.values()].count(name) for name in RUN}
    print(f"{title}:", ", ".join(f"{name} {n}" for name, n in won.items()))

# %% explore=true
one = shapes[48, 3]
print("2 images, 48 channels, 3 x 3")
print(f"{'':10}    ms   million products    G/s")
for name, took in measured[48, 3].items():
    products, _ = multiplications_and_workspace(name, one)
    print(f"{name:10}{1e3 * took:6.2f}{products / 1e6:19.1f}", end="")
    print(f"{products / took / 1e9:7.1f}")


# %% explore=true
def million(name, r):
    return multiplications_and_workspace(name, shapes[16, r])[0] / 1e6


def ms(name, r):
    return 1e3 * measured[16, r][name]


left, right = plot.panels(2)
for ax, value, ylabel in (
    (left, million, "million multiplications"),
    (right, ms, "milliseconds"),
):
    plot.curves(
        {
            name + ", below im2col" * (ax is left and name == "direct"): (
                SIDES,
                [value(name, r) for r in SIDES],
            )
            for name in ("direct", "im2col", "FFT", "FFT tiles")
        },
        logy=True,
        xlabel="kernel's side",
        ylabel=ylabel,
        title="16 channels, " + ("clocked" if ax is right else "counted"),
        ax=ax,
    )
    ax.set_xticks(SIDES)
left.figure.set_size_inches(8, 3.4)

# %% explore=true


def terms(name, shape):
    return multiplications_and_workspace(name, shape)[0]


guess = predictions()
for n in (4, 2):
    sixteen = [Shape(n, 16, 32, 32, 16, r, r) for r in range(1, 17)]
    less = [at.r for at in sixteen if terms("FFT", at) < terms("direct", at)]
    side = min(less, default="none up to 16")
    print(f"FFT multiplies less than direct, {n} images: from side {side}")
print(f"(16 channels in and out; for 2 images you said {guess['fft']:g})")
one = Shape(1, 1, 34, 34, 1, 3, 3)
ratio = terms("direct", one) / terms("F(4,3)", one)
print(f"F(4,3): {ratio:g} times fewer; you: {guess['winograd']:g}")

# %% [markdown]
# The two maps differ. A machine waits for bytes, too, and runs a large matrix product at several times the speed of small ones:
# the table's last column says how fast each algorithm multiplies, in thousand millions a second.
# Is a Winograd transform fastest anywhere? It multiplies least for 3 x 3 kernels, and in NumPy it does so slowly.
# Direct and im2col have equal counts. From which side does a Fourier transform pay?
# Look where its line crosses direct's on the left, and im2col's on the right.
# (A clocked line may fall where the count rises: matrix products of other sizes run at other speeds.)

# %% [markdown]
# So a library guesses by rules that others have found out, or it *measures*, on your shapes and your machine,
# and remembers the winner: the benchmark mode of cuDNN does this at the first call of each shape.
#
# And the library for this CPU? oneDNN, which PyTorch calls here, writes a log of which code it took.

# %% explore=true
import os
import subprocess
import sys

LAYERS = {  # channels in and out, side of the kernel, groups
    "3 x 3": (16, 16, 3, 1),
    "11 x 11": (16, 16, 11, 1),
    "1 x 1": (64, 64, 1, 1),
    "one channel in": (1, 16, 7, 1),
    "depthwise": (64, 64, 3, 64),
}
PROGRAM = f"""
import torch
torch.set_num_threads(1)
for c, k, r, groups in {list(LAYERS.values())}:
    w = torch.ones(k, c // groups, r, r)
    for turn in range(3):  # the first call is slow: the last one counts
        x = torch.ones(8, c, 32, 32)
        torch.nn.functional.conv2d(x, w, groups=groups)
"""
done = subprocess.run(
    [sys.executable, "-c", PROGRAM],
    env=os.environ | {"ONEDNN_VERBOSE": "1"},
    capture_output=True,
    check=False,
    text=True,
)

# %% explore=true
log = [line.split(",") for line in done.stdout.splitlines()]
log = [line for line in log if "exec" in line and "convolution" in line]
print(f"{'layer':14} {'code':18} {'algorithm':22}   ms   G/s")
for name, (c, k, r, groups) in LAYERS.items():
    problem = f"ic{c}oc{k}_", f"kh{r}s"
    mine = [line for line in log if all(p in line[-2] for p in problem)]
    if mine:
        kind = mine[-1][mine[-1].index("convolution") + 1]
        how = next(part for part in mine[-1] if part.startswith("alg:"))
        how, took = how.removeprefix("alg:"), float(mine[-1][-1])
        products = 8 * k * (c // groups) * r**2 * (33 - r) ** 2
        print(f"{name:14} {kind:18} {how:22}{took:5.2f}", end="")
        print(f"{products / took / 1e6:6.1f}")
    else:
        print(f"{name:14} not oneDNN: code of PyTorch's own")

# %% [markdown]
# Each row is one kind of layer, the code that was taken for it, the algorithm's family, the time of the third call with 8 images,
# and thousand millions of multiplications a second.
# `jit` is code generated for this shape when it was first met; what follows says for which instructions.
# Elsewhere you may see `brgconv`, many small matrix products without im2col's copy, or `gemm`, which is im2col.
# A layer of 1 x 1 *is* a matrix product, so PyTorch may take code of its own.

# %% [markdown]
# ## Split the batch
#
# Fast algorithms need a workspace, and the memory of a GPU is full of the layers' outputs (lab 06).
# A framework gives each layer a limit; what does not fit is not taken, and a slow algorithm runs instead.
#
# But a batch is not indivisible.
# Half of it needs half of im2col's columns (of Fourier's spectra more: those of the kernels stay),
# and the same workspace serves one *microbatch* after the other,
# each of any size and by any algorithm (Oyama et al. 2018).
# What is best for the remaining images does not depend on how the others were computed.

# %% [markdown]
# ### Task 8. Plan (2 points)
#
# `plan_microbatch(seconds, workspace, limit)` takes two arrays of shape $(algorithms, n)$.
# Row $a$, column $b - 1$ say what algorithm $a$ takes for a microbatch of $b$ images.
# It returns a list of pairs `(images, algorithm)`, two integers each:
#
# * the images add up to $n$, and each microbatch's workspace is at most `limit`;
# * no other plan has fewer seconds in all. Of several such plans, and in which order, any will do.
# * An entry of `seconds` may be infinite: that algorithm cannot do it.
# * If there is no plan within the limit and with finite seconds, it raises `ValueError`.

# %% [markdown]
# Do not assume that larger batches need more, or more memory: tables are measured.
#
# With seconds `[[5, 10, 15, 20], [4, 5, 6, 7]]` and workspace `[[0, 0, 0, 0], [10, 20, 30, 40]]`,
# limit 40 gives `[(4, 1)]` (7 s), limit 20 `[(2, 1), (2, 1)]` (10 s), limit 30 either that or `[(3, 1), (1, 1)]`,
# and limit 0 any split by algorithm 0 (20 s).
#
# About 14 lines: the best time for 0, 1, ..., n images, each from those before.
# For 32 images there are 8,349 ways to split without regard to order, each with a choice of algorithms: do not try them all.


# %% nbgrader={"grade_id": "plan-microbatch", "solution": true}
def plan_microbatch(
    seconds: np.ndarray, workspace: np.ndarray, limit: float
) -> list[tuple[int, int]]:
    """Return the fastest plan: pairs of images and algorithm."""
    ### BEGIN SOLUTION
    allowed = np.where(workspace <= limit, seconds, np.inf)
    fastest, which = allowed.min(axis=0), allowed.argmin(axis=0)
    n = len(fastest)
    total, last = [0.0], [0]
    for images in range(1, n + 1):
        ways = [
            total[images - b] + fastest[b - 1] for b in range(1, images + 1)
        ]
        total.append(min(ways))
        last.append(1 + int(np.argmin(ways)))
    if total[n] == np.inf:
        raise ValueError(f"no plan within {limit} bytes")
    plan = []
    while n > 0:
        plan.append((last[n], int(which[last[n] - 1])))
        n -= last[n]
    return plan
    ### END SOLUTION


# %% explore=true
LAYER = Shape(12, 32, 28, 28, 32, 5, 5)  # a layer as AlexNet's second
names = able(LAYER)
batch_sizes = np.arange(1, LAYER.n + 1)


def table_of(value):
    """Return value(algorithm, shape) for each algorithm and batch size."""
    batches = [LAYER._replace(n=int(b)) for b in batch_sizes]
    return np.array([[value(a, batch) for batch in batches] for a in names])


def by_sums(x, w):
    """Return x correlated with w: for each entry of w one plain sum."""
    (n, _, h, wide), (k, _, r, s) = x.shape, w.shape
    high, wide = h - r + 1, wide - s + 1
    y = np.zeros((n, k, high, wide), x.dtype)
    for a, b in np.ndindex(r, s):
        part = x[:, :, a : a + high, b : b + wide]
        y += np.einsum("nchw,kc->nkhw", part, w[:, :, a, b])
    return y


# %% explore=true
# A direct convolution for everybody: yours may be faster, or slower.
RUNS = RUN | {"direct": by_sums}


def one_turn():
    return table_of(lambda a, shape: clocked(RUNS[a], *arrays(shape)))


turns = np.array([one_turn() for _ in range(7)])  # a slow moment is in one
seconds_of = turns.min(axis=0)
bytes_of = table_of(lambda a, at: multiplications_and_workspace(a, at)[1])
limits = np.array([0, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32]) * 2**20

# %% explore=true
each = 1e3 * turns / batch_sizes
plot.curves(
    {
        name: (batch_sizes, row)
        for name, row in zip(names, each.min(axis=0), strict=True)
    },
    xlabel="images in the batch",
    ylabel="ms per image",
    logy=True,
    title="The 5 x 5 layer: best of 7 turns",
)
for name, row in zip(names, bytes_of, strict=True):
    print(f"{name:10} {row[0] / 1e6:6.2f} MB for 1 image, {row[-1] / 1e6:6.2f}"
          f" MB for {LAYER.n}")  # fmt: skip

# %% [markdown]
# ### Is your plan the best there is? (optional, 5 minutes)
#
# Two other ways to find out:
# by *brute force*, all ways to write 12 as a sum; and by an *integer linear program*:
# let $x_{a,b}$ be how many microbatches of $b$ images algorithm $a$ gets,
# minimise $\sum t_{a,b}\, x_{a,b}$ under $\sum b\, x_{a,b} = n$, all $x_{a,b}$ whole.

# %% explore=true
from scipy.optimize import Bounds, LinearConstraint, milp


def total(plan):
    return sum(seconds_of[a, b - 1] for b, a in plan)


def by_brute_force(limit, images=LAYER.n, largest=LAYER.n):
    """Return the least seconds of all ways to split, tried one by one."""
    if images == 0:
        return 0.0
    allowed = np.where(bytes_of <= limit, seconds_of, np.inf).min(axis=0)
    return min(
        allowed[b - 1] + by_brute_force(limit, images - b, b)
        for b in range(1, min(images, largest) + 1)
    )


def by_integer_program(limit):
    """Return the least seconds by SciPy's solver for integer programs."""
    fits = bytes_of <= limit
    images = np.broadcast_to(batch_sizes, fits.shape)
    found = milp(
        seconds_of[fits],
        integrality=np.ones(fits.sum()),
        bounds=Bounds(0, LAYER.n),
        constraints=LinearConstraint(images[fits], LAYER.n, LAYER.n),
    )
    return found.fun


# %% explore=true
print("below each limit: microbatches x images in each, by what")
for limit in limits[[0, 5, 6, 7]]:
    plan = plan_microbatch(seconds_of, bytes_of, limit)
    print(
        f"{limit / 2**20:4g} MiB: yours {1e3 * total(plan):.3f} ms, "
        f"brute force {1e3 * by_brute_force(limit):.3f}, integer program "
        f"{1e3 * by_integer_program(limit):.3f}"
    )
    parts = [f"{t} x {b} by {names[a]}" for (b, a), t in Counter(plan).items()]
    print("         ", ", ".join(parts))

# %% [markdown]
# All three agree, up to the solver's tolerance.
# (A program that optimises a table optimises its noise, too: at limit 0, say, where one algorithm alone is allowed.)

# %% [markdown]
# ### What splitting gains
#
# Now let the limit vary: how many times as fast as the whole batch is the best plan?
# Talk B quotes up to 4.54 times for μ-cuDNN, on DeepBench, a collection of layers for benchmarks.
#
# Compared with what? The direct convolution in this table is a plain sum for each entry of the kernel.
# The line with the better baseline has one more algorithm to choose from, split or not:
# a direct convolution made of $r\,s$ matrix products, as yours may be. (Its copies, which do not grow with the kernel, are not counted.)


# %% explore=true
def by_products(x, w):
    """Return x correlated with w: a matrix product for each entry of w."""
    (n, c, h, wide), (k, _, r, s) = x.shape, w.shape
    high, wide = h - r + 1, wide - s + 1
    y = np.zeros((n, k, high * wide), x.dtype)
    for a, b in np.ndindex(r, s):
        part = x[:, :, a : a + high, b : b + wide]
        y += w[:, :, a, b] @ part.reshape(n, c, -1)
    return y.reshape(n, k, high, wide)


def gain(table, space, limit):
    """Return how many times as fast as undivided the best plan is."""
    whole = table[space[:, -1] <= limit, -1].min()
    plan = plan_microbatch(table, space, limit)
    return whole / sum(table[a, b - 1] for b, a in plan)


batches = [arrays(LAYER._replace(n=b)) for b in batch_sizes]
rows = [[clocked(by_products, *b) for b in batches] for _ in range(7)]
better = (
    np.vstack([seconds_of, np.min(rows, axis=0)]),
    np.vstack([bytes_of, 0 * batch_sizes]),
)
speedups = {
    "plain sum": [gain(seconds_of, bytes_of, limit) for limit in limits],
    "matrix products": [gain(*better, limit) for limit in limits],
}

# %% explore=true
# A gain changes only where a workspace begins to fit: at these limits.
shown = (bytes_of > limits[4]) & (bytes_of < limits[7])
fine = np.unique([*limits[4:8], *bytes_of[shown]])
lines = {
    "baseline: plain sum": [gain(seconds_of, bytes_of, at) for at in fine],
    "baseline: matrix products": [gain(*better, at) for at in fine],
}
ax = plot.curves(
    {name: (fine / 2**20, those) for name, those in lines.items()},
    logx=True,
    logy=True,
    xlabel="workspace limit, MiB",
    ylabel="times as fast as undivided",
    title="One layer, 12 images, under a workspace limit",
)
for line in ax.lines:
    line.set_drawstyle("steps-post")
for level, text in ((4.54, "talk B: up to 4.54"), (1, "undivided: 1")):
    ax.axhline(level, color="black", linewidth=0.8, zorder=0)
    ax.text(fine[0] / 2**20, 0.97 * level, text, fontsize=9, va="top")
ax.set(xlim=(0.95, 6.5), ylim=(0.8, 20))
ax.figure.set_size_inches(8, 3.8)
ax.legend(loc="upper left", frameon=False, fontsize=9)
place = {"transform": ax.get_xaxis_transform(), "va": "top", "fontsize": 9}
fits = np.where(bytes_of[:, -1:] <= fine, seconds_of[:, -1:], np.inf)
whole = fits.argmin(axis=0)  # the fastest for all images, at each limit
for i in np.flatnonzero(np.diff(whole)) + 1:
    ax.axvline(fine[i] / 2**20, color="#666666", linestyle=":", linewidth=1)
    text = f"whole: {names[whole[i]]}"
    ax.text(1.04 * fine[i] / 2**20, 0.48, text, rotation=90, **place)

# %% explore=true
for name, those in speedups.items():
    at = int(np.argmax(those))
    print(f"baseline {name}: up to {those[at]:.2f} times,", end=" ")
    print(f"at {limits[at] / 2**20:g} MiB")
print(f"you predicted {predictions()['microbatch']:g}")

# %% [markdown]
# A plan adds up seconds from a table; does it take as long when it is run?
# The next cell runs the plan at the limit where it gains most, and the undivided batch, in turns, for either baseline.
# The brackets hold the middle half of the rounds: where 1 is inside, no gain is shown beside this baseline.
# (The table has the best of seven turns, the run a median: it is often slower.)

# %% explore=true
x, weights = arrays(LAYER)
calls = [*(RUNS[name] for name in names), by_products]


def run_plan(plan):
    start = 0
    for images, a in plan:
        calls[a](x[start : start + images], weights)
        start += images


bases = {"plain sum": (seconds_of, bytes_of), "matrix products": better}
ran = {}
for base, (table, space) in bases.items():
    best = limits[int(np.argmax(speedups[base]))]
    plan = plan_microbatch(table, space, best)
    fits = np.where(space[:, -1] <= best, table[:, -1], np.inf)
    whole = [(LAYER.n, int(fits.argmin()))]
    timed = compare(
        {
            "whole": lambda p=whole: run_plan(p),
            "split": lambda p=plan: run_plan(p),
        },
        repeat=7,
    )
    print(f"baseline {base}, limit {best / 2**20:g} MiB", timed, sep="\n")
    low, gained, high = ran[base] = timed.ratio("whole", "split")
    print(f"{max(speedups[base]):.2f} times by the table,", end=" ")
    print(f"{gained:.2f} when run ({low:.2f} to {high:.2f})\n")

# %% [markdown]
# "Up to" is the top of such a curve: of one layer, on one machine, at one limit.
# Where the first curve steps up, a faster algorithm fits for a few more images, and the whole batch still has to take a slow one.
# Where it falls, the whole batch gets a faster one, too: a dotted line says which.
# Where everything fits, or nothing does, what is gained is not due to the limit: small arrays stay in a cache, and the table has noise.

# %% [markdown]
# Compare the two curves: quote a speed-up with its limit and its baseline, or draw the curve (lab 16).

# %% [markdown]
# ### Several layers share (optional, 10 minutes)
#
# Layers that run one after the other use the same memory: one limit for all, a plan for each.
# Layers that run side by side have to *share* it, and the plans depend on each other.
# An integer program says this in three lines: choose one limit per layer, their sum at most what there is.
# Costs are multiplications by your formulas this time, so that the result is the same everywhere.


# %% explore=true
def plans_of(shape, limits):
    """Return the fewest multiplications of a layer under each limit."""
    names = able(shape)
    batches = [shape._replace(n=b) for b in range(1, shape.n + 1)]
    tables = [
        [multiplications_and_workspace(name, batch) for batch in batches]
        for name in names
    ]
    costs, space = np.moveaxis(np.array(tables, float), 2, 0)
    plans = [plan_microbatch(costs, space, limit) for limit in limits]
    return [sum(costs[a, b - 1] for b, a in plan) for plan in plans]


layers = [
    Shape(12, 16, 32, 32, 16, 11, 11),
    Shape(12, 32, 28, 28, 32, 5, 5),
    Shape(12, 64, 16, 16, 64, 3, 3),
]
steps = np.arange(9) * 0.5  # MiB
plan_products = np.array([plans_of(layer, steps * 2**20) for layer in layers])

# %% explore=true
one_each = np.kron(np.eye(3), np.ones(9))  # one limit a layer
for whole in (1.5, 3, 6):
    found = milp(
        plan_products.ravel(),
        integrality=np.ones(27),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(one_each, 1, 1),
            LinearConstraint(np.tile(steps, 3), 0, whole),
        ],
    )
    given = [float(steps[i]) for i in found.x.reshape(3, 9).argmax(axis=1)]
    even = plan_products[:, int(whole / 3 / 0.5)].sum() / found.fun
    shares = " + ".join(f"{one:g}" for one in given)
    print(f"{whole:4g} MiB: {shares:14}", end=" ")
    print(f"a third each takes {even:.3f} times as many products")

# %% [markdown]
# Half a MiB for each layer helps none: below some size nothing fits, not even for one image.
# All of it for the first layer, with the largest kernels, lets that one take a Fourier transform, and the others stay direct.

# %% nbgrader={"grade_id": "plan-microbatch-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

INF = np.inf


def of_plan(plan, seconds, workspace, limit):
    """Return the seconds of a plan that keeps the rules."""
    plan = np.asarray(plan)
    check.equal(plan.ndim, 2, name="axes of the plan, a list of pairs")
    check.equal(plan.shape[1], 2, name="numbers of a microbatch")
    images, which = plan.T
    check.equal(int(images.sum()), seconds.shape[1], name="images in all")
    check.at_least(images.min(), 1, name="smallest microbatch")
    check.at_least(which.min(), 0, name="smallest algorithm")
    check.at_most(which.max(), len(seconds) - 1, name="largest algorithm")
    space = workspace[which, images - 1].max()
    check.at_most(space, limit, name="largest workspace")
    return seconds[which, images - 1].sum()


table = np.array([[5.0, 10, 15, 20], [4, 5, 6, 7]])
space = np.array([[0, 0, 0, 0], [10, 20, 30, 40]])
with check.case(
    "the worked example",
    hint=(
        "the last microbatch of how many images is best, with which "
        "algorithm, and what was best before it?"
    ),
    more="what is best for those before is known already",
    essential=True,
):
    for limit, least in ((40, 7), (20, 10), (30, 10), (10, 16), (0, 20)):
        plan = plan_microbatch(table, space, limit)
        found = of_plan(plan, table, space, limit)
        check.close(found, least, name=f"seconds within {limit}")
with check.case(
    "one image",
    hint=(
        "one image: for how many images is the first column? are there "
        "several algorithms to choose from?"
    ),
):
    plan = plan_microbatch(table[:, :1], space[:, :1], 10)
    found = of_plan(plan, table[:, :1], space[:, :1], 10)
    check.close(found, 4, name="seconds")
with check.case(
    "no plan",
    hint=(
        "nothing fits: does the search notice it, and which error does "
        "the text ask for?"
    ),
    guard=True,
):
    check.raises(ValueError, plan_microbatch, table, space + 1, 0.5)
### BEGIN HIDDEN TESTS


def least(seconds, workspace, limit):
    """Return the least seconds of all plans, by trying all sums."""
    allowed = np.where(workspace <= limit, seconds, INF).min(axis=0)
    n = len(allowed)
    found = INF
    for cuts in range(2 ** (n - 1)):
        places = [i + 1 for i in range(n - 1) if cuts >> i & 1]
        parts = np.diff([0, *places, n])
        found = min(found, allowed[parts - 1].sum())
    return found


rng = np.random.default_rng(6)
with check.hidden_case(
    "random tables, against all ways to split",
    hint=(
        "tables of any size: are all last microbatches and algorithms "
        "tried, the last ones too, each once?"
    ),
    weight=2,
):
    for rows, n in ((1, 1), (2, 2), (3, 7), (1, 9), (5, 8), (4, 10)):
        seconds = rng.uniform(1, 9, (rows, n)) * np.arange(1, n + 1) ** 0.5
        workspace = rng.integers(0, 50, (rows, n)).astype(float)
        workspace[0, 0] = 3
        for limit in (3, 20, 49):
            plan = plan_microbatch(seconds, workspace, limit)
            found = of_plan(plan, seconds, workspace, limit)
            want = least(seconds, workspace, limit)
            check.close(found, want, rtol=1e-12, name=f"seconds, {rows}, {n}")
with check.hidden_case(
    "neither greedy: two of three are better than two and one, or one by one",
    hint=(
        "several tables of one shape, no best size: is each plan made "
        "anew, and every split of it compared?"
    ),
):
    for row, want in (
        ([9, 10, 12, 21, 30], 22),
        ([1, 9, 9, 9, 2], 2),
        ([3, 5, 7, 8, 30], 11),
        ([8, 3, 8, 8, 12], 11),
        ([8, 3, 4, 20, 12], 7),
        ([2, 4, 6, 8, 10], 10),
    ):
        seconds, zero = np.array([row]), np.zeros((1, 5))
        plan = plan_microbatch(seconds, zero, 0)
        found = of_plan(plan, seconds, zero, 0)
        check.close(found, want, rtol=0, name=f"seconds of {row}")
with check.hidden_case(
    "microbatches that cannot be done, and what exactly fits",
    hint=(
        "infinite seconds, and what exactly fits: which comparison with"
        " the limit, on workspace of which entry?"
    ),
):
    seconds = np.array([[INF, 4, INF, INF], [9, INF, INF, 1]])
    workspace = np.array([[1, 7, 1, 1], [2, 0, 0, 8]])
    for limit, want in ((7, 8), (6.5, 36), (8, 1), (2, 36)):
        plan = plan_microbatch(seconds, workspace, limit)
        found = of_plan(plan, seconds, workspace, limit)
        check.close(found, want, rtol=0, name=f"seconds within {limit}")
with check.hidden_case(
    "no plan, although some microbatches can be done",
    hint=(
        "some entries are finite, and yet no sum gives n: when is it "
        "noticed, and which error is raised?"
    ),
    guard=True,
):
    seconds = np.array([[INF, 2.0, INF]])
    check.raises(ValueError, plan_microbatch, seconds, np.zeros((1, 3)), 5)
    check.raises(ValueError, plan_microbatch, table, space + 1, 0)
    check.raises(ValueError, plan_microbatch, table * INF, space, 99)
with check.hidden_case(
    "differences of microseconds, and of bytes among megabytes",
    hint=(
        "tiny seconds, large workspaces that differ little: is anything"
        " rounded, or compared nearly?"
    ),
):
    seconds = np.array([[7e-5, 9e-5, 21e-5], [8e-5, 15e-5, 16.5e-5]])
    workspace = np.array([[2e-4, 3e-4, 1e-4], [1e-4, 2e-4, 3e-4]])
    for limit in (3e-4, 2e-4, 1e-4):
        plan = plan_microbatch(seconds, workspace, limit)
        found = of_plan(plan, seconds, workspace, limit)
        want = least(seconds, workspace, limit)
        check.close(found, want, rtol=1e-9, atol=0, name="seconds")
    near = np.array([[1.0, 1.9999, 3.0], [1.00005, 2.0, 2.99985]])
    plan = plan_microbatch(near, 0 * near, 0)
    found = of_plan(plan, near, 0 * near, 0)
    check.close(found, 2.99985, rtol=1e-9, name="seconds")
    plan = plan_microbatch(near[:, :2], 0 * near[:, :2], 0)
    found = of_plan(plan, near[:, :2], 0 * near[:, :2], 0)
    check.close(found, 1.9999, rtol=1e-9, name="seconds")
    workspace = 1e7 + np.array([[1, 3, 0], [0, 2, 3]])
    for limit in (10_000_003, 10_000_002, 10_000_001, 10_000_000):
        plan = plan_microbatch(seconds, workspace, limit)
        found = of_plan(plan, seconds, workspace, limit)
        want = least(seconds, workspace, limit)
        check.close(found, want, rtol=1e-9, atol=0, name="seconds")
with check.hidden_case(
    "32 images at once, and a second call",
    hint=(
        "many images, two limits: is each best time found once, from "
        "this call's tables? is one written to?"
    ),
):
    seconds = 10 + np.arange(1.0, 33)[None] % 7
    seconds = np.concatenate([seconds, 2 + 3 * np.arange(1.0, 33)[None]])
    workspace = np.stack([np.arange(32) * 2, np.arange(32)])
    best = np.full(33, INF)
    best[0] = 0
    for images in range(1, 33):
        for b in range(1, images + 1):
            fits = seconds[workspace[:, b - 1] <= 11, b - 1]
            if fits.size:
                best[images] = min(best[images], best[images - b] + fits.min())
    with check.unchanged(seconds=seconds, workspace=workspace):
        first = plan_microbatch(seconds, workspace, 11)
        second = plan_microbatch(seconds, workspace, 0)
    check.separate(second, first)
    found = of_plan(first, seconds, workspace, 11)
    check.close(found, best[32], rtol=1e-12, name="seconds within 11")
    found = of_plan(second, seconds, workspace, 0)
    check.close(found, 160, rtol=1e-12, name="seconds within 0")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### With a GPU
#
# For some layers, which GPU program (also called a kernel) does cuDNN run without and with the benchmark mode, and how long does it take?
# Look for `winograd`, `fft`, `implicit` (columns that are made on the way and never stored)
# and `gemm`. Our H100 took neither of the first two for any layer, and its guess was what it measured, too.
# One instruction does a whole small matrix product there;
# Winograd's and Fourier's transforms are additions and bytes, which no such instruction does.

# %% explore=true
from labkit import recorded

if device() != "cuda":
    print("No CUDA device here: skipped cuDNN's choice for six layers.")
    print(recorded("05_convolution"))
else:
    from torch.profiler import ProfilerActivity, profile

    def chosen(x, w, tuned):
        """Return the kernel of a convolution that takes longest."""
        torch.backends.cudnn.benchmark = tuned
        F.conv2d(x, w)
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            F.conv2d(x, w)
            torch.cuda.synchronize()
        rows = seen.key_averages()
        row = max(rows, key=lambda row: row.device_time_total)
        return row.device_time_total, row.key[:60]

    for side in (1, 3, 7):
        for channels in (32, 256):
            x = torch.randn(64, channels, 56, 56, device="cuda")
            w = torch.randn(channels, channels, side, side, device="cuda")
            for tuned in (False, True):
                took, kernel = chosen(x, w, tuned)
                mode = "tuned" if tuned else "guess"
                print(f"{side} x {side}, {channels:3}, {mode} {took:8.0f} us"
                      f"  {kernel}")  # fmt: skip

# %% [markdown]
# ## Open task: your own chooser (2 points)
#
# `my_choice(shape)` is to name an algorithm *without* running any. The one below takes the fewest multiplications.
# It is judged by its *regret*: how many times as long as the fastest its choice takes, measured.
#
# Make it better. You may use your counts with a speed for each algorithm, fitted to `measured`; workspace;
# rules of your own; a small regression. Test it on shapes that it was *not* fitted to.
#
# A hint: a chooser that always says im2col may be hard to beat on small kernels. Take kernels of 9 and more as well.

# %% [markdown]
# Hand in, below and in the cell after it:
#
# 1. a figure of the regret for at least eight new shapes, not all of them square or with as many channels in as out,
#    your chooser beside the one below, with labelled axes;
# 2. three or four sentences: what your chooser knows that multiplications do not tell, how you fitted it, where it still errs,
#    and what it would have to know to be used on another machine.


# %% explore=true
# Change this cell: the chooser below is a beginning, and not a good one.
def my_choice(shape):
    return fewest(shape)


NEW = [
    Shape(2, 3, 40, 40, 24, 5, 5),
    Shape(4, 24, 20, 36, 12, 3, 3),
    Shape(1, 8, 48, 48, 8, 9, 3),
    Shape(2, 16, 40, 40, 16, 13, 13),
]
choosers = {"mine": my_choice, "fewest": fewest}
choosers["always im2col"] = lambda shape: "im2col"  # beat this one
taken = [times(shape) for shape in NEW]
regret = {
    name: [t[f(s)] / min(t.values()) for s, t in zip(NEW, taken, strict=True)]
    for name, f in choosers.items()
}
at = np.arange(len(NEW))
ax = plot.scatter(
    {name: (at + 0.12 * k, regret[name]) for k, name in enumerate(regret)},
    logy=True,
    title="Regret of three choosers",
)
ax.set(xlabel="kernel of the new shape", ylabel="times the fastest's seconds")
ax.set_xticks(at + 0.12, [f"{s.r} x {s.s}" for s in NEW])
top = ax.get_ylim()[1]
marks = [m for m in (1, 1.5, 2, 3, 5, 10, 20, 50) if m < top]
ax.set_yticks(marks, marks)
ax.minorticks_off()

# %% [markdown] nbgrader={"grade_id": "my-choice", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# I give each algorithm three numbers, seconds a multiplication, a byte of workspace and a call,
# fitted by least squares of the relative error to the 28 shapes of the map (none below 0), and take the least sum.
# It knows two things that multiplications do not tell:
# that a multiplication inside one large matrix product costs a fraction of one elsewhere,
# so that im2col beats Winograd for 3 x 3 kernels although it multiplies more;
# and that bytes have to be written and read.
# On ten new shapes (measured on two cores; the figure is not drawn in this notebook) it named the fastest each time, while the fewest multiplications took four times as long (geometric mean).
# But im2col was the fastest of all ten: with larger kernels, where the map turns to Fourier, it still has to show what it can.
# It will err where an array falls out of a cache, for its costs are linear.
# For another machine the numbers have to be fitted again, from a few measured shapes; the counts stay.
#
# **Rubric.**
#
# * 1 point: the figure, from runs of their own, at least eight shapes that were not used for fitting,
#   both choosers, labelled axes. Half a point if shapes were used for both, or are all alike.
# * 1 point: what is said is what the figure shows; a reason beyond multiplications (speed of matrix products, bytes, fixed costs), half;
#   where it errs or what another machine would need, half.
#
# The size of the regret earns nothing. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ### In your words (2 points)
#
# A colleague trains in float16 and proposes two changes for a layer of 3 x 3 kernels, 256 channels in and out.
#
# 1. $F(6 \times 6, 3 \times 3)$ in place of im2col.
#    How many times fewer multiplications is that, for large images? Show the numbers.
#    Give one reason why training may become no faster, and one why the network may become worse.
# 2. cuDNN's benchmark mode. Images in this data set are cropped to a hundred different sizes.
#    What happens, and what would you propose?
#
# About 150 words.

# %% [markdown] nbgrader={"grade_id": "two-proposals", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# A tile of $8 \times 8 = 64$ products yields $6 \times 6 = 36$ results, which take $36 \cdot 9 = 324$ directly:
# $324/64 = 5.06$ times fewer.
# It may be no faster because a layer's time is not its multiplications:
# transforms are written and read again (64 numbers for 36), need additions and constants that are not counted,
# and 64 small products run at a lower speed than one large one; small images waste parts of tiles.
# It may train worse because transforms with large constants lose about one of float16's three digits,
# in the forward pass and in gradients. Transform in float32, or take F(2,3): F(4,3) already loses more than half of that digit.
#
# The benchmark mode measures all algorithms at each shape it has not met:
# a hundred sizes, and again for gradients, so that the first epoch is slow; and what it chooses may differ from run to run,
# with other rounding. Pad or group images to a few sizes; or switch the mode off; or choose once for the most frequent size.
#
# **Rubric.**
#
# * 1 point: 5.06 (or 324/64), half; two reasons, one on time and one on digits, half.
# * 1 point: measuring is repeated for each new shape, half; a proposal that makes shapes few, or gives the mode up, half.
#
# Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## Your result cards
#
# Splitting a batch, run against the better baseline (about 1 or less says that it gained nothing; both are in the note),
# and Winograd's multiplications, counted.

# %% explore=true
result_card(
    "splitting a batch makes a layer faster under a workspace limit "
    "(better baseline)",
    ran["matrix products"][1],
    unit="x",
    seed_value=4.54,
    source="B: up to 4.54 times as fast on DeepBench (Oyama et al. 2018)",
    lab="05_convolution",
    note="Run at the best of ten limits; NumPy, 5 x 5 kernels, 12 images. "
    + "; ".join(
        f"{base} {gained:.2f}x ({low:.2f} to {high:.2f})"
        for base, (low, gained, high) in ran.items()
    ),
)

# %% explore=true
shape = Shape(1, 2, 18, 18, 2, 3, 3)
direct, tiles = (counted(name, shape)[0] for name in ("direct", "F(4,3)"))
result_card(
    "multiplications of direct convolution over Winograd's F(4x4, 3x3)",
    direct / tiles,
    unit="x",
    seed_value=4,
    source="Lavin and Gray 2016: 4 times fewer",
    lab="05_convolution",
    note="Counted in the student's own code; constants not counted.",
    kind="counted",
)

# %% [markdown]
# ## What you take along
#
# * Algorithms that return the same differ in multiplications, memory and digits.
#   Which of them wins depends on the machine as much as on the shape: compare your map, oneDNN's log and cuDNN's list.
#   That is why there are so many.
# * im2col buys a fast matrix product with memory; its adjoint, col2im, adds up, and is the gradient.
# * A Fourier transform costs the same for every kernel: worth it for large ones, a detour for small ones.
# * Winograd saves multiplications and pays with additions, and with digits.
# * Counting tells what could be; measuring tells what is.
# * A workspace limit is a price. Split the batch, and a plan by dynamic programming is provably the best for its table.

# %% [markdown]
# Lab 06 asks where the memory went, lab 07 which numbers may have 16 bits,
# and lab 16 how a speed-up is quoted honestly.
