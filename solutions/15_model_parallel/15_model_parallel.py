# %% [markdown]
# # 15. Model parallel training
#
# **What if the model is too large for one device?**
# When weights, gradients and activations no longer fit, the model itself has to be cut:
# through its layers, between its layers, or through its images.
# Here you write the cuts, demand the gradients of the *serial twin*, the same model on one device, to the last bit where no sum is rounded,
# count what is sent, held and idle, and search for the best mixture.

# %% [markdown]
# | | |
# |---|---|
# | Prerequisites | backpropagation (lab 01), PyTorch (lab 02), collectives (lab 11), data-parallel training (lab 12); labs 05 and 06 help |
# | Time | about 6 hours, and half an hour for what is marked optional |
# | Points | 20: 16 from checks, 2 from an open task, 2 from a written answer |
# | Sources | A, a lecture on scalable machine learning; B, a talk on communication in machine learning; D, slides on deep learning at large scale |
# | Hardware | two CPU cores, which the ranks share; one cell near the end uses a GPU |

# %% [markdown]
# ## How this notebook works
#
# Each task asks for one or two functions or a class.
# Replace the line that raises `NotImplementedError` and keep the name and the arguments.
# Then run the look cell, which shows what yours does, and the check below it; read the first case that fails.
# Hidden cases test what the text promises, with other numbers.
# Your code must not change its arguments, nor an earlier result.
# No check looks at a clock: bytes, operations and exactness are graded.
#
# Cells that begin with `# explore` are yours to change.
# They are not run when your work is graded:
# a helper or an import that a task needs belongs in the task's cell,
# and a plot of your own is read as you saved it.

# %% nbgrader={"grade_id": "setup", "locked": true}
import math
import time
from datetime import timedelta

import numpy as np
import torch
from torch import distributed as dist
from torch import nn

from labkit import check, count, device, launch, load, plot, result_card

torch.set_num_threads(1)
digits, glyphs = load("digits"), load("glyphs")
print(digits)

# %% [markdown]
# ### Task 1. Predict (1 point)
#
# Write three numbers down before you count them.
#
# * `"halo"`: an image of 256 rows lies on four devices, 64 rows each, and is convolved with a 3 x 3 kernel.
#   How many times fewer bytes does an inner device send if it sends only what its neighbours need,
#   instead of all its rows to everybody?
# * `"idle"`: four devices hold a quarter of the layers each. A batch passes through them in four microbatches.
#   Which share of the devices' time is idle (0.1 is 10 %)?
# * `"sharded"`: each device stores only its share of the weights, and gathers the others' when it needs them.
#   How many times as many bytes does it send as in data parallel training?
#
# `predictions()` returns a dictionary with these three keys and a number above 0 for each, the same in each call. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return two ratios and a share of at most 1, each above 0."""
    ### BEGIN SOLUTION
    return {"halo": 64.0, "idle": 0.25, "sharded": 2.0}
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "three predictions",
    hint="return a dictionary with exactly the three keys of the text",
):
    check.equal(sorted(predictions()), ["halo", "idle", "sharded"])
with check.case("each is above 0", hint="2 is twice as many, 0.5 half"):
    for name in ("halo", "idle", "sharded"):
        check.at_least(predictions()[name], 1e-9, name=name)
with check.case("a share is at most 1", hint="10 % is 0.1"):
    check.at_most(predictions()["idle"], 1.0, name="idle")
with check.case(
    "the same in each call", hint="commit: draw nothing", guard=True
):
    check.equal(predictions(), predictions(), name="two calls")
check.score(1)

# %% [markdown]
# ## Ways to cut
#
# ![Five panels of three layers. Data: two whole copies of a network, each with its own half of the batch. Sharded: the same, but each device stores only a half of each layer's weights. Tensor: each layer is cut, both devices work on all images. Pipeline: one device has the first layer, the other the last two. Space: each device has all layers, and the upper or the lower rows of every image.](figures/cuts.svg)
#
# *Tensor* parallel: every device has a part of every layer. *Pipeline* parallel: every device has some layers, whole.
# *Spatial* parallel: every device has a part of every image. *Data* parallel is lab 12's; when it is *sharded*,
# every device computes whole layers, but stores only a part of them.
#
# Of each, ask three questions: what is sent, what is held, who waits?

# %% [markdown]
# ### What is given: lab 11's collectives
#
# `comm.rank` is this device's number, `comm.size` how many there are.
# `np.array_split(x, P)` cuts an array into $P$ *parts* of nearly the same length.
#
# * `reduce_scatter(comm, x)` adds up the arrays `x` of all ranks, laid out flat,
#   and returns part number `comm.rank` of the sum.
# * `all_gather(comm, part)` returns the parts of all ranks, joined, flat.
# * `all_reduce(comm, x)` is both, one after the other: the sum over all ranks, in x's shape.
#
# They are rings. Each of the first two sends $m(P-1)/P$ bytes a rank, for $m$ bytes in all (parts may differ by one); `all_reduce` sends twice that.
# `comm.exchange(array, to, source)` sends and receives at once. Use `comm` in one thread.
#
# `count.collective(fn, [(P, xs, *more)])` calls `fn(comm, xs[rank], *more)` on each of $P$ processes
# and returns, for each job and rank, a dictionary with `value` and `bytes`, what it sent.

# %% nbgrader={"grade_id": "collectives", "locked": true}


def reduce_scatter(comm, x):
    """Return part comm.rank, flat, of the sum of all ranks' x."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    parts = np.array_split(np.ravel(x), comm.size)
    carried = parts[(comm.rank - 1) % comm.size].copy()
    for step in range(comm.size - 1):
        came = comm.exchange(carried, right, left)
        carried = came + parts[(comm.rank - 2 - step) % comm.size]
    return carried


def all_gather(comm, part):
    """Return the parts of all ranks, joined in the order of ranks, flat."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    parts = {comm.rank: np.ravel(part)}
    for step in range(comm.size - 1):
        at = (comm.rank - step) % comm.size
        came = comm.exchange(parts[at], right, left)
        parts[(at - 1) % comm.size] = came
    return np.concatenate([parts[rank] for rank in range(comm.size)])


def all_reduce(comm, x):
    """Return the sum of all ranks' x, in its shape."""
    return all_gather(comm, reduce_scatter(comm, x)).reshape(np.shape(x))


# %% explore=true
vectors = [np.array([1.0, 2.0, 3.0]) * 10**rank for rank in range(3)]
parts = [np.array([entry]) for entry in sum(vectors)]
for fn in (reduce_scatter, all_gather, all_reduce):
    given = parts if fn is all_gather else vectors
    (ranks,) = count.collective(fn, [(3, given)])
    for rank, found in enumerate(ranks):
        print(f"{fn.__name__:14} {rank}: {found['value']}, {found['bytes']} B")

# %% [markdown]
# The first three lines are parts of one sum; the next three hand them round;
# the last three do both, for the bytes of both.

# %% [markdown]
# ## Cutting a layer
#
# A layer computes $Y = XW + b$; backward, from $dY$, it computes $dW = X^T dY$, $db$ (the sum of $dY$'s rows) and $dX = dY\,W^T$.
# The weights can be cut in two directions:
#
# $$W = \big[\,W_0 \;\; W_1\,\big] \qquad\text{or}\qquad W = \begin{bmatrix} W_0 \\ W_1 \end{bmatrix}$$

# %% [markdown]
# ![Two rows of matrices X, W and Y. By columns: W and Y are cut by columns, X is whole on both ranks; forward nothing is sent, backward an all-reduce of dX. By rows: X is cut by columns and W by rows, Y is whole on both ranks; forward an all-reduce of Y, backward nothing is sent.](figures/layer.svg)
#
# By columns, each rank computes some *columns of the result* from all of $X$, so the gradient of $X$ is a sum over the ranks.
# By rows, each rank has some *columns of $X$*, and the results have to be added up.

# %% [markdown]
# ### Task 2. Column-parallel (2 points)
#
# `ColumnParallel(comm, w, b)` is one rank's part: `w` of shape `(n, k_r)` holds its columns of $W$, `b` of shape `(k_r,)` its entries of $b$.
# Ranks may have different $k_r$.
#
# * `forward(x)` gets all of $X$, `(batch, n)`, the same on every rank, and returns this rank's columns of $Y$, `(batch, k_r)`. It sends nothing.
# * `backward(dy)` gets the gradient of these columns, sets `self.dw` and `self.db`, and returns all of $dX$, `(batch, n)`,
#   the same on every rank: **one** `all_reduce` of the given kind, of an array in dX's shape.
#
# The gradients are those of this backward pass alone, in new arrays. All arrays of a rank have one dtype, and it is kept.

# %% [markdown]
# An example: $W$ is `[[1, 2], [3, 4]]` and $b$ is `[10, 20]`. Rank 0 has `[[1], [3]]` and `[10]`, rank 1 has `[[2], [4]]` and `[20]`.
# For $X$ = `[[1, 1]]` rank 0 returns `[[14]]`, rank 1 `[[26]]`.
# Given `[[1]]` and `[[10]]` backward, both return `[[21, 43]]`.
#
# About 8 lines in three methods.


# %% nbgrader={"grade_id": "column-parallel", "solution": true}
class ColumnParallel:
    """One rank's columns of a linear layer."""

    def __init__(self, comm, w: np.ndarray, b: np.ndarray) -> None:
        ### BEGIN SOLUTION
        self.comm, self.w, self.b = comm, w, b
        ### END SOLUTION

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return this rank's columns of the output, shape (batch, k_r)."""
        ### BEGIN SOLUTION
        self.x = x
        return x @ self.w + self.b
        ### END SOLUTION

    def backward(self, dy: np.ndarray) -> np.ndarray:
        """Set dw and db; return the gradient of x, shape (batch, n)."""
        ### BEGIN SOLUTION
        self.dw, self.db = self.x.T @ dy, dy.sum(axis=0)
        return all_reduce(self.comm, dy @ self.w.T)
        ### END SOLUTION


# %% nbgrader={"grade_id": "layer-passes", "locked": true}


def layer_passes(comm, mine, kind):
    """Take passes of one layer; each rank has its own w, b and pairs x, dy."""
    w, b, passes = (mine[key] for key in ("w", "b", "passes"))
    make = ColumnParallel if kind == "column" else RowParallel
    layer, found = make(comm, w, b), []
    other = make(comm, w + 1, b + 1) if "beside" in mine else None
    before = [array.copy() for array in (w, b, *sum(passes, ()))]
    for x, dy in passes:
        y = layer.forward(x)
        if other:  # another layer, at work in between
            other.forward(x + 1)
            other.backward(dy + 1)
        dx = layer.backward(dy)
        found.append({"y": y, "dx": dx, "dw": layer.dw, "db": layer.db})
    if "again" in mine:  # backward once more, of the last pass
        dx = layer.backward(dy)
        found.append({"y": y, "dx": dx, "dw": layer.dw, "db": layer.db})
    after = (w, b, *sum(passes, ()))
    kept = all(map(np.array_equal, before, after))
    return {"passes": found, "kept": kept}


# %% explore=true
halves = [
    (np.array([[1.0], [3]]), np.array([10.0]), np.array([[1.0]])),
    (np.array([[2.0], [4]]), np.array([20.0]), np.array([[10.0]])),
]
ones = np.array([[1.0, 1.0]])
example = [{"w": w, "b": b, "passes": [(ones, dy)]} for w, b, dy in halves]
job = (2, example, "column")
for rank, found in enumerate(count.collective(layer_passes, [job])[0]):
    (one,) = found["value"]["passes"]
    print(
        f"rank {rank}: y {one['y'].tolist()}, dx {one['dx'].tolist()},", end=""
    )
    print(f" {found['bytes']} bytes sent")

# %% nbgrader={"grade_id": "column-parallel-check", "grade": true, "points": 2}
from functools import cache

import numpy as np

from labkit import check, count


def scattered(arrays, gain):
    """Return each rank's part of a ring's sum; what comes is gain as large."""
    size = len(arrays)
    parts = [np.array_split(array.ravel(), size) for array in arrays]
    return [
        sum(gain**h * parts[(r - h) % size][r] for h in range(size))
        for r in range(size)
    ]


def gathered(parts, gain):
    """Return what each rank has of all parts after a ring."""
    size = len(parts)
    return [
        np.concatenate(
            [gain ** ((r - q) % size) * p for q, p in enumerate(parts)]
        )
        for r in range(size)
    ]


def reduced(arrays, gain):
    """Return each rank's sum of the arrays, by both rings."""
    whole = gathered(scattered(arrays, gain), gain)
    return [flat.reshape(arrays[0].shape) for flat in whole]


def ring_bytes(array, size, rank):
    """Return what an all-reduce of the array sends from this rank."""
    parts = np.array_split(array.ravel(), size)
    return (
        2 * array.nbytes - parts[rank].nbytes - parts[(rank + 1) % size].nbytes
    )


def named(**values):
    """Return the values by their names."""
    return values


def exactly(found, want, title):
    """Expect the same dtype, shape and numbers, to the last bit."""
    check.close(found, want, rtol=0, atol=0, dtype=want.dtype.name, name=title)


def case_of(size, batch, n, k, dtype=np.float64, passes=1, more=1):
    """Return parts for each rank: multiples of 1/8, so that sums are exact.

    more: so many images more in each pass.
    """
    draw = np.random.default_rng()  # nobody knows another rank's numbers

    def some(*shape):
        most = 20 if dtype == np.float32 else 3000
        return (draw.integers(-most, most, shape) / 8).astype(dtype)

    w, b, parts = some(n, k), some(k), []
    sizes = [batch + more * t for t in range(passes)]
    pairs = [(some(images, n), some(images, k)) for images in sizes]
    for r in range(size):
        mine, own = (np.array_split(a, size, -1)[r] for a in (w, b))
        pair = [(x, np.array_split(dy, size, 1)[r]) for x, dy in pairs]
        parts.append(named(w=mine, b=own, passes=pair))
    return parts


example = [
    named(
        w=np.array([[a], [a + 2.0]]),
        b=np.array([10.0 * a]),
        passes=[(np.array([[1.0, 1.0]]), np.array([[g]]))],
    )
    for a, g in ((1.0, 1.0), (2.0, 10.0))
]
CASES = {"shown": [example, case_of(3, 4, 5, 7, passes=2)]}
### BEGIN HIDDEN TESTS
CASES["types"] = [case_of(2, 3, 4, 5, np.float32)]
CASES["sizes"] = [
    case_of(3, 1, 1, 2),
    case_of(2, 0, 3, 4, np.int64),
]
CASES["alone"] = [case_of(1, 3, 4, 5)]
CASES["beside"] = [[part | {"beside": True} for part in case_of(2, 2, 3, 4)]]
CASES["again"] = [
    [part | {"again": True} for part in case_of(2, 3, 4, 5, passes=2, more=0)]
]
### END HIDDEN TESTS


@cache
def launched(*names):
    """Run the cases of these names once, over plain and doubling wires."""
    cases = [case for name in names for case in CASES[name]]
    jobs = [(len(case), case, "column") for case in cases]
    try:
        found = count.collective(layer_passes, jobs, gains=(1, 2), timeout_s=6)
    except Exception as error:
        return None, error
    return by_name(names, found), None


def by_name(names, found):
    """Return what was found by name and gain."""
    each = iter(found)
    return {
        (name, gain): [next(each) for _ in CASES[name]]
        for gain in (1, 2)
        for name in names
    }


def outcomes(name, gain=1):
    """Return what each rank returned for each case of a name."""
    found, error = launched(*CASES)
    if error is not None:  # which of them fails?
        found, error = launched(name)
    if error is not None:
        raise error
    return found[name, gain]


def wanted(parts, turn, gain):
    """Return what each rank is to have after a pass."""
    passes = [(p["w"], p["b"], *p["passes"][turn]) for p in parts]
    dxs = reduced([dy @ w.T for w, _, _, dy in passes], gain)
    return [
        {"y": x @ w + b, "dx": dx, "dw": x.T @ dy, "db": dy.sum(axis=0)}
        for (w, b, x, dy), dx in zip(passes, dxs, strict=True)
    ]


def expect(name, *keys, gain=1, turns=None):
    """Compare results of these keys in each pass, on each rank, exactly."""
    for number, parts in enumerate(CASES[name]):
        ranks = outcomes(name, gain)[number]
        for turn in turns or range(len(parts[0]["passes"])):
            for rank, want in enumerate(wanted(parts, turn, gain)):
                found = ranks[rank]["value"]["passes"][turn]
                for key in keys:
                    title = f"{key} of rank {rank} of {len(parts)}, pass {turn}"
                    exactly(found[key], want[key], title)


def expect_kept(*names):
    """Expect that no rank has changed what it was given."""
    for name in names:
        for number, case in enumerate(CASES[name]):
            ranks = outcomes(name)[number]
            for rank in range(len(case)):
                title = f"arguments of rank {rank} to stay as they were"
                check.true(ranks[rank]["value"]["kept"], title)


with check.case(
    "the worked example",
    hint="forward: x times this rank's columns, plus its part of b",
):
    ranks = outcomes("shown")[0]
    for rank, y in enumerate([14.0, 26.0]):
        found = ranks[rank]["value"]["passes"][0]["y"]
        check.equal(found, np.array([[y]]), name=f"y of rank {rank}")
with check.case(
    "forward on three ranks, of different parts", hint="y = x w + b"
):
    expect("shown", "y")
with check.case(
    "the gradients of this rank's weights",
    hint="x transposed times dy, and the sum of dy's rows",
    more="of this pass: what an earlier pass has left is not added",
):
    expect("shown", "dw", "db")
with check.case(
    "the gradient of x is the sum over all ranks",
    hint="what does each rank contribute to x's gradient, and in which dtype "
    "does it come back?",
    essential=True,
):
    expect("shown", "dx")
with check.case(
    "one all-reduce of dx is sent in a pass, backward",
    hint="forward needs no other rank; how large is what backward adds up?",
):
    for number, parts in enumerate(CASES["shown"]):
        ranks = outcomes("shown")[number]
        for rank, part in enumerate(parts):
            sizes = [
                ring_bytes(x, len(parts), rank) for x, dy in part["passes"]
            ]
            title = f"bytes sent by rank {rank} of {len(parts)}"
            check.equal(int(ranks[rank]["bytes"]), sum(sizes), name=title)
            title = f"messages sent by rank {rank} of {len(parts)}"
            want = 2 * (len(parts) - 1) * len(sizes)
            check.equal(int(ranks[rank]["messages"]), want, name=title)
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "the dtype stays", hint="no array of float64 on the way"
):
    expect("types", "y", "dx", "dw", "db")
with check.hidden_case(
    "one image, no image, whole numbers, few columns",
    hint="a batch may be empty, and a rank may have no column at all",
):
    expect("sizes", "y", "dx", "dw", "db")
with check.hidden_case(
    "one rank alone is the whole layer", hint="with P = 1 the sum is its own"
):
    expect("alone", "y", "dx", "dw", "db")
with check.hidden_case(
    "a second layer, at work in between, changes nothing",
    hint="each layer keeps its own input: what stands in the class is shared",
):
    expect("beside", "y", "dx", "dw", "db")
with check.hidden_case(
    "weights and arguments stay as they were",
    hint="x + b makes a new array; x += b does not",
    guard=True,
):
    expect_kept("shown", "types", "sizes")
with check.hidden_case(
    "two passes of as many images, then backward once more",
    hint="each pass makes new arrays, and its gradients are not added up",
):
    expect("again", "y", "dx", "dw", "db")
    expect("again", "dx", "dw", "db", turns=[-1])
with check.hidden_case(
    "dx is made of what the given all_reduce brings",
    hint="it fails with any other case; then, is the sum all_reduce's?",
):
    expect("shown", "dx", gain=2)
    expect("sizes", "dx", gain=2)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 3. Row-parallel (2 points)
#
# `RowParallel(comm, w, b)`: `w` of shape `(n_r, k)` holds this rank's rows of $W$; `b` of shape `(k,)` is all of $b$, the same on every rank.
#
# * `forward(x)` gets this rank's columns of $X$, `(batch, n_r)`, and returns all of $Y$, `(batch, k)`, on every rank:
#   **one** `all_reduce`, to whose sum $b$ is added, once.
# * `backward(dy)` gets all of $dY$, the same on every rank, sets `self.dw` and `self.db`, and returns the gradient of this rank's columns of $X$.
#   It sends nothing.
#
# The rest is as in Task 2. With the same $W$ and $b$, rank 0 has `[[1, 2]]`, rank 1 `[[3, 4]]`;
# given `[[1]]` each, both return `[[14, 26]]`. Given `[[1, 10]]` backward, rank 0 returns `[[21]]`, rank 1 `[[43]]`.
#
# About 8 lines in three methods.


# %% nbgrader={"grade_id": "row-parallel", "solution": true}
class RowParallel:
    """One rank's rows of a linear layer."""

    def __init__(self, comm, w: np.ndarray, b: np.ndarray) -> None:
        ### BEGIN SOLUTION
        self.comm, self.w, self.b = comm, w, b
        ### END SOLUTION

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return all of the output, shape (batch, k)."""
        ### BEGIN SOLUTION
        self.x = x
        return all_reduce(self.comm, x @ self.w) + self.b
        ### END SOLUTION

    def backward(self, dy: np.ndarray) -> np.ndarray:
        """Set dw and db; return the gradient of x, shape (batch, n_r)."""
        ### BEGIN SOLUTION
        self.dw, self.db = self.x.T @ dy, dy.sum(axis=0)
        return dy @ self.w.T
        ### END SOLUTION


# %% explore=true
rows, dy = np.array([[[1.0, 2]], [[3.0, 4]]]), np.array([[1.0, 10]])
b, pair = np.array([10.0, 20]), [(np.array([[1.0]]), dy)]
example = [{"w": w, "b": b, "passes": pair} for w in rows]
job = (2, example, "row")
for rank, found in enumerate(count.collective(layer_passes, [job])[0]):
    (one,) = found["value"]["passes"]
    print(
        f"rank {rank}: y {one['y'].tolist()}, dx {one['dx'].tolist()},", end=""
    )
    print(f" {found['bytes']} bytes sent")

# %% nbgrader={"grade_id": "row-parallel-check", "grade": true, "points": 2}
from functools import cache

import numpy as np

from labkit import check, count


def reduced(arrays, gain):
    """Return each rank's sum by both rings; what comes is gain as large."""
    size, shape = len(arrays), arrays[0].shape
    parts = [np.array_split(array.ravel(), size) for array in arrays]
    sums = [
        sum(gain**h * parts[(q - h) % size][q] for h in range(size))
        for q in range(size)
    ]
    return [
        np.concatenate(
            [gain ** ((r - q) % size) * part for q, part in enumerate(sums)]
        ).reshape(shape)
        for r in range(size)
    ]


def ring_bytes(array, size, rank):
    """Return what an all-reduce of the array sends from this rank."""
    parts = np.array_split(array.ravel(), size)
    return (
        2 * array.nbytes - parts[rank].nbytes - parts[(rank + 1) % size].nbytes
    )


def named(**values):
    """Return the values by their names."""
    return values


def exactly(found, want, title):
    """Expect the same dtype, shape and numbers, to the last bit."""
    check.close(found, want, rtol=0, atol=0, dtype=want.dtype.name, name=title)


def case_of(size, batch, n, k, dtype=np.float64, passes=1, more=1):
    """Return parts for each rank: multiples of 1/8, so that sums are exact.

    more: so many images more in each pass.
    """
    draw = np.random.default_rng()  # nobody knows another rank's numbers

    def some(*shape):
        most = 20 if dtype == np.float32 else 3000
        return (draw.integers(-most, most, shape) / 8).astype(dtype)

    w, b, parts = some(n, k), some(k), []
    sizes = [batch + more * t for t in range(passes)]
    pairs = [(some(images, n), some(images, k)) for images in sizes]
    for r in range(size):
        pair = [(np.array_split(x, size, 1)[r], dy) for x, dy in pairs]
        parts.append(named(w=np.array_split(w, size)[r], b=b, passes=pair))
    return parts


example = [
    named(
        w=np.array([row]),
        b=np.array([10.0, 20.0]),
        passes=[(np.array([[1.0]]), np.array([[1.0, 10.0]]))],
    )
    for row in ([1.0, 2.0], [3.0, 4.0])
]
CASES = {"shown": [example, case_of(3, 4, 5, 7, passes=2)]}
### BEGIN HIDDEN TESTS
CASES["types"] = [case_of(2, 3, 4, 5, np.float32)]
CASES["sizes"] = [
    case_of(3, 1, 2, 1),
    case_of(2, 0, 3, 4, np.int64),
]
CASES["alone"] = [case_of(1, 3, 4, 5)]
CASES["beside"] = [[part | {"beside": True} for part in case_of(2, 2, 3, 4)]]
CASES["again"] = [
    [part | {"again": True} for part in case_of(2, 3, 4, 5, passes=2, more=0)]
]
### END HIDDEN TESTS


@cache
def launched(*names):
    """Run the cases of these names once, over plain and doubling wires."""
    cases = [case for name in names for case in CASES[name]]
    jobs = [(len(case), case, "row") for case in cases]
    try:
        found = count.collective(layer_passes, jobs, gains=(1, 2), timeout_s=6)
    except Exception as error:
        return None, error
    return by_name(names, found), None


def by_name(names, found):
    """Return what was found by name and gain."""
    each = iter(found)
    return {
        (name, gain): [next(each) for _ in CASES[name]]
        for gain in (1, 2)
        for name in names
    }


def outcomes(name, gain=1):
    """Return what each rank returned for each case of a name."""
    found, error = launched(*CASES)
    if error is not None:  # which of them fails?
        found, error = launched(name)
    if error is not None:
        raise error
    return found[name, gain]


def wanted(parts, turn, gain):
    """Return what each rank is to have after a pass."""
    passes = [(p["w"], p["b"], *p["passes"][turn]) for p in parts]
    sums = reduced([x @ w for w, _, x, _ in passes], gain)
    return [
        {"y": y + b, "dx": dy @ w.T, "dw": x.T @ dy, "db": dy.sum(axis=0)}
        for (w, b, x, dy), y in zip(passes, sums, strict=True)
    ]


def expect(name, *keys, gain=1, turns=None):
    """Compare results of these keys in each pass, on each rank, exactly."""
    for number, parts in enumerate(CASES[name]):
        ranks = outcomes(name, gain)[number]
        for turn in turns or range(len(parts[0]["passes"])):
            for rank, want in enumerate(wanted(parts, turn, gain)):
                found = ranks[rank]["value"]["passes"][turn]
                for key in keys:
                    title = f"{key} of rank {rank} of {len(parts)}, pass {turn}"
                    exactly(found[key], want[key], title)


def expect_kept(*names):
    """Expect that no rank has changed what it was given."""
    for name in names:
        for number, case in enumerate(CASES[name]):
            ranks = outcomes(name)[number]
            for rank in range(len(case)):
                title = f"arguments of rank {rank} to stay as they were"
                check.true(ranks[rank]["value"]["kept"], title)


with check.case(
    "the worked example",
    hint="does each forward keep its x, and add whose products, b once? which "
    "shapes meet in backward?",
    more="b is in the sum once, however many ranks there are",
):
    ranks = outcomes("shown")[0]
    for rank in (0, 1):
        found = ranks[rank]["value"]["passes"][0]["y"]
        check.equal(found, np.array([[14.0, 26.0]]), name=f"y of rank {rank}")
with check.case(
    "forward on three ranks, of different parts",
    hint="every rank has all of Y, and b counts once",
    essential=True,
):
    expect("shown", "y")
with check.case(
    "the gradients of this rank's weights",
    hint="dw: which product, of this pass? db: b is whole on each rank; a sum "
    "or a mean, over which axis?",
    more="of this pass: what an earlier pass has left is not added",
):
    expect("shown", "dw", "db")
with check.case("the gradient of this rank's x", hint="dy times w transposed"):
    expect("shown", "dx")
with check.case(
    "one all-reduce of y is sent in a pass, forward",
    hint="backward needs no other rank; how large is what forward adds up?",
):
    for number, parts in enumerate(CASES["shown"]):
        ranks = outcomes("shown")[number]
        for rank, part in enumerate(parts):
            sizes = [
                ring_bytes(dy, len(parts), rank) for x, dy in part["passes"]
            ]
            title = f"bytes sent by rank {rank} of {len(parts)}"
            check.equal(int(ranks[rank]["bytes"]), sum(sizes), name=title)
            title = f"messages sent by rank {rank} of {len(parts)}"
            want = 2 * (len(parts) - 1) * len(sizes)
            check.equal(int(ranks[rank]["messages"]), want, name=title)
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "the dtype stays", hint="no array of float64 on the way"
):
    expect("types", "y", "dx", "dw", "db")
with check.hidden_case(
    "one image, no image, whole numbers, few rows",
    hint="a batch may be empty, and a rank may have no row at all",
):
    expect("sizes", "y", "dx", "dw", "db")
with check.hidden_case(
    "one rank alone is the whole layer", hint="with P = 1 the sum is its own"
):
    expect("alone", "y", "dx", "dw", "db")
with check.hidden_case(
    "a second layer, at work in between, changes nothing",
    hint="each layer keeps its own input: what stands in the class is shared",
):
    expect("beside", "y", "dx", "dw", "db")
with check.hidden_case(
    "weights and arguments stay as they were",
    hint="x + b makes a new array; x += b does not",
    guard=True,
):
    expect_kept("shown", "types", "sizes")
with check.hidden_case(
    "two passes of as many images, then backward once more",
    hint="each pass makes new arrays, and its gradients are not added up",
):
    expect("again", "y", "dx", "dw", "db")
    expect("again", "dx", "dw", "db", turns=[-1])
with check.hidden_case(
    "y is made of what the given all_reduce brings",
    hint="it fails with any other case; then, is the sum all_reduce's?",
):
    expect("shown", "y", gain=2)
    expect("sizes", "y", gain=2)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Experiment 1. A split MLP, and what it sends
#
# A column-parallel layer leaves its output cut by columns, which is how a row-parallel layer wants its input.
# Functions of single numbers, such as tanh, may stand between them without a message.
# One all-reduce forward and one backward for two layers: this is how large transformers are split (Shoeybi et al. 2019).


# %% explore=true
def split_mlp(comm, x, weights, labels):
    """Take one forward and one backward pass, cut over the ranks."""
    w1, b1, w2, b2 = weights

    def mine(array, axis):
        return np.array_split(array, comm.size, axis)[comm.rank]

    first = ColumnParallel(comm, mine(w1, 1), mine(b1, 0))
    second = RowParallel(comm, mine(w2, 0), b2)
    hidden = np.tanh(first.forward(x))
    logits = second.forward(hidden)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(x)), labels] -= 1
    dx = first.backward(second.backward(p / len(x)) * (1 - hidden**2))
    return dx, first.dw, second.dw


# %% explore=true
draw = np.random.default_rng(0)
shapes = (64, 256), (256,), (256, 10), (10,)
weights = [draw.normal(0, 0.1, shape) for shape in shapes]
images = digits.train.x.reshape(-1, 64).astype(np.float64)
labels = digits.train.y
x = torch.tensor(images[:32], requires_grad=True)
leaves = [torch.tensor(array, requires_grad=True) for array in weights]
w1, b1, w2, b2 = leaves
logits = torch.tanh(x @ w1 + b1) @ w2 + b2
nn.functional.cross_entropy(logits, torch.tensor(labels[:32])).backward()
for P in (1, 2, 4):
    job = (P, [images[:32]] * P, weights, labels[:32])
    ranks = [found["value"] for found in count.collective(split_mlp, [job])[0]]
    dw1 = np.concatenate([each[1] for each in ranks], axis=1)
    dw2 = np.concatenate([each[2] for each in ranks], axis=0)
    pairs = ((ranks[0][0], x), (dw1, w1), (dw2, w2))
    each = [
        (mine - leaf.grad.numpy(), leaf.grad.norm()) for mine, leaf in pairs
    ]
    off = max(float(np.linalg.norm(d) / size) for d, size in each)
    print(f"P = {P}: off from PyTorch's gradients, relative, {off:.0e}")

# %% [markdown]
# The differences are roundings of float64: one rank, which splits nothing, is off by about as much.
# (The checks take multiples of 1/8: there a difference is a mistake.)
#
# What does it cost? Data parallel training sends gradients, as large as the weights.
# Tensor parallel sends *activations*: the more images, the more bytes. Where do the lines cross?


# %% explore=true
P, batches = 4, [4, 16, 64, 256, 1024]
jobs = [(P, [images[:n]] * P, weights, labels[:n]) for n in batches]
by_tensor = [ranks[0]["bytes"] for ranks in count.collective(split_mlp, jobs)]
flat = np.concatenate([array.ravel() for array in weights])
((found, *_),) = count.collective(all_reduce, [(P, [flat] * P)])
flat_kb = found["bytes"] / 1e3
ax = plot.curves(
    {
        "tensor parallel: your layers": (batches, np.divide(by_tensor, 1e3)),
        "data parallel: one all-reduce": (batches, [flat_kb] * 5),
    },
    xlabel="images in the batch",
    ylabel="kB sent by rank 0 in a step",
    logx=True,
    logy=True,
    title="The same network on four ranks",
)
crossing = flat.size / (10 + 64)
ax.plot([crossing], [flat_kb], "o", color="black", zorder=3)
_ = ax.annotate(
    f"{crossing:.0f} images",
    (crossing, flat_kb),
    (-6, 8),
    textcoords="offset points",
    ha="right",
)

# %% [markdown]
# For each image your layers add up 10 numbers forward, the outputs, and 64 backward, the inputs' gradients: 74.
# Data parallel training adds up 19,210 gradients, whatever the batch: 19,210 / 74 is about 260 images.
#
# A layer with many weights and few activations, as the fully connected ones of AlexNet, wants to be cut;
# one with few weights and many activations, a convolution, wants to be copied, or to have its *images* cut, by rows.

# %% [markdown]
# ### Attention is cut by heads (optional, 10 minutes)
#
# Between the two layers of attention there is a softmax, over many numbers. Does it need a message?
#
# An attention layer (lab 06) runs several small ones side by side, its heads:
# each compares a place's query with the keys of other places, and averages their values.
# A head uses its own columns of the query, key and value weights, and its own rows of the output weights.
# So your two classes split attention too; the softmax stays inside a head.


# %% explore=true
def split_attention(comm, x, w_qkv, w_out, heads):
    """Return self-attention over x (words, n), heads cut over ranks."""
    n = x.shape[1]
    mine = [np.array_split(w, comm.size, 1)[comm.rank] for w in w_qkv]
    q, k, v = (
        ColumnParallel(comm, w, np.zeros(w.shape[1])).forward(x) for w in mine
    )
    found = []
    for at in range(0, q.shape[1], n // heads):
        head = slice(at, at + n // heads)
        scores = q[:, head] @ k[:, head].T / math.sqrt(n // heads)
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        found.append(p / p.sum(axis=1, keepdims=True) @ v[:, head])
    rows = np.array_split(w_out, comm.size)[comm.rank]
    out = RowParallel(comm, rows, np.zeros(n))
    return out.forward(np.concatenate(found, axis=1))


# %% explore=true
words, w_qkv = draw.normal(size=(6, 16)), draw.normal(size=(3, 16, 16)) / 4
w_out = draw.normal(size=(16, 16)) / 4
parts = [
    torch.tensor(words @ w).reshape(6, 4, 4).transpose(0, 1) for w in w_qkv
]
whole = nn.functional.scaled_dot_product_attention(*parts)
whole = whole.transpose(0, 1).reshape(6, 16).numpy() @ w_out
jobs = [(P, [words] * P, w_qkv, w_out, 4) for P in (2, 4)]
for ranks in count.collective(split_attention, jobs):
    off = max(np.abs(found["value"] - whole).max() for found in ranks)
    print(
        f"4 heads, P = {len(ranks)}: off from PyTorch's result {off:.0e},"
        f" {ranks[0]['bytes']} bytes sent"
    )

# %% [markdown]
# The bytes are of one all-reduce, after the output weights: a head is computed whole on one rank.

# %% [markdown]
# ## Cutting the image
#
# A convolution looks at small neighbourhoods. If each rank has some rows of the image,
# it can compute nearly all of its rows of the result alone.
# Only at the seams does it need rows of its neighbours: the *halo*, or fringe.
#
# Given are `convolve(x, k)`, which returns the values where the kernel lies whole inside of `x` (so it loses rows and columns),
# and `shift(comm, array, to, source)`, which sends `array` to rank `to` and returns what comes from rank `source`, in one step.
# Either may be `None`: then nothing is sent, or nothing comes, and `None` is returned.

# %% nbgrader={"grade_id": "shift", "locked": true}


def convolve(x, k):
    """Return the correlation of x with k where k lies inside of x."""
    windows = np.lib.stride_tricks.sliding_window_view(x, k.shape)
    return np.einsum("ijab,ab->ij", windows, k)


def shift(comm, array, to, source):
    """Send to one rank, receive from another; either may be None."""
    if to is not None and source is not None:
        return comm.exchange(array, to, source)
    if to is not None:
        comm.send(array, to)
    return None if source is None else comm.recv(source)


# %% [markdown]
# ### Task 4. Halo exchange (2 points)
#
# Rank 0 has the image's first rows, rank 1 the next, and so on.
# `halo_conv(comm, x, k)` gets this rank's rows `x`, `(rows, width)`, and a square kernel `k` of odd side $2h+1$ and x's dtype.
# It returns this rank's rows of the convolution of the *whole* image, surrounded by zeros, in x's shape and dtype.
#
# Each rank sends the $h$ rows at its edge to the neighbour there, and nothing else: no padding, no further rows.
# The first and the last rank have one neighbour, a single rank has none; beyond the image are zeros.
# Ranks may have different numbers of rows, each at least $h$ and at least one; $h$ may be 0, and then no byte has to be sent.
# The kernel is not turned round, as in all libraries for deep learning.

# %% [markdown]
# An example: the image is `[[1], [2], [3], [4]]`, the kernel is 3 x 3 and all ones.
# Rank 0 has the rows 1 and 2 and receives 3; it returns `[[3], [6]]`. Rank 1 receives 2 and returns `[[9], [7]]`.
# Each has sent one number.
#
# About 9 lines.


# %% nbgrader={"grade_id": "halo-conv", "solution": true}
def halo_conv(comm, x: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return this rank's rows of the whole image's convolution with k."""
    ### BEGIN SOLUTION
    h = len(k) // 2
    above = comm.rank - 1 if comm.rank > 0 else None
    below = comm.rank + 1 if comm.rank < comm.size - 1 else None
    top = shift(comm, x[len(x) - h :], below, above)
    bottom = shift(comm, x[:h], above, below)
    beyond = np.zeros_like(x[:h])
    top = beyond if top is None else top
    bottom = beyond if bottom is None else bottom
    rows = np.concatenate([top, x, bottom])
    return convolve(np.pad(rows, ((0, 0), (h, h))), k)
    ### END SOLUTION


# %% [markdown]
# Below is a letter on four ranks, blurred. In the middle, the counter-experiment: each rank has put zeros at its seams instead of its neighbours' rows.
# On the right is what that gets wrong, on a scale of its own.


# %% explore=true
def on_its_own(comm, x, k):
    """Convolve this rank's rows, with zeros where the neighbours' are."""
    return convolve(np.pad(x, len(k) // 2), k)


letter = glyphs.train.x[3].reshape(28, 28).astype(np.float64)
blur = np.full((5, 5), 1 / 25)
strips = np.array_split(letter, 4)
whole, torn = (
    np.concatenate(
        [
            found["value"]
            for found in count.collective(fn, [(4, strips, blur)])[0]
        ]
    )
    for fn in (halo_conv, on_its_own)
)
serial = convolve(np.pad(letter, 2), blur)
print(f"with a halo: off from one device by {np.abs(whole - serial).max():.0e}")
ax = plot.images(
    np.stack([whole, torn, np.abs(torn - serial)]),
    ["your halo", "no messages", "what is lost"],
    title="A letter, blurred on four ranks of seven rows",
    tile_in=1.9,
)
head = len(ax.images[0].get_array()) - 28  # rows that the names take
for seam in (7, 14, 21):
    ax.axhline(head + seam - 0.5, color=plot.PALETTE[5], lw=0.8, ls=":")
print(f"most lost in a pixel: {np.abs(torn - serial).max():.2f} of 1")

# %% [markdown]
# The dotted lines are the seams: there the messages would have been.
# A fully connected layer's outputs depend on every pixel: there everything is sent to everybody.
# What does the halo save?

# %% nbgrader={"grade_id": "gather-all", "locked": true}


def gather_all(comm, x, k):
    """Gather the whole image on each rank, then convolve own rows of it."""
    image = all_gather(comm, x).reshape(-1, x.shape[1])
    h, begin = len(k) // 2, comm.rank * len(x)
    return convolve(np.pad(image, h)[begin : begin + len(x) + 2 * h], k)


# %% explore=true
images_of = [(64, 64), (256, 64), (512, 512)]
sizes = [(*shape, k) for k in (3, 7) for shape in images_of[k > 3 :]]
jobs = [
    (4, np.split(np.ones(shape, np.float32), 4), np.ones((k, k), np.float32))
    for *shape, k in sizes
]
sent = [
    [ranks[1]["bytes"] for ranks in count.collective(fn, jobs)]
    for fn in (halo_conv, gather_all)
]
print("bytes sent by rank 1 of four, float32; images are rows x columns")
print(
    f"{'image':>10} {'kernel':>7} {'halo':>8} {'all-gather':>11} {'ratio':>6}"
)
ratios = {}
for (n, wide, k), few, all_of_it in zip(sizes, *sent, strict=True):
    ratios[n, wide, k] = all_of_it / few
    print(
        f"{f'{n} x {wide}':>10} {f'{k} x {k}':>7} {few:8,} {all_of_it:11,}"
        f" {all_of_it / few:6.1f}"
    )
print(f"you predicted {predictions()['halo']:g} for 256 rows and 3 x 3")

# %% [markdown]
# From 64 x 64 to 256 x 64 the all-gather grows, and the halo does not.
# With wider rows both grow alike: the ratio is $n(P-1)/(2hP)$ for $n$ rows on $P$ ranks.
# Backward needs the same halo, of $dY$ instead of $X$, and an all-reduce of the small kernel's gradient.
#
# DistBelief (Dean et al. 2012), which source D shows, cut *locally connected* networks over machines in this way;
# for fully connected ones its gain ended after a few machines.

# %% nbgrader={"grade_id": "halo-conv-check", "grade": true, "points": 2}
from functools import cache

import numpy as np

from labkit import check, count


def serial(image, k):
    """Return the convolution with zeros around, a kernel entry at a time."""
    h = len(k) // 2
    padded = np.pad(image, h)
    rows, columns = image.shape
    total = np.zeros_like(image)
    for i in range(len(k)):
        for j in range(len(k)):
            total += k[i, j] * padded[i : i + rows, j : j + columns]
    return total


def exactly(found, want, title):
    """Expect the same dtype, shape and numbers, to the last bit."""
    check.close(found, want, rtol=0, atol=0, dtype=want.dtype.name, name=title)


def case_of(size, rows, width, side, dtype=np.float64):
    """Return a job: rows of an image of multiples of 1/8, and a kernel."""
    draw = np.random.default_rng()  # nobody knows another rank's numbers
    most = 20 if dtype == np.float32 else 3000
    image = (draw.integers(-most, most, (rows, width)) / 8).astype(dtype)
    k = (draw.integers(-most, most, (side, side)) / 8).astype(dtype)
    k[0, 0], k[-1, -1] = 5, -2  # neither symmetric nor empty at the corners
    return size, np.array_split(image, size), k


example = 2, np.split(np.array([[1.0], [2], [3], [4]]), 2), np.ones((3, 3))
CASES = {"shown": [example, case_of(3, 8, 4, 3), case_of(3, 11, 5, 5)]}
### BEGIN HIDDEN TESTS
CASES["types"] = [case_of(2, 7, 4, 3, np.float32)]
CASES["sizes"] = [
    case_of(4, 4, 3, 3),
    case_of(2, 4, 1, 5),
    case_of(2, 5, 4, 1, np.int64),
]
CASES["alone"] = [case_of(1, 5, 6, 3), case_of(1, 2, 4, 5)]
CASES["twice"] = [case_of(2, 6, 4, 3) for _ in range(2)]
### END HIDDEN TESTS


@cache
def launched(*names):
    """Run the jobs of these names once, over plain and doubling wires."""
    jobs = [job for name in names for job in CASES[name]]
    try:
        found = count.collective(halo_conv, jobs, gains=(1, 2), timeout_s=6)
    except Exception as error:
        return None, error
    return by_name(names, found), None


def by_name(names, found):
    """Return what was found by name and gain."""
    each = iter(found)
    return {
        (name, gain): [next(each) for _ in CASES[name]]
        for gain in (1, 2)
        for name in names
    }


def outcomes(name, gain=1):
    """Return the results of its ranks for each job of a name."""
    found, error = launched(*CASES)
    if error is not None:  # which of them fails?
        found, error = launched(name)
    if error is not None:
        raise error
    return found[name, gain]


def expect(name, gain=1):
    """Compare with the whole image's rows; neighbours count gain."""
    for number, (size, strips, k) in enumerate(CASES[name]):
        ranks = outcomes(name, gain)[number]
        h = len(k) // 2
        for rank, strip in enumerate(strips):
            top = gain * np.concatenate(strips[:rank] or [strip[:0]])
            bottom = gain * np.concatenate(strips[rank + 1 :] or [strip[:0]])
            rows = np.concatenate(
                [top[len(top) - min(h, len(top)) :], strip, bottom[:h]]
            )
            begin = min(h, len(top))
            want = serial(rows, k)[begin : begin + len(strip)]
            title = f"rows of rank {rank} of {size}, {len(k)} x {len(k)}"
            exactly(ranks[rank]["value"], want, title)


def expect_bytes(name):
    """Expect h rows for each neighbour, and no byte more."""
    for number, (size, strips, k) in enumerate(CASES[name]):
        ranks = outcomes(name)[number]
        for rank, strip in enumerate(strips):
            neighbours = (rank > 0) + (rank < size - 1)
            want = neighbours * (len(k) // 2) * strip[:1].nbytes
            title = f"bytes sent by rank {rank} of {size}, {len(k)} x {len(k)}"
            check.equal(int(ranks[rank]["bytes"]), want, name=title)
            most = neighbours * max(len(k) // 2, 1)  # row by row at most
            title = f"messages sent by rank {rank} of {size}"
            check.at_most(int(ranks[rank]["messages"]), most, name=title)


def expect_kept(*names):
    """Expect that no rank has changed its rows."""
    for name in names:
        for number, case in enumerate(CASES[name]):
            ranks = outcomes(name)[number]
            for rank in range(case[0]):
                check.true(
                    ranks[rank]["kept"], f"x of rank {rank} to stay as it was"
                )


# gather_all, too, returns these rows: guards count beside a case about what a
# rank sends.
with check.case(
    "the worked example",
    hint="what does shift take, in which order? which row comes from whom, and "
    "where does it lie?",
    guard=True,
):
    ranks = outcomes("shown")[0]
    for rank, want in enumerate(([[3.0], [6.0]], [[9.0], [7.0]])):
        check.equal(ranks[rank]["value"], np.array(want), name=f"rank {rank}")
with check.case(
    "the rows of the whole image's convolution, on three ranks",
    hint="what comes from above lies above; beyond the image are zeros",
    more="the columns need zeros at both sides, too, and no message",
    essential=True,
    guard=True,
):
    expect("shown")
with check.case(
    "h rows for each neighbour, and no byte more",
    hint="the rows at the edge of x alone; with one neighbour, send once",
    essential=True,
):
    expect_bytes("shown")
with check.case("x stays as it was", hint="work on a copy", guard=True):
    expect_kept("shown")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "the dtype stays",
    hint="zeros in x's type: np.zeros makes float64",
    guard=True,
):
    expect("types")
with check.hidden_case(
    "as few rows as h, a single column, a kernel of one number",
    hint="with h = 0 the last h rows are none: what does x[-h:] give then?",
    guard=True,
):
    expect("sizes")
with check.hidden_case(
    "bytes with few rows, and none for a kernel of one number",
    hint="h rows are sent, not all rows; with h = 0 no byte is",
):
    expect_bytes("sizes")
with check.hidden_case(
    "one rank alone: zeros on all sides",
    hint="no neighbour: zeros above and below",
    guard=True,
):
    expect("alone")
with check.hidden_case(
    "two images of one size",
    hint="each call makes a new array: the first result is still wanted",
    guard=True,
):
    expect("twice")
with check.hidden_case(
    "the rows at the seams are made of what came",
    hint="it fails with any other case: mend those first",
):
    expect("shown", gain=2)
    expect("sizes", gain=2)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## Cutting between the layers
#
# A pipeline's *stage* is a run of layers on one rank. It waits for activations from the stage before,
# and backward for gradients from the stage after.
# So the batch is cut into *microbatches*: while stage 1 computes with the first, stage 0 has the second.
# Gradients are added up over all of them before the weights change, so the result is the serial twin's.
#
# A stage's *schedule* is the order of its operations: `("F", 2)` is forward of microbatch 2, `("B", 2)` its backward.
# Between a microbatch's F and B a stage has to *hold* its activations.

# %% [markdown]
# ### Task 5. Two schedules (2 points)
#
# Both functions return the list of operations, pairs of a letter and a number, of one `stage` of $S$ stages
# for $M$ microbatches, numbered from 0; each microbatch has one F and one B. Lists or tuples, for pairs and for the whole: no generator.
#
# * `gpipe(stage, stages, microbatches)` (Huang et al. 2019): all F in order $0, 1, \dots, M-1$, then all B in the same order.
# * `one_f_one_b(stage, stages, microbatches)` (*one forward, one backward*, 1F1B for short; Narayanan et al. 2021): stage $s$ begins with $S - 1 - s$ F, or $M$ if that is less.
#   Then it takes one F and one B in turn while there are F left, and ends with the B that are left.
#   F and B each come in the order $0, 1, \dots, M-1$.

# %% [markdown]
# With two stages and three microbatches, 1F1B's stage 0 is
# `F0 F1 B0 F2 B1 B2`, written here without brackets, and stage 1 is `F0 B0 F1 B1 F2 B2`.
# The last stage always has a B right after its F: it need not wait for anybody.
#
# About 2 and 8 lines. There may be fewer microbatches than stages.


# %% nbgrader={"grade_id": "schedules", "solution": true}
def gpipe(stage: int, stages: int, microbatches: int) -> list[tuple[str, int]]:
    """Return all forward, then all backward operations."""
    ### BEGIN SOLUTION
    return [(what, m) for what in "FB" for m in range(microbatches)]
    ### END SOLUTION


def one_f_one_b(
    stage: int, stages: int, microbatches: int
) -> list[tuple[str, int]]:
    """Return a few forward operations, then one of each in turn."""
    ### BEGIN SOLUTION
    ahead = min(stages - 1 - stage, microbatches)
    order = [("F", m) for m in range(ahead)]
    for m in range(microbatches - ahead):
        order += [("F", ahead + m), ("B", m)]
    return order + [("B", m) for m in range(microbatches - ahead, microbatches)]
    ### END SOLUTION


# %% [markdown]
# `clock(orders)` executes the schedules of all stages: each operation begins as soon as its stage is free and what it needs is there.
# F needs the F of the stage before; B needs the B of the stage after, and its own F.
# It returns start and end of each operation, and raises an error if all stages wait.
# `idle` is the share of time in which stages have nothing to do, the *bubble*.


# %% nbgrader={"grade_id": "clock", "locked": true}
def clock(orders, forward=1, backward=2):
    """Return {(stage, what, microbatch): (start, end)} in ticks."""
    spans, done, free = {}, [0] * len(orders), [0] * len(orders)

    def ready(stage, what, m):
        before = [(stage - 1, "F", m)] if what == "F" else [(stage, "F", m)]
        if what == "B" and stage + 1 < len(orders):
            before.append((stage + 1, "B", m))
        ends = [spans.get(op, (0, None))[1] for op in before if op[0] >= 0]
        return None if None in ends else max(ends, default=0)

    while any(at < len(order) for at, order in zip(done, orders, strict=True)):
        moved = sum(done)
        for stage, order in enumerate(orders):
            op = order[done[stage]] if done[stage] < len(order) else None
            came = None if op is None else ready(stage, *op)
            if came is not None:
                start = max(free[stage], came)
                free[stage] = start + (forward if op[0] == "F" else backward)
                spans[stage, *op] = start, free[stage]
                done[stage] += 1
        if sum(done) == moved:
            raise ValueError(f"all stages wait; operations done: {done}")
    return spans


def idle(spans):
    """Return the share of all stages' time that no operation takes."""
    stages, end = {key[0] for key in spans}, max(e for _, e in spans.values())
    return 1 - sum(e - s for s, e in spans.values()) / (len(stages) * end)


def held(order):
    """Return how many microbatches a stage holds after each operation."""
    return np.cumsum([1 if what == "F" else -1 for what, _ in order]).tolist()


# %% folded=true nbgrader={"grade_id": "draw-held", "locked": true}
def held_over_time(spans, stage, order):
    """Return when what a stage holds changes, and how much it holds then.

    It holds from an F's begin to its B's end; where the next F begins right
    after a B, nothing changes.
    """
    whole = max(end for _, end in spans.values())
    at = np.array([spans[stage, what, m][what == "B"] for what, m in order])
    letters = np.array([what for what, _ in order] + ["B"])
    stays = (letters[:-1] == "F") | (letters[1:] == "B")
    stays |= np.diff(at, append=np.inf) > whole / 50
    return [0, *at[stays]], np.array([0, *np.array(held(order))[stays]])


def draw_held(ax, spans, orders, images):
    """Draw what the first stage and the last one hold."""
    for stage, colour, line in ((0, 6, "-"), (len(orders) - 1, 2, "--")):
        at, many = held_over_time(spans, stage, orders[stage])
        look = {"color": plot.PALETTE[colour], "linestyle": line}
        ax.step(at, many * images, where="post", label=f"stage {stage}", **look)
    ax.set_ylabel("held" if images == 1 else "images held")
    whole = images * len(orders[0]) / 2  # the same for all schedules
    ax.set_ylim(0, 1.15 * whole)
    steps = {"integer": True, "nbins": 4, "steps": [1, 2, 4, 8, 10]}
    ax.yaxis.get_major_locator().set_params(**steps)


# %% folded=true nbgrader={"grade_id": "draw-pipeline", "locked": true}
def draw_pipeline(spans, orders, title, axes, images=1):
    """Draw who computes what and when; below it, what two stages hold.

    images: of a microbatch. More than one: images are counted instead.
    """
    above, below = axes
    style = {"loc": "left", "fontsize": 11, "fontweight": "bold"}
    above.set_title(f"{title}: {idle(spans):.0%} idle", **style)
    colours = {"F": plot.PALETTE[0], "B": plot.PALETTE[1]}
    for (stage, what, m), (start, end) in spans.items():
        box, place = [(start, end - start)], (stage - 0.4, 0.8)
        look = {"facecolor": colours[what], "edgecolor": "white"}
        above.broken_barh(box, place, **look)
        words = {"ha": "center", "va": "center", "color": "white"}
        above.text((start + end) / 2, stage, m, **words)
    for what, name in (("F", "forward"), ("B", "backward")):
        above.barh([0], [0], color=colours[what], label=name)
    above.set_yticks(range(len(orders)))
    above.set_ylabel("stage")
    above.invert_yaxis()
    draw_held(below, spans, orders, images)
    above.grid(visible=False)
    below.grid(color="#DDDDDD", linewidth=0.6)
    for ax in axes:
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def draw_schedules(schedules, stages, microbatches):
    """Draw some schedules, one below the other."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(
        2 * len(schedules),
        figsize=(7.5, 2.9 * len(schedules)),
        height_ratios=[2, 1] * len(schedules),
        sharex=True,
        layout="constrained",
    )
    for at, (title, schedule) in enumerate(schedules.items()):
        orders = [schedule(s, stages, microbatches) for s in range(stages)]
        pair = axes[2 * at : 2 * at + 2]
        draw_pipeline(clock(orders), orders, title, pair)
    axes[-1].set_xlabel("ticks")
    plt.show()


# %% explore=true
draw_schedules({"GPipe": gpipe, "1F1B": one_f_one_b}, 4, 6)

# %% [markdown]
# The numbers are microbatches; backward takes twice as long as forward here.
# Both schedules end at the same tick: they have the same bubble.
# The lines below show how many microbatches the first stage and the last one hold.
# GPipe's stages hold all of them before the first backward; 1F1B's stage 0 never more than there are stages.
# So with 1F1B more microbatches of the same size cost no memory, and make the bubble small.


# %% explore=true
print("stages  micro   idle  formula   most held, GPipe 1F1B")
for S, M in ((4, 1), (4, 4), (4, 8), (4, 32), (8, 8), (8, 64)):
    both = {}
    for schedule in (gpipe, one_f_one_b):
        orders = [schedule(s, S, M) for s in range(S)]
        both[schedule] = idle(clock(orders)), max(held(orders[0]))
    shares, most = zip(*both.values(), strict=True)
    formula = (S - 1) / (M + S - 1)
    print(
        f"{S:6} {M:6} {shares[0]:6.1%} {formula:8.1%} {most[0]:18} {most[1]:5}"
    )
    assert max(abs(share - formula) for share in shares) < 1e-12
print(f"you predicted {predictions()['idle']:.1%} for 4 stages, 4 microbatches")

# %% [markdown]
# The bubble is $(S-1)/(M+S-1)$: each stage works for $M$ microbatches, and waits for $S-1$.
# One microbatch, the counter-experiment, leaves all stages but one idle at any time:
# $S$ devices with equal shares of the work are as fast as one.

# %% nbgrader={"grade_id": "schedules-check", "grade": true, "points": 2}
from labkit import check


def plain(order):
    """Return 'F0 B0 ...', whatever kinds of pairs came."""
    found = []
    for what, m in order:
        if isinstance(m, str):
            raise check.Mismatch(
                f"expected a number beside {what!r}, got {m!r}"
            )
        found.append(f"{what}{int(m)}")
    return " ".join(found)


with check.case(
    "GPipe, three microbatches", hint="all forward, then all backward"
):
    check.equal(plain(gpipe(0, 2, 3)), "F0 F1 F2 B0 B1 B2", name="stage 0 of 2")
    check.equal(plain(gpipe(1, 2, 3)), "F0 F1 F2 B0 B1 B2", name="stage 1 of 2")
with check.case(
    "lists or tuples",
    hint="how many F and B are there for so many microbatches? does a second "
    "pass find as many?",
):
    check.equal(len(gpipe(0, 2, 3)), 6, name="operations of GPipe")
    check.equal(len(one_f_one_b(0, 2, 3)), 6, name="operations of 1F1B")
with check.case(
    "1F1B, the worked example",
    hint="S - 1 - s forward first, then F and B in turn, an F first",
):
    found = plain(one_f_one_b(0, 2, 3))
    check.equal(found, "F0 F1 B0 F2 B1 B2", name="stage 0 of 2")
    found = plain(one_f_one_b(1, 2, 3))
    check.equal(found, "F0 B0 F1 B1 F2 B2", name="stage 1 of 2")
with check.case(
    "1F1B, four stages, six microbatches",
    hint="how many F are ahead depends on the stage",
    more="the B that are left at the end are as many as the F at the beginning",
    essential=True,
):
    orders = (
        "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5",
        "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5",
        "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5",
        "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5",
    )
    for stage, order in enumerate(orders):
        found = plain(one_f_one_b(stage, 4, 6))
        check.equal(found, order, name=f"stage {stage} of 4")
### BEGIN HIDDEN TESTS


def in_turn(stage, stages, microbatches):
    """Return 1F1B, a step at a time: B if as many are held as may be."""
    found, f, b = [], 0, 0
    while b < microbatches:
        if f < microbatches and f - b <= stages - 1 - stage:
            found.append(f"F{f}")
            f += 1
        else:
            found.append(f"B{b}")
            b += 1
    return " ".join(found)


with check.hidden_case(
    "1F1B with other numbers of stages and microbatches",
    hint="nothing but the three arguments decides",
):
    for stages, microbatches in ((2, 1), (3, 9), (5, 7), (6, 6)):
        for stage in range(stages):
            found = plain(one_f_one_b(stage, stages, microbatches))
            want = in_turn(stage, stages, microbatches)
            title = f"stage {stage} of {stages}, {microbatches} microbatches"
            check.equal(found, want, name=title)
with check.hidden_case(
    "1F1B with fewer microbatches than stages",
    hint="no more F than there are microbatches",
):
    for stages, microbatches in ((4, 2), (7, 3), (5, 1)):
        for stage in range(stages):
            found = plain(one_f_one_b(stage, stages, microbatches))
            want = in_turn(stage, stages, microbatches)
            title = f"stage {stage} of {stages}, {microbatches} microbatches"
            check.equal(found, want, name=title)
with check.hidden_case(
    "one stage, one microbatch, lists of their own",
    hint="no stage is ahead of the only one; each call makes a new list",
):
    check.equal(plain(one_f_one_b(0, 1, 3)), "F0 B0 F1 B1 F2 B2", name="1F1B")
    check.equal(plain(one_f_one_b(0, 1, 1)), "F0 B0", name="1F1B, one")
    check.equal(plain(gpipe(0, 1, 1)), "F0 B0", name="GPipe, one")
    check.separate(one_f_one_b(0, 1, 2), one_f_one_b(0, 1, 1))
    check.separate(gpipe(0, 1, 2), gpipe(0, 1, 1))
with check.hidden_case(
    "GPipe with other numbers, for every stage",
    hint="the stage does not matter",
):
    for stage in range(5):
        want = " ".join(
            [f"F{m}" for m in range(7)] + [f"B{m}" for m in range(7)]
        )
        check.equal(plain(gpipe(stage, 5, 7)), want, name=f"stage {stage} of 5")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### What is given: a stage, and a pipe
#
# `Stage(w)` computes `relu(x @ w)`. `stage.forward(m, x)` returns that and holds `x`, as microbatch `m`.
# `stage.backward(m, dy)` gets the gradient of what it returned, adds to `stage.dw`, returns the gradient of `x` and forgets `x`.
# `stage.most` is the largest number of microbatches that it held at a time.
#
# `pipe.send(array, to)` begins to send a matrix and returns at once; `pipe.recv(source)` waits for the next array from that rank.
# Only neighbours talk. `pipe.rank` is the stage's number, `pipe.size` how many there are.
#
# (At once, for in 1F1B stage 0 sends an activation while stage 1 sends a gradient:
# if each waited for the other to receive, nobody ever would.)

# %% nbgrader={"grade_id": "pipe", "locked": true}


class Stage:
    """relu(x @ w); holds the input of each microbatch until its backward."""

    def __init__(self, w):
        self.w, self.dw, self.held, self.most = w, np.zeros_like(w), {}, 0

    def forward(self, m, x):
        """Return the output of microbatch m; hold its input."""
        self.held[m] = x
        self.most = max(self.most, len(self.held))
        return np.maximum(x @ self.w, 0)

    def backward(self, m, dy):
        """Return the gradient of microbatch m's input; add to dw."""
        x = self.held.pop(m)
        dz = dy * (x @ self.w > 0)
        self.dw += x.T @ dz
        return dz @ self.w.T


class Pipe:
    """Matrices of float64, sent between the neighbours of a pipeline."""

    def __init__(self, rank, size, gain=1.0):
        self.rank, self.size, self.gain = rank, size, gain
        self.sent, self.under_way = [], []

    def send(self, array, to):
        """Begin to send a matrix to a neighbour; do not wait."""
        self.expect_neighbour(to)
        content = torch.tensor(np.asarray(array, np.float64))
        self.sent.append((to, content.nbytes))
        for tensor in (torch.tensor(content.shape), content):
            self.under_way.append((dist.isend(tensor, to), tensor))

    def recv(self, source):
        """Return the next matrix that a neighbour sends."""
        self.expect_neighbour(source)
        shape = torch.empty(2, dtype=torch.int64)
        self.wait(dist.irecv(shape, source), f"receive from {source}")
        content = torch.empty(shape.tolist(), dtype=torch.float64)
        self.wait(dist.irecv(content, source), f"receive from {source}")
        return self.gain * content.numpy()

    def close(self):
        """Wait until all that was sent has been received."""
        for work, _ in self.under_way:
            self.wait(work, "have everything received that it sent")

    def wait(self, work, what):
        """Wait for three seconds at most."""
        try:
            work.wait(timedelta(seconds=3))
        except RuntimeError:
            raise RuntimeError(f"stage {self.rank} waits to {what}") from None

    def expect_neighbour(self, other):
        """Raise an error if there is no such neighbour."""
        if abs(other - self.rank) != 1 or not 0 <= other < self.size:
            raise ValueError(f"stage {self.rank} has no neighbour {other}")


# %% [markdown]
# ### Task 6. A stage at work (2 points)
#
# `run_stage(pipe, stage, order, xs, targets)` executes `order`, a list of pairs as in Task 5 (any order that can work, not only those two).
#
# * F: the input is `xs[m]` on the first stage, otherwise the next array from the stage before.
#   The output goes to the stage after; on the last stage it stays.
# * B: the gradient comes from the stage after. On the last stage it is $y - t$,
#   its output less `targets[m]`: the loss is $\frac12\sum (y-t)^2$.
#   What `stage.backward` returns goes to the stage before; on the first stage nobody needs it.

# %% [markdown]
# Each operation of the order is one call of `stage.forward(m, x)` or `stage.backward(m, dy)`.
# `xs` is `None` on all but the first stage, `targets` on all but the last. A pipeline of one stage is first and last.
# The function returns nothing: the result is `stage.dw`.
#
# For example, with `order` `[("F", 0), ("B", 0)]` stage 1 of 3 receives from 0, sends to 2, receives from 2, sends to 0.
#
# About 14 lines.


# %% nbgrader={"grade_id": "run-stage", "solution": true}
def run_stage(pipe, stage, order, xs, targets) -> None:
    """Execute the operations of one stage, in this order."""
    ### BEGIN SOLUTION
    first, last = pipe.rank == 0, pipe.rank == pipe.size - 1
    outputs = {}
    for what, m in order:
        if what == "F":
            x = xs[m] if first else pipe.recv(pipe.rank - 1)
            y = stage.forward(m, x)
            if last:
                outputs[m] = y
            else:
                pipe.send(y, pipe.rank + 1)
        else:
            dy = (
                outputs.pop(m) - targets[m]
                if last
                else pipe.recv(pipe.rank + 1)
            )
            dx = stage.backward(m, dy)
            if not first:
                pipe.send(dx, pipe.rank - 1)
    ### END SOLUTION


# %% [markdown]
# `pipelines` runs on each rank, for the check and for you: pipelines, one after the other, each a dictionary
# with `orders`, the weights `ws` of all stages, `xs` and `targets`.
# `tick_s` makes a *slow device*: an F takes so many seconds of sleep, a B twice as many.
# Devices that sleep do not compete for your two cores.

# %% folded=true nbgrader={"grade_id": "pipelines", "locked": true}


class SlowStage(Stage):
    """A stage that notes what it does; an F takes tick_s, a B twice that."""

    def __init__(self, w, tick_s):
        super().__init__(w)
        self.tick_s, self.notes = tick_s, []

    def forward(self, m, x):
        """Return what Stage does, later."""
        begin = time.monotonic()
        time.sleep(self.tick_s)
        found = super().forward(m, x)
        self.notes.append(("F", m, begin, time.monotonic()))
        return found

    def backward(self, m, dy):
        """Return what Stage does, later."""
        begin = time.monotonic()
        time.sleep(2 * self.tick_s)
        found = super().backward(m, dy)
        self.notes.append(("B", m, begin, time.monotonic()))
        return found


def pipelines(rank, world_size, jobs):
    """Run pipelines; return what this rank's stage of each has done."""
    return [
        one_pipeline(rank, **job) if rank < len(job["orders"]) else None
        for job in jobs
    ]


def one_pipeline(rank, orders, ws, xs, targets, gain=1.0, tick_s=0.0):
    """Run one stage of one pipeline."""
    last = len(orders) - 1
    if dist.is_initialized() and dist.get_world_size() == len(orders):
        dist.barrier()
    pipe, stage = Pipe(rank, last + 1, gain), SlowStage(ws[rank], tick_s)
    before = [a.copy() for a in (*ws, *xs, *targets)]
    run_stage(
        pipe,
        stage,
        orders[rank],
        xs if rank == 0 else None,
        targets if rank == last else None,
    )
    pipe.close()
    kept = all(map(np.array_equal, before, (*ws, *xs, *targets)))
    return {
        "dw": stage.dw,
        "most": stage.most,
        "notes": stage.notes,
        "sent": pipe.sent,
        "kept": kept,
    }


# %% explore=true
draw = np.random.default_rng(2)
three = [draw.normal(0, 0.4, (16, 16)) for _ in range(3)]
xs = np.split(draw.normal(size=(24, 16)), 6)
targets = np.split(draw.normal(size=(24, 16)), 6)
jobs = {
    f"{name}, {M} microbatch{'es' * (M > 1)}": {
        "orders": [schedule(s, 3, M) for s in range(3)],
        "ws": three,
        "xs": np.split(np.concatenate(xs), M),
        "targets": np.split(np.concatenate(targets), M),
        "tick_s": 0.24 / M,
    }
    for name, schedule, M in (
        ("GPipe", gpipe, 1),
        ("GPipe", gpipe, 6),
        ("1F1B", one_f_one_b, 6),
    )
}
by_rank = launch(
    pipelines, 3, list(jobs.values()), backend="gloo", timeout_s=25
)

# %% explore=true
leaves = [torch.tensor(w, requires_grad=True) for w in three]
y = torch.tensor(np.concatenate(xs))
for w in leaves:
    y = torch.relu(y @ w)
((y - torch.tensor(np.concatenate(targets))) ** 2).sum().div(2).backward()
print(f"{'':22}  off   most held   idle counted, measured   seconds")
for at, (title, job) in enumerate(jobs.items()):
    mine = [rank[at] for rank in by_rank]
    off = max(
        np.abs(found["dw"] - w.grad.numpy()).max()
        for found, w in zip(mine, leaves, strict=True)
    )
    spans = {
        (s, what, m): (begin, end)
        for s, found in enumerate(mine)
        for what, m, begin, end in found["notes"]
    }
    zero = min(begin for begin, _ in spans.values())
    job["spans"] = {k: (b - zero, e - zero) for k, (b, e) in spans.items()}
    most = " ".join(str(found["most"]) for found in mine)
    took = max(end for _, end in job["spans"].values())
    print(
        f"{title:22} {off:.0e} {most:>8} {idle(clock(job['orders'])):15.1%}"
        f" {idle(job['spans']):10.1%} {took:9.2f}"
    )

# %% explore=true
import matplotlib.pyplot as plt

_, axes = plt.subplots(
    4,
    figsize=(7.5, 5.8),
    height_ratios=[2, 1] * 2,
    sharex=True,
    layout="constrained",
)
for pair, title, M in zip(
    (axes[:2], axes[2:]), list(jobs)[::2], (1, 6), strict=True
):
    spans, orders = jobs[title]["spans"], jobs[title]["orders"]
    draw_pipeline(spans, orders, title, pair, images=24 // M)
    for number, (begin, end) in zip(pair[0].texts, spans.values(), strict=True):
        number.set_fontsize(6 if end - begin < 0.06 else 10)
axes[-1].set_xlabel("seconds, measured")
plt.show()

# %% [markdown]
# These are real processes and measured seconds, of the same 24 images.
# With one microbatch three devices take turns, and each holds all 24 images. With six they work side by side,
# and 1F1B's stage 0 holds 12 at most.
# Devices that are idle for a quarter of the time are at most $3 \cdot (1 - 0.25) = 2.25$ times as fast as turns: divide the seconds.
# What is measured above the counted quarter is messages, and waiting for the processor.

# %% [markdown]
# ### A slow stage
#
# Now device 1 is half as fast as the others, or has twice as many layers.
# Before you run it: whose idle time grows, and how long will a step take?


# %% explore=true
def with_slow_stage(rank, world_size, jobs, slow):
    """Run pipelines in which one stage takes twice as long."""
    factor = 2 if rank == slow else 1
    slower = [job | {"tick_s": factor * job["tick_s"]} for job in jobs]
    return pipelines(rank, world_size, slower)


six = list(jobs)[1:]  # GPipe and 1F1B
plain = [{k: v for k, v in jobs[t].items() if k != "spans"} for t in six]
slowed = launch(with_slow_stage, 3, plain, 1, backend="gloo", timeout_s=25)
_, axes = plt.subplots(
    4, figsize=(7.5, 5.8), height_ratios=[2, 1] * 2, sharex=True,
    layout="constrained",
)  # fmt: skip
for at, title in enumerate(six):
    notes = [(s, *n) for s in range(3) for n in slowed[s][at]["notes"]]
    zero = min(begin for *_, begin, _ in notes)
    spans = {(s, w, m): (b - zero, e - zero) for s, w, m, b, e in notes}
    orders, even = jobs[title]["orders"], jobs[title]["spans"]
    draw_pipeline(spans, orders, title, axes[2 * at :][:2], images=4)
    seconds = [max(e for _, e in each.values()) for each in (even, spans)]
    print(f"{title}: {seconds[0]:.2f} s, with a slow stage {seconds[1]:.2f} s")
axes[-1].set_xlabel("seconds, measured; stage 1 takes twice as long")
plt.show()

# %% [markdown]
# The two other stages wait for the slow one in every microbatch:
# two of three devices are as fast as before, and yet a step takes more than half as long again.
# In the middle of GPipe's step even the slow stage is idle:
# it waits until stage 2 has done its last forward and its first backward.
# In 1F1B it has a forward to do meanwhile.
#
# So stages should take equal times, not have equal numbers of layers:
# more microbatches do not remove this waiting.

# %% nbgrader={"grade_id": "run-stage-check", "grade": true, "points": 2}
import itertools
from functools import cache

import numpy as np

from labkit import check, launch


def exactly(found, want, title):
    """Expect the same dtype, shape and numbers, to the last bit."""
    check.close(found, want, rtol=0, atol=0, dtype=want.dtype.name, name=title)


IN_TURN = {
    (2, 3): (
        "F0 F1 B0 F2 B1 B2",
        "F0 B0 F1 B1 F2 B2",
    ),
    (3, 5): (
        "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4",
        "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4",
        "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4",
    ),
}


def orders_of(kind, stages, microbatches):
    """Return an order of operations for each stage, built here."""
    ms = list(range(microbatches))
    if kind == "all":  # all F, then all B
        return [[("F", m) for m in ms] + [("B", m) for m in ms]] * stages
    if kind == "reversed":  # all F, then all B from the last to the first
        return [[("F", m) for m in ms] + [("B", m) for m in ms[::-1]]] * stages
    if kind == "mixed":  # neither the oldest nor the newest first
        there, back = ms[-1:] + ms[:-1], ms[:1] + ms[:0:-1]
        return [[("F", m) for m in there] + [("B", m) for m in back]] * stages
    if kind == "single":  # one microbatch after the other
        return [[(what, m) for m in ms for what in "FB"]] * stages
    told = IN_TURN[stages, microbatches]  # one F, one B
    return [[(op[0], int(op[1:])) for op in order.split()] for order in told]


def named(**values):
    """Return the values by their names."""
    return values


def job_of(kind, stages, microbatches, gain=1.0, width=4, batch=3):
    """Return a pipeline of small whole numbers, so that sums are exact."""
    draw = np.random.default_rng()  # nobody knows another stage's numbers
    widths = [width + s for s in range(stages + 1)]

    def some(*shape, most=3):
        return draw.integers(-most, most + 1, shape).astype(np.float64)

    return named(
        orders=orders_of(kind, stages, microbatches),
        ws=[some(a, b) for a, b in itertools.pairwise(widths)],
        xs=[
            some(batch + m % 2, widths[0], most=3000)
            for m in range(microbatches)
        ],
        targets=[
            some(batch + m % 2, widths[-1], most=3000)
            for m in range(microbatches)
        ],
        gain=gain,
    )


def gradients(job):
    """Return each stage's gradient; what comes from a neighbour counts gain."""
    ws, gain = job["ws"], job["gain"]
    dws = [np.zeros_like(w) for w in ws]
    for x, t in zip(job["xs"], job["targets"], strict=True):
        inputs = [x]
        for w in ws:
            y = np.maximum(inputs[-1] @ w, 0)
            inputs.append(gain * y)
        dy = y - t
        for s in reversed(range(len(ws))):
            dz = dy * (inputs[s] @ ws[s] > 0)
            dws[s] += inputs[s].T @ dz
            dy = gain * (dz @ ws[s].T)
    return dws


GROUPS = {
    "first": [job_of("in turn", 2, 3)],
    "orders": [job_of("all", 3, 4), job_of("in turn", 3, 5)],
}
### BEGIN HIDDEN TESTS
IN_TURN |= {
    (3, 1): (
        "F0 B0",
        "F0 B0",
        "F0 B0",
    ),
    (3, 2): (
        "F0 F1 B0 B1",
        "F0 F1 B0 B1",
        "F0 B0 F1 B1",
    ),
    (3, 4): (
        "F0 F1 F2 B0 F3 B1 B2 B3",
        "F0 F1 B0 F2 B1 F3 B2 B3",
        "F0 B0 F1 B1 F2 B2 F3 B3",
    ),
    (1, 3): ("F0 B0 F1 B1 F2 B2",),
}
GROUPS["others"] = [
    job_of("reversed", 3, 4),
    job_of("mixed", 3, 4),
    job_of("single", 3, 2),
    job_of("in turn", 3, 2),
    job_of("in turn", 3, 1, batch=1),
    job_of("all", 3, 3, width=1),
    job_of("in turn", 3, 4, gain=2.0),
]
### END HIDDEN TESTS


@cache
def launched(*names):
    """Launch the pipelines of some groups once; return them by name."""
    jobs = [job for name in names for job in GROUPS[name]]
    try:
        found = launch(pipelines, 3, jobs, backend="gloo", timeout_s=8)
    except Exception as error:
        return None, error
    places = iter(range(len(jobs)))
    return {
        name: [
            [rank[at] for rank in found]
            for at in itertools.islice(places, len(GROUPS[name]))
        ]
        for name in names
    }, None


def outcomes(name):
    """Return what each stage of each pipeline has done."""
    found, error = launched(*GROUPS)
    if error is not None:  # which of them fails?
        found, error = launched(name)
    if isinstance(error, NotImplementedError):
        raise error
    if error is not None:
        raise check.Mismatch(str(error).split("\n\n")[0])
    return found[name]


def expect_gradients(name, gain=1):
    """Compare the gradients of pipelines with this gain, exactly."""
    for number, job in enumerate(GROUPS[name]):
        stages = outcomes(name)[number]
        if job["gain"] == gain:
            title = f"{len(job['ws'])}, {len(job['xs'])} microbatches"
            for s, want in enumerate(gradients(job)):
                label = f"dw of stage {s} of {title}"
                exactly(stages[s]["dw"], want, label)


def expect_kept(*names):
    """Expect that no stage has changed what it was given."""
    for name in names:
        for number, job in enumerate(GROUPS[name]):
            stages = outcomes(name)[number]
            for s in range(len(job["orders"])):
                title = f"arguments of stage {s} to stay as they were"
                check.true(stages[s]["kept"], title)


with check.case(
    "two stages",
    hint="which neighbours has the first stage, which the last? what is sent "
    "to whom, forward and backward?",
    more="the first takes xs[m], the last begins backward with y - targets[m]",
):
    expect_gradients("first")
with check.case(
    "three stages: the gradients of the whole batch",
    hint="in the middle a stage receives and sends twice for each microbatch",
    essential=True,
):
    expect_gradients("orders")
with check.case(
    "operations in the given order, and no more held than it takes",
    hint="go through order from the first to the last",
):
    for number, job in enumerate(GROUPS["orders"]):
        stages = outcomes("orders")[number]
        for s, order in enumerate(job["orders"]):
            notes = [f"{what}{int(m)}" for what, m, *_ in stages[s]["notes"]]
            want = [f"{what}{m}" for what, m in order]
            check.equal(" ".join(notes), " ".join(want), name=f"stage {s}")
            turns = np.cumsum([1 if what == "F" else -1 for what, _ in order])
            check.equal(
                int(stages[s]["most"]), int(turns.max()), name="most held"
            )
with check.case(
    "one message for each operation that has somebody to tell",
    hint="the last stage sends no output, the first no gradient",
):
    for number, job in enumerate(GROUPS["orders"]):
        stages = outcomes("orders")[number]
        for s, order in enumerate(job["orders"]):
            told = [s + 1 if what == "F" else s - 1 for what, _ in order]
            want = [to for to in told if 0 <= to < len(stages)]
            sent = [int(to) for to, _ in stages[s]["sent"]]
            check.equal(sent, want, name=f"sent to, stage {s}")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "other orders, few microbatches, single numbers",
    hint="nothing about the order is to be assumed but what it says",
    essential=True,
):
    expect_gradients("others")
with check.hidden_case(
    "a pipeline of one stage sends nothing",
    hint="it is the first and the last: xs in, y - targets back",
):
    job = job_of("in turn", 1, 3)
    found = one_pipeline(0, **job)
    exactly(found["dw"], gradients(job)[0], "dw of the only stage")
    check.equal(len(found["sent"]), 0, name="messages")
with check.hidden_case(
    "the order stays as it was",
    hint="go through the list; take nothing out of it",
    guard=True,
):
    job = job_of("all", 1, 3)
    order = check.shared([list(op) for op in job["orders"][0]])
    arguments = Stage(job["ws"][0]), order, job["xs"], job["targets"]
    run_stage(Pipe(0, 1), *arguments)
    check.equal(order, [list(op) for op in job["orders"][0]], name="order")
with check.hidden_case(
    "weights, inputs and targets stay as they were",
    hint="y - t makes a new array; y -= t does not",
    guard=True,
):
    expect_kept("first", "orders", "others")
with check.hidden_case(
    "each stage computes with what its neighbours have sent",
    hint="it fails with any other case: mend those first",
):
    expect_gradients("others", gain=2)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Experiment 2. Time as microbatches: an LSTM cut by layers (optional, 5 minutes)
#
# A recurrent network reads a sequence step by step, in several layers (source D).
# Its layers are stages, its time steps microbatches:
# layer 1 can compute step 0 while layer 0 computes step 1.
# Your schedule's forward half gives the order; here three layers of an LSTM are computed in the clock's order, a *wave front*.


# %% explore=true
T, layers = 12, 3
torch.manual_seed(0)
lstm = nn.LSTM(8, 8, num_layers=layers).double()
cells = [nn.LSTMCell(8, 8).double() for _ in range(layers)]
for number, cell in enumerate(cells):
    for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        value = getattr(lstm, f"{kind}_l{number}").detach()
        getattr(cell, kind).data.copy_(value)
x = torch.randn(T, 5, 8, dtype=torch.float64)
forward = [
    [op for op in gpipe(s, layers, T) if op[0] == "F"] for s in range(layers)
]
wave = clock(forward)
state, outputs = [None] * layers, dict(enumerate(x))
for layer, _, step in sorted(wave, key=wave.get):
    state[layer] = cells[layer](outputs[step], state[layer])
    outputs[step] = state[layer][0]
off = max(
    (outputs[step] - want).abs().max().item()
    for step, want in enumerate(lstm(x)[0])
)
ticks = max(end for _, end in wave.values())
print(f"{layers} layers, {T} steps: {layers * T} operations in {ticks} ticks,")
print(f"{layers * T / ticks:.2f} a tick; off from nn.LSTM by {off:.0e}")

# %% [markdown]
# With a device for each layer the wave needs $T + L - 1$ ticks for $T$ steps and $L$ layers, in place of $T L$.
# (Here one process computed them all in turn.)

# %% [markdown]
# ## Cutting what is stored
#
# Data parallel training keeps the same weights, the same summed gradient and the same momentum on every rank.
# All but one of these copies are waste (Rajbhandari et al. 2020, ZeRO: the *zero redundancy optimiser*).
# Between the two halves of an all-reduce, each rank has *its part* of the summed gradient,
# all it needs to update its part of the weights. So the optimiser's state is cut, and no byte more is sent.

# %% [markdown]
# ### Task 7. ZeRO-1 (1 point)
#
# `ZeroSGD(comm, w, lr, mu)` gets the whole weights `w`, of any shape and the same on every rank, and keeps a copy in `self.w`.
# `self.momentum` holds **one part** alone: number `comm.rank` of the flat weights, row after row, cut as in the given collectives, zeros at first.
#
# `step(gradient)` gets this rank's own gradient, in w's shape and dtype; $g$ is this rank's part of the sum over all ranks. It sets
#
# $$v \leftarrow \mu v + g, \qquad w \leftarrow w - \eta\, v$$
#
# ($\mu$ is `mu`, $\eta$ is `lr`) for its own part, and then `self.w`, in its shape, on every rank.
# It uses one `reduce_scatter` and one `all_gather`. All keep w's dtype.
# Each step sets new arrays: earlier ones stay as they were.
# Beside `self.w` and what it was given, the optimiser holds no array that is longer than a part.

# %% [markdown]
# With $w$ = `[1, 2]`, $\eta = 1$, and gradients `[1, 0]` and `[0, 3]` on two ranks, both have `[0, -1]` after a step;
# rank 0's momentum is `[1]`, rank 1's `[3]`. About 9 lines.
# (An error about shapes as a rule says that `momentum` is as long as w.)


# %% nbgrader={"grade_id": "zero-sgd", "solution": true}
class ZeroSGD:
    """Gradient descent with momentum, of which each rank holds a part."""

    def __init__(self, comm, w: np.ndarray, lr: float, mu: float) -> None:
        ### BEGIN SOLUTION
        self.comm, self.w, self.lr, self.mu = comm, w.copy(), lr, mu
        self.momentum = np.zeros_like(self.mine())

    def mine(self):
        return np.array_split(self.w.ravel(), self.comm.size)[self.comm.rank]
        ### END SOLUTION

    def step(self, gradient: np.ndarray) -> None:
        """Update this rank's part; gather all parts into w."""
        ### BEGIN SOLUTION
        g = reduce_scatter(self.comm, gradient)
        self.momentum = self.mu * self.momentum + g
        part = self.mine() - self.lr * self.momentum
        self.w = all_gather(self.comm, part).reshape(self.w.shape)
        ### END SOLUTION


# %% nbgrader={"grade_id": "zero-steps", "locked": true}


def longest(thing, passed, depth=0):
    """Return the bytes of the largest array held, but for those passed."""
    if isinstance(thing, np.ndarray):
        base = thing if thing.base is None else thing.base
        known = any(base is other or base is other.base for other in passed)
        return 0 if known else max(thing.nbytes, getattr(base, "nbytes", 0))
    if isinstance(thing, dict):
        thing = list(thing.values())
    elif not isinstance(thing, (list, tuple)):
        own = {} if hasattr(thing, "rank") else getattr(thing, "__dict__", {})
        thing = list(own.values())  # of the communicator nothing
    inside = thing if depth < 4 else []
    sizes = [longest(each, passed, depth + 1) for each in inside]
    return max(sizes, default=0)


def zero_steps(comm, mine):
    """Take steps; each rank has w, lr, mu and its own gradients."""
    w, gradients = mine["w"], mine["gradients"]
    before = [array.copy() for array in (w, *gradients)]
    own = w.copy(order="K")
    optimizer = ZeroSGD(comm, own, mine["lr"], mine["mu"])
    own += 1  # the optimiser has a copy
    longer = np.append(own, 1)
    other = ZeroSGD(comm, longer, 1.0, 0.0) if "beside" in mine else None
    ws, momenta, held = [optimizer.w], [optimizer.momentum], []
    for gradient in gradients:
        optimizer.step(gradient)
        if other:  # another optimiser, at work in between
            other.step(np.append(gradient, 1))
        ws.append(optimizer.w)
        momenta.append(optimizer.momentum)
        held.append(longest(optimizer, [optimizer.w, w, own, *gradients]))
    kept = all(map(np.array_equal, before, (w, *gradients)))
    return {"ws": ws, "momenta": momenta, "kept": kept, "held": held}


# %% explore=true
flat = np.concatenate([array.ravel() for array in weights])
steps = [{"w": flat, "lr": 0.1, "mu": 0.9, "gradients": [flat]}] * 4
ranks = count.collective(zero_steps, [(4, steps)])[0]
((plain, *_),) = count.collective(all_reduce, [(4, [flat] * 4)])
print(f"weights: {flat.nbytes:,} bytes")
for rank, found in enumerate(ranks):
    done = found["value"]
    print(
        f"rank {rank}: holds {done['momenta'][-1].nbytes:,} bytes of momentum, "
        f"sent {found['bytes']:,} bytes in a step"
    )
print(f"rank 0 of an all-reduce sends {plain['bytes']:,}")

# %% nbgrader={"grade_id": "zero-sgd-check", "grade": true, "points": 1}
from functools import cache

import numpy as np

from labkit import check, count


def scattered(arrays, gain):
    """Return each rank's part of a ring's sum; what comes is gain as large."""
    size = len(arrays)
    parts = [np.array_split(array.ravel(), size) for array in arrays]
    return [
        sum(gain**h * parts[(r - h) % size][r] for h in range(size))
        for r in range(size)
    ]


def gathered(parts, gain):
    """Return what each rank has of all parts after a ring."""
    size = len(parts)
    return [
        np.concatenate(
            [gain ** ((r - q) % size) * p for q, p in enumerate(parts)]
        )
        for r in range(size)
    ]


def named(**values):
    """Return the values by their names."""
    return values


def exactly(found, want, title):
    """Expect the same dtype, shape and numbers, to the last bit."""
    check.close(found, want, rtol=0, atol=0, dtype=want.dtype.name, name=title)


def case_of(size, shape, steps=2, dtype=np.float64):
    """Return parts: numbers with few bits, so that sums are exact."""
    draw = np.random.default_rng()  # nobody knows another rank's numbers
    fine = dtype == np.float64
    most = 3000 if fine else 20

    def some():
        return (draw.integers(-most, most, shape) / 8).astype(dtype)

    w = some()
    return [
        named(
            w=w,
            lr=0.25 + 2.0**-15 * fine,
            mu=0.5 + 2.0**-13 * fine,
            gradients=[some() for _ in range(steps)],
        )
        for _ in range(size)
    ]


def wanted(case, gain):
    """Return [(w, momentum) of each rank] after each step."""
    size, w, lr, mu = len(case), case[0]["w"], case[0]["lr"], case[0]["mu"]
    ws, vs, found = [w] * size, None, []
    for turn in range(len(case[0]["gradients"])):
        gs = scattered([each["gradients"][turn] for each in case], gain)
        vs = (
            gs
            if vs is None
            else [mu * v + g for v, g in zip(vs, gs, strict=True)]
        )
        parts = [
            np.array_split(ws[r].ravel(), size)[r] - lr * vs[r]
            for r in range(size)
        ]
        ws = [
            flat.reshape(w.shape).astype(w.dtype)
            for flat in gathered(parts, gain)
        ]
        found.append([(ws[r], vs[r].astype(w.dtype)) for r in range(size)])
    return found


example = [
    named(w=np.array([1.0, 2.0]), lr=1.0, mu=0.0, gradients=[np.array(g)])
    for g in ([1.0, 0.0], [0.0, 3.0])
]
CASES = {"shown": [example, case_of(3, (2, 4))]}
### BEGIN HIDDEN TESTS
CASES["others"] = [
    case_of(3, (2,), steps=2),
    case_of(2, (2, 3, 2), steps=2, dtype=np.float32),
    case_of(1, (5,), steps=1),
    case_of(2, (1, 4), steps=1),
    case_of(2, (4, 1), steps=1),
]
CASES["beside"] = [[part | {"beside": True} for part in case_of(2, (3,))]]
CASES["columns"] = [
    [part | {"w": np.asfortranarray(part["w"])} for part in case_of(2, (3, 4))]
]
### END HIDDEN TESTS


@cache
def launched(*names):
    """Run the cases of these names once, over plain and doubling wires."""
    cases = [case for name in names for case in CASES[name]]
    jobs = [(len(case), case) for case in cases]
    try:
        found = count.collective(zero_steps, jobs, gains=(1, 2), timeout_s=6)
    except Exception as error:
        return None, error
    return by_name(names, found), None


def by_name(names, found):
    """Return what was found by name and gain."""
    each = iter(found)
    return {
        (name, gain): [next(each) for _ in CASES[name]]
        for gain in (1, 2)
        for name in names
    }


def outcomes(name, gain=1):
    """Return what each rank returned for each case of a name."""
    found, error = launched(*CASES)
    if error is not None:  # which of them fails?
        found, error = launched(name)
    if error is not None:
        raise error
    return [
        [
            {
                **rank["value"],
                **{key: rank[key] for key in ("bytes", "messages")},
            }
            for rank in ranks
        ]
        for ranks in found[name, gain]
    ]


def expect_weights(name, gain=1):
    """Compare the weights at first and after each step, exactly."""
    for number, case in enumerate(CASES[name]):
        ranks = outcomes(name, gain)[number]
        for rank, mine in enumerate(case):
            title = f"w of rank {rank} of {len(case)} at first"
            exactly(ranks[rank]["ws"][0], mine["w"], title)
        for turn, states in enumerate(wanted(case, gain)):
            for rank, (w, _) in enumerate(states):
                title = f"w of rank {rank} of {len(case)}, step {turn + 1}"
                exactly(ranks[rank]["ws"][turn + 1], w, title)


def expect_momenta(name):
    """Compare the momenta at first and after each step, exactly."""
    for number, case in enumerate(CASES[name]):
        ranks = outcomes(name)[number]
        parts = np.array_split(case[0]["w"].ravel(), len(case))
        states = [[(None, np.zeros_like(part)) for part in parts]]
        for turn, each in enumerate(states + wanted(case, 1)):
            for rank, (_, v) in enumerate(each):
                title = f"momentum of rank {rank} of {len(case)}, {turn} steps"
                exactly(ranks[rank]["momenta"][turn], v, title)


def expect_held(name):
    """Expect that no rank holds a larger array beside w than a part."""
    for number, case in enumerate(CASES[name]):
        ranks = outcomes(name)[number]
        most = max(v.nbytes for rank in ranks for v in rank["momenta"][:1])
        for rank, found in enumerate(ranks):
            title = f"bytes of the largest array beside w, rank {rank}"
            check.at_most(max(found["held"]), most, name=title)


def expect_bytes(name):
    """Expect that a step sends what an all-reduce sends."""
    for number, case in enumerate(CASES[name]):
        ranks = outcomes(name)[number]
        parts = np.array_split(case[0]["w"].ravel(), len(case))
        for rank, part in enumerate(parts):
            after = parts[(rank + 1) % len(case)]
            step = 2 * case[0]["w"].nbytes - part.nbytes - after.nbytes
            title = f"bytes sent by rank {rank} of {len(case)}"
            want = step * len(case[0]["gradients"])
            check.equal(int(ranks[rank]["bytes"]), want, name=title)
            title = f"messages sent by rank {rank} of {len(case)}"
            want = 2 * (len(case) - 1) * len(case[0]["gradients"])
            check.equal(int(ranks[rank]["messages"]), want, name=title)


def expect_kept(*names):
    """Expect that no rank has changed what it was given."""
    for name in names:
        for number, case in enumerate(CASES[name]):
            ranks = outcomes(name)[number]
            for rank in range(len(case)):
                title = f"arguments of rank {rank} to stay as they were"
                check.true(ranks[rank]["kept"], title)


with check.case(
    "the worked example",
    hint="what is cut, into how many parts, and which is this rank's? what is "
    "summed, and by whom?",
):
    ranks = outcomes("shown")[0]
    for rank in (0, 1):
        check.equal(
            ranks[rank]["ws"][1],
            np.array([0.0, -1.0]),
            name=f"w of rank {rank}",
        )
with check.case(
    "the weights of two steps are the serial twin's, on every rank",
    hint="v = mu v + g with the sum of all gradients; then gather the parts",
    essential=True,
):
    expect_weights("shown")
with check.case(
    "each rank holds its own part of the momentum, and no more",
    hint="part comm.rank of the flat weights, as np.array_split cuts them",
    essential=True,
):
    expect_momenta("shown")
with check.case(
    "a step sends what an all-reduce of the gradient sends",
    hint="one reduce-scatter of the gradient, one all-gather of the weights",
):
    expect_bytes("shown")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "parts of different lengths, empty ones, other shapes and dtypes, one rank",
    hint="cut w as the collectives cut it, flat; keep its shape and dtype",
):
    expect_weights("others")
    expect_momenta("others")
with check.hidden_case(
    "weights that lie in memory column by column",
    hint="flat is row by row, as ravel gives it, however an array lies",
):
    expect_weights("columns")
    expect_momenta("columns")
with check.hidden_case(
    "no more memory than a part of the momentum takes",
    hint="which arrays does the optimiser hold? a view keeps alive all of the "
    "array that it looks into",
    guard=True,
):
    expect_held("shown")
with check.hidden_case(
    "a second optimiser, at work in between, changes nothing",
    hint="each keeps its own weights: what stands in the class is shared",
):
    expect_weights("beside")
    expect_momenta("beside")
with check.hidden_case(
    "the given weights, the gradients and earlier results stay as they were",
    hint="self.w is a copy at first, and a new array after each step",
    guard=True,
):
    expect_kept("shown", "others")
with check.hidden_case(
    "the weights are made of what the given collectives bring",
    hint="it fails with any other case: mend those first",
):
    expect_weights("shown", gain=2)
    expect_weights("others", gain=2)
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### Task 8. A fully sharded layer (2 points)
#
# The weights can be cut as well, if they are gathered each time they are needed, and dropped afterwards.
# This is ZeRO-3, or *FSDP*. Each rank still works on its own images.
#
# `ShardedLinear(comm, w)` gets the whole `w`, `(n, k)`, and keeps in `self.part` a copy of part `comm.rank` of the flat weights (`w` may change later).
#
# * `forward(x)` returns `x @ w` for this rank's own `x`, `(batch_r, n)`. It gathers once.
# * `backward(dy)` returns `dy @ w.T`, and sets `self.grad` to this rank's part of $X^T dY$, flat, summed over all ranks.
#   It gathers again, and uses one `reduce_scatter`.
#
# Between calls the layer keeps `part`, `grad`, its input and small things such as the shape: no whole weights, no whole gradient.
# An optimiser may change `part` between passes, or set another. Each backward pass sets a new `grad`.

# %% [markdown]
# An example: $w$ is `[[1], [2]]`; rank 0 has the part `[1]`, rank 1 `[2]`.
# For $x$ = `[[1, 1]]` rank 0 returns `[[3]]`; for `[[0, 2]]` rank 1 returns `[[4]]`.
# Given `[[1]]` each, both return `[[1, 2]]`, and `grad` is `[1]` on rank 0, `[3]` on rank 1.
#
# Batches may differ between ranks, and be empty. The dtype is w's. About 10 lines in three methods.


# %% nbgrader={"grade_id": "sharded-linear", "solution": true}
class ShardedLinear:
    """A linear layer whose weights are cut over the ranks while unused."""

    def __init__(self, comm, w: np.ndarray) -> None:
        ### BEGIN SOLUTION
        self.comm, self.shape = comm, w.shape
        self.part = np.array_split(w.ravel(), comm.size)[comm.rank].copy()
        ### END SOLUTION

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return x @ w of this rank's own x, shape (batch_r, k)."""
        ### BEGIN SOLUTION
        self.x = x
        return x @ all_gather(self.comm, self.part).reshape(self.shape)
        ### END SOLUTION

    def backward(self, dy: np.ndarray) -> np.ndarray:
        """Set grad, flat; return the gradient of x, shape (batch_r, n)."""
        ### BEGIN SOLUTION
        w = all_gather(self.comm, self.part).reshape(self.shape)
        self.grad = reduce_scatter(self.comm, self.x.T @ dy)
        return dy @ w.T
        ### END SOLUTION


# %% folded=true nbgrader={"grade_id": "sharded-passes", "locked": true}
from functools import partial
from types import FunctionType


def array_bytes(thing, seen, depth=0):
    """Return the bytes of all arrays in lists, objects and the like.

    seen: objects by id that count no more, the communicator for one.
    """
    if isinstance(thing, np.ndarray) and thing.base is not None:
        thing = thing.base
    if id(thing) in seen:
        return 0
    seen[id(thing)] = thing
    if isinstance(thing, (np.ndarray, memoryview)):
        return thing.nbytes
    if hasattr(thing, "untyped_storage"):  # a tensor
        return thing.untyped_storage().nbytes()
    if isinstance(thing, (bytes, bytearray)):
        return len(thing)
    if isinstance(thing, FunctionType):
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        thing = [*cells, *(thing.__defaults__ or ())]
    if isinstance(thing, partial):
        thing = [thing.func, *thing.args, *thing.keywords.values()]
    if isinstance(thing, dict):
        thing = list(thing.values())
    if not isinstance(thing, (list, tuple, set)):
        slots = (getattr(kind, "__slots__", ()) for kind in type(thing).__mro__)
        names = {name for some in slots for name in some} - {"__dict__"}
        held = {name: getattr(thing, name, None) for name in names}
        thing = [*(held | getattr(thing, "__dict__", {})).values()]
    if depth < 6:
        return sum(array_bytes(item, seen, depth + 1) for item in thing)
    return 0


def sharded_passes(comm, mine, w, beside=False):
    """Take passes, each with another part; each rank has its own x and dy."""
    passes = mine["passes"]
    own, found = w.copy(), []
    layer = ShardedLinear(comm, own)
    own += 1  # the layer has a copy
    other = ShardedLinear(comm, own) if beside else None
    given = [w, *(each[key] for each in passes for key in each)]
    before = [array.copy() for array in given]
    first = layer.part.copy()
    for each in passes:
        x, dy = each["x"], each["dy"]
        y = layer.forward(x)
        held = [array_bytes(layer, {id(comm): comm}) - x.nbytes]
        if other:  # another layer, at work in between
            other.forward(x + 1)
        dx = layer.backward(dy)
        if other:
            other.backward(dy + 1)
        held.append(array_bytes(layer, {id(comm): comm}) - x.nbytes)
        found.append({"y": y, "dx": dx, "grad": layer.grad, "held": held})
        if len(found) % 2:  # as an optimiser may: in place, or a new one
            part = layer.part
            part += 1
        else:
            layer.part = layer.part + layer.part.dtype.type(1)
    kept = all(map(np.array_equal, before, given))
    return {"first": first, "passes": found, "kept": kept}


# %% explore=true
P, side = 4, 128
whole = np.ones((side, side))
pair = {"x": np.ones((8, side)), "dy": np.ones((8, side))}
job = (P, [{"passes": [pair]}] * P, whole)
both = (sharded_passes, [job]), (all_reduce, [(P, [whole] * P)])
yours, plain = (count.collective(*each)[0][0] for each in both)
(done,) = yours["value"]["passes"]
m = whole.nbytes
print(f"a layer's weights: {m:,} bytes; four ranks")
forward, backward = done["held"]
print(f"{'rank 0 holds':14}{'sharded':>9}{'whole':>9}")
print(f"{'after forward':14}{forward:9,}{m:9,}  weights")
print(f"{'after backward':14}{backward:9,}{2 * m:9,}  and their gradient")
ratio = yours["bytes"] / plain["bytes"]
print(f"it sends {yours['bytes']:,} bytes in both passes,")
print(f"data parallel {plain['bytes']:,}: {ratio:g} times as many")
print(f"you predicted {predictions()['sharded']:g}")

# %% explore=true
steps = [{"w": whole, "lr": 0.1, "mu": 0.9, "gradients": [whole]}] * P
zero = count.collective(zero_steps, [(P, steps)])[0][0]["value"]
share = zero["momenta"][-1].nbytes / m  # the share that a rank holds
weights_held, both_held = (held / m for held in done["held"])
shares = {  # of weights, gradient and momentum
    "data parallel": (1, 1, 1),
    "ZeRO-1": (1, 1, share),
    "ZeRO-2": (1, share, share),
    "FSDP": (weights_held, both_held - weights_held, share),
}
kib = m / 1024 * np.array(list(shares.values()))
ax = plot.bars(
    dict(zip(shares, kib.sum(axis=1), strict=True)),
    ylabel="KiB held by rank 0",
    title=f"What a layer's training holds, {P} ranks",
    fmt=".0f",
)
for i, name in enumerate(("weights", "gradient", "momentum")):
    look = {"color": plot.PALETTE[i], "edgecolor": "white", "label": name}
    ax.bar(range(4), kib[:, i], bottom=kib[:, :i].sum(axis=1), **look)
_ = ax.legend(frameon=False)

# %% [markdown]
# (Counted are ZeRO-1's momentum and what FSDP holds of weights and gradient.
# ZeRO-2, computed, is ZeRO-1 that drops the other ranks' parts of the gradient as soon as they are summed.)
# Half as many bytes again as in data parallel training leave $1/P$ of the memory.
# But the largest layer still has to fit while it computes; tensor parallel layers have no such limit.

# %% [markdown]
# ### The three questions, answered
#
# On $P$ ranks, in a step:
#
# | cut | sent by a rank | held by a rank | who waits |
# |---|---|---|---|
# | data | one all-reduce of gradients | everything | all, once |
# | tensor | two all-reduces of activations for each pair | $1/P$ of the weights | all, in each pair, twice |
# | space | $h$ rows to each neighbour, for each convolution and direction | all weights, $1/P$ of the activations | neighbours |
# | pipeline | one boundary's activations, and their gradients | $1/P$ of the layers; $P$ microbatches (1F1B) | $(P-1)/(M+P-1)$ of the time |
# | ZeRO-1 | as data parallel | $1/P$ of the momentum | all, once |
# | FSDP | 1.5 times as much | $1/P$ of all three, and one layer whole | all, at each layer |

# %% nbgrader={"grade_id": "sharded-linear-check", "grade": true, "points": 2}
from functools import cache

import numpy as np

from labkit import check, count


def scattered(arrays, gain):
    """Return each rank's part of a ring's sum; what comes is gain as large."""
    size = len(arrays)
    parts = [np.array_split(array.ravel(), size) for array in arrays]
    return [
        sum(gain**h * parts[(r - h) % size][r] for h in range(size))
        for r in range(size)
    ]


def gathered(parts, gain):
    """Return what each rank has of all parts after a ring."""
    size = len(parts)
    return [
        np.concatenate(
            [gain ** ((r - q) % size) * p for q, p in enumerate(parts)]
        )
        for r in range(size)
    ]


def named(**values):
    """Return the values by their names."""
    return values


def exactly(found, want, title):
    """Expect the same dtype, shape and numbers, to the last bit."""
    check.close(found, want, rtol=0, atol=0, dtype=want.dtype.name, name=title)


def case_of(batches, n, k, dtype=np.float64, passes=2):
    """Return (ranks, parts, w): multiples of 1/8, for exact sums."""
    draw = np.random.default_rng()  # nobody knows another rank's numbers

    def some(*shape):
        most = 20 if dtype == np.float32 else 3000
        return (draw.integers(-most, most, shape) / 8).astype(dtype)

    w = some(n, k)
    parts = [
        named(
            passes=[named(x=some(b, n), dy=some(b, k)) for _ in range(passes)]
        )
        for b in batches
    ]
    return len(batches), parts, w


example = (
    2,
    [
        named(passes=[named(x=np.array([row]), dy=np.array([[1.0]]))])
        for row in ([1.0, 1.0], [0.0, 2.0])
    ],
    np.array([[1.0], [2.0]]),
)
CASES = {"shown": [example, case_of([2, 1, 3], 8, 10)]}
### BEGIN HIDDEN TESTS
CASES["others"] = [
    case_of([1, 0, 2], 1, 2, passes=3),
    case_of([2, 2], 3, 3, np.float32),
    case_of([3], 4, 2, passes=1),
]
CASES["beside"] = [(*case_of([2, 1], 3, 4), True)]
### END HIDDEN TESTS


@cache
def launched(*names):
    """Run the cases of these names once, over plain and doubling wires."""
    jobs = [case for name in names for case in CASES[name]]
    try:
        found = count.collective(
            sharded_passes, jobs, gains=(1, 2), timeout_s=6
        )
    except Exception as error:
        return None, error
    return by_name(names, found), None


def by_name(names, found):
    """Return what was found by name and gain."""
    each = iter(found)
    return {
        (name, gain): [next(each) for _ in CASES[name]]
        for gain in (1, 2)
        for name in names
    }


def outcomes(name, gain=1):
    """Return what each rank returned for each case of a name."""
    found, error = launched(*CASES)
    if error is not None:  # which of them fails?
        found, error = launched(name)
    if error is not None:
        raise error
    return [
        [
            {
                **rank["value"],
                **{key: rank[key] for key in ("bytes", "messages")},
            }
            for rank in ranks
        ]
        for ranks in found[name, gain]
    ]


def wanted(case, turn, gain):
    """Return what each rank is to have; each pass adds 1 to all weights."""
    size, given, w, *_ = case
    parts = np.array_split((w + w.dtype.type(turn)).ravel(), size)
    ws = [flat.reshape(w.shape) for flat in gathered(parts, gain)]
    now = [mine["passes"][turn] for mine in given]
    each = [(one["x"], one["dy"]) for one in now]
    grads = scattered([x.T @ dy for x, dy in each], gain)
    return [
        {"y": x @ ws[r], "dx": dy @ ws[r].T, "grad": grads[r].astype(w.dtype)}
        for r, (x, dy) in enumerate(each)
    ]


def expect(name, *keys, gain=1, turns=None):
    """Compare results of these keys in each pass, on each rank, exactly."""
    for number, case in enumerate(CASES[name]):
        ranks = outcomes(name, gain)[number]
        for turn in (
            range(len(case[1][0]["passes"])) if turns is None else turns
        ):
            for rank, want in enumerate(wanted(case, turn, gain)):
                found = ranks[rank]["passes"][turn]
                for key in keys:
                    title = f"{key} of rank {rank} of {case[0]}, pass {turn}"
                    exactly(found[key], want[key], title)


def expect_kept(*names):
    """Expect that no rank has changed what it was given."""
    for name in names:
        for number, case in enumerate(CASES[name]):
            ranks = outcomes(name)[number]
            for rank in range(case[0]):
                title = f"arguments of rank {rank} to stay as they were"
                check.true(ranks[rank]["kept"], title)


with check.case(
    "the worked example",
    hint="what is cut, into how many parts? what does each collective take, "
    "and in which shape is w whole?",
    more=(
        "5 in place of 3: w was changed after the layer was made; "
        "is its part a copy?"
    ),
):
    ranks = outcomes("shown")[0]
    for rank, y in enumerate([3.0, 4.0]):
        found = ranks[rank]["passes"][0]["y"]
        check.equal(found, np.array([[y]]), name=f"y of rank {rank}")
with check.case(
    "a rank keeps its part, a copy",
    hint="part comm.rank of the flat weights, as np.array_split cuts them",
):
    for number, (size, _, w) in enumerate(CASES["shown"]):
        ranks = outcomes("shown")[number]
        for rank, part in enumerate(np.array_split(w.ravel(), size)):
            exactly(ranks[rank]["first"], part, f"part of rank {rank}")
with check.case(
    "outputs and gradients of x, in the first pass",
    hint="which x, w and dy is each product of? does what was returned stay "
    "when the next pass runs?",
):
    expect("shown", "y", "dx", turns=[0])
with check.case(
    "grad is this rank's part of the sum over all ranks",
    hint="each rank has its own images; the sum is scattered",
    essential=True,
):
    expect("shown", "grad")
with check.case(
    "weights changed between passes count",
    hint="gather again in each call: what was gathered before is old",
    essential=True,
):
    expect("shown", "y", "dx")
with check.case(
    "between calls a rank holds its part of weights and gradient alone",
    hint="the whole weights and the whole gradient are local variables",
    more="a view keeps all of the array alive that it looks into",
    essential=True,
    guard=True,
):
    for number, (size, given, w) in enumerate(CASES["shown"]):
        ranks = outcomes("shown")[number]
        for rank, part in enumerate(np.array_split(w.ravel(), size)):
            limits = [2 * part.nbytes, 2 * part.nbytes]
            passes = given[rank]["passes"]
            slack = 64 + passes[0]["x"].nbytes // 8
            if w.nbytes > 2 * part.nbytes + slack:
                for turn in range(len(passes)):
                    own = ranks[rank]["passes"][turn]["held"]
                    for when, limit in enumerate(limits):
                        title = f"bytes held by rank {rank} besides x"
                        check.at_most(own[when], limit + slack, name=title)
with check.case(
    "bytes of a pass: two all-gathers and a reduce-scatter",
    hint="the gradient is not sent whole, and the weights not three times",
):
    for number, (size, given, w) in enumerate(CASES["shown"]):
        ranks = outcomes("shown")[number]
        parts = np.array_split(w.ravel(), size)
        for rank, part in enumerate(parts):
            gather = w.nbytes - parts[(rank + 1) % size].nbytes
            passes = len(given[rank]["passes"])
            want = (2 * gather + w.nbytes - part.nbytes) * passes
            title = f"bytes sent by rank {rank} of {size}"
            check.equal(int(ranks[rank]["bytes"]), want, name=title)
            title, want = f"messages of rank {rank}", 3 * (size - 1) * passes
            check.equal(int(ranks[rank]["messages"]), want, name=title)
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "uneven and empty parts, empty batches, float32, one rank, three passes",
    hint="cut w as the collectives cut it; a sum over no image is zeros",
):
    expect("others", "y", "dx", "grad")
with check.hidden_case(
    "a second layer, at work in between, changes nothing",
    hint="each layer keeps its own: what stands in the class is shared",
):
    expect("beside", "y", "dx", "grad")
with check.hidden_case(
    "the given weights and other arguments stay as they were",
    hint="part is a copy, and x stays the caller's",
    guard=True,
):
    expect_kept("shown", "others")
with check.hidden_case(
    "results are made of what the given collectives bring",
    hint="it fails with any other case: mend those first",
):
    expect("shown", "y", "dx", "grad", gain=2)
    expect("others", "y", "dx", "grad", gain=2)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## All of them together
#
# With $N = dp \cdot tp \cdot pp$ devices the cuts can be mixed, which source B calls *hybrid* parallelism:
# `pp` stages, each layer of which is cut over `tp` ranks, and `dp` copies of it all, each with its part of the batch.
# A model of the costs tells which mixture is the best.
#
# A network is a dictionary of arrays with an entry for each layer:
# `"flops"`, operations an image, forward and backward; `"weights"`, bytes; and three that are bytes an image:
# `"activations"`, what is held for backward; `"output"`, what the next layer gets; and `"shared"`, what a tensor group adds up in each direction.
#
# A machine is a dictionary: `"speed"` in operations a second, `"alpha"` in seconds, `"beta"` in seconds a byte.

# %% nbgrader={"grade_id": "allreduce-seconds", "locked": true}


def allreduce_seconds(P, m, machine):
    """Return the seconds of a ring over P ranks with m bytes; 0 for none."""
    if P == 1 or m == 0:
        return 0.0
    steps = 2 * (P - 1)
    return steps * machine["alpha"] + steps / P * m * machine["beta"]


# %% [markdown]
# ### Task 9. What a mixture costs (2 points)
#
# `hybrid_cost(net, machine, batch, dp, tp, pp, microbatches)` returns two numbers, in a tuple or a list: seconds of a step, and bytes on the fullest device.
# A microbatch has $b = \mathrm{batch} / (dp \cdot M)$ images, $M$ = `microbatches`; it need not be whole.
# Of $L$ layers stage $s$ has those in `np.array_split(np.arange(L), pp)[s]`, at least one. For a microbatch it takes
#
# * the sum of its layers' flops $\cdot\, b / (tp \cdot \mathrm{speed})$,
# * for *each* layer two all-reduces over `tp` ranks of `shared` $\cdot\, b$ bytes,
# * and, except for the last stage, $2(\alpha + \beta\, o\, b)$, where $o$ is the `output` of its last layer.

# %% [markdown]
# The slowest stage's seconds are a *tick*, and a step has $M + pp - 1$ of them.
# Then follows one all-reduce over `dp` ranks of the gradients of a stage's weights, $1/tp$ of the weights' bytes; the largest of all stages counts.
#
# A device of stage $s$ holds three times its $1/tp$ of the stage's weights (weights, gradients, momentum),
# and $1/tp$ of its `activations` of $\min(M, pp - s)$ microbatches, as 1F1B does.
#
# One layer of 100 operations, 8 bytes of weights, 4 of activations and nothing shared, a speed of 10, $\alpha = 1$ and $\beta = 0$:
# two images on `dp = 2` take $100 \cdot 1/10 + 2 = 12$ seconds and $3 \cdot 8 + 4 = 28$ bytes.
#
# `allreduce_seconds` is given. About 15 lines.


# %% nbgrader={"grade_id": "hybrid-cost", "solution": true}
def hybrid_cost(
    net: dict,
    machine: dict,
    batch: int,
    dp: int,
    tp: int,
    pp: int,
    microbatches: int,
) -> tuple[float, float]:
    """Return the seconds of a step, and the bytes of the fullest device."""
    ### BEGIN SOLUTION
    b = batch / (dp * microbatches)
    ticks, syncs, bytes_held = [], [], []
    for s, layers in enumerate(
        np.array_split(np.arange(len(net["flops"])), pp)
    ):
        tick = net["flops"][layers].sum() * b / (tp * machine["speed"])
        for shared in net["shared"][layers]:
            tick += 2 * allreduce_seconds(tp, shared * b, machine)
        if s < pp - 1:
            sent = net["output"][layers[-1]] * b
            tick += 2 * (machine["alpha"] + machine["beta"] * sent)
        weights = net["weights"][layers].sum() / tp
        waiting = min(microbatches, pp - s) * b
        kept = waiting * net["activations"][layers].sum() / tp
        ticks.append(tick)
        syncs.append(allreduce_seconds(dp, weights, machine))
        bytes_held.append(3 * weights + kept)
    seconds = (microbatches + pp - 1) * max(ticks) + max(syncs)
    return float(seconds), float(max(bytes_held))
    ### END SOLUTION


# %% [markdown]
# AlexNet (Krizhevsky et al. 2012) was spread over two GPUs of 3 GB, too few for one:
# each has half of every layer's channels, and they exchange activations only before the third convolution and the fully connected layers.
# In our terms that is `tp = 2` with `shared` = 0 for the other layers; source D shows the figure.
# (Two devices exchange halves of an input, each sends $m/2$ bytes of $m$; an all-reduce of two sends $m$. So `shared` is half of the input.)
# The machine is round numbers of ours: $10^{12}$ operations a second, a link of 5 GB/s.


# %% explore=true
def alexnet_layers():
    """Return AlexNet's five convolutions and three dense layers."""
    maps = [(96, 11, 3, 55), (256, 5, 48, 27), (384, 3, 256, 13)]
    maps += [(384, 3, 192, 13), (256, 3, 192, 13)]  # maps, kernel, in, side
    dense = [(9216, 4096), (4096, 4096), (4096, 1000)]
    counts = [c * (k * k * i + 1) for c, k, i, _ in maps]
    outputs = [c * side**2 for c, _, _, side in maps] + [k for _, k in dense]
    products = [c * k * k * i * side**2 for c, k, i, side in maps]
    shared = [0, 0, 256 * 13**2 / 2, 0, 0, *(n / 2 for n, _ in dense)]
    return {
        "flops": 6.0 * np.array(products + [n * k for n, k in dense]),
        "weights": 4.0 * np.array(counts + [n * k + k for n, k in dense]),
        "activations": 4.0 * np.array(outputs),
        "output": 4.0 * np.array(outputs),
        "shared": 4.0 * np.array(shared),
    }


# %% explore=true
alexnet = alexnet_layers()
pcie = {"speed": 1e12, "alpha": 2e-5, "beta": 1 / 5e9}
numbers = alexnet["weights"] / 4
print(
    f"AlexNet: {numbers.sum():,.0f} weights, of which fully connected", end=" "
)
print(f"{numbers[5:].sum() / numbers.sum():.0%}")
print(f"{'two GPUs, 128 images':28} {'ms a step':>10} {'MiB':>6}")
for title, *layout in (
    ("one GPU", 1, 1, 1, 1),
    ("data parallel", 2, 1, 1, 1),
    ("AlexNet's own cut", 1, 2, 1, 1),
    ("two stages, 1 microbatch", 1, 1, 2, 1),
    ("two stages, 8 microbatches", 1, 1, 2, 8),
):
    seconds, held_bytes = hybrid_cost(alexnet, pcie, 128, *layout)
    print(f"{title:28} {seconds * 1e3:10.1f} {held_bytes / 2**20:6.0f}")
first, second = alexnet["flops"].reshape(2, 4).sum(axis=1) / pcie["speed"]
sent = alexnet["output"][3]
print("the two stages, operation by operation:")
for M in (1, 8):
    b = 128 / M
    messages = 2 * (pcie["alpha"] + pcie["beta"] * sent * b)
    took = M * first * b + second * b + messages
    print(f"  microbatches: {M:12} {took * 1e3:10.1f}")
half = first / (first + second)
print(f"operations in the first four of eight layers: {half:.0%}")

# %% [markdown]
# For two stages the table says too much: the model takes every tick as long as the slowest stage,
# exact for equal stages, as in the map below, and not here.
# The lines below the table add up what `clock` would: one microbatch takes one GPU's time and two messages.
#
# AlexNet's cut is the fastest of these and halves the memory:
# its weights, nearly all of them in fully connected layers, are never sent.
# Krizhevsky (2014) went on to data parallel convolutions and cut fully connected layers: a mixture by *layer type*.

# %% [markdown]
# Now a transformer of 32 equal layers, on 64 devices of a modern kind. An "image" is a text of 512 words;
# a layer holds 34 bytes a unit of width and word, and adds up twice in each direction, in attention and in its MLP.
# Each field of the map is the fastest mixture that fits into memory, of all with `tp` at most 8, `pp` at most 32,
# and 1, 2, 4, ... 32 microbatches. Its colour says which of the three has the most devices (the first of equal ones).
#
# Guess the corners first: what wins for a small network with a large batch, and what for a large network with a small one?


# %% explore=true
def stack(layers, width, words=512):
    """Return a transformer's layers: 12 width^2 weights of four bytes each."""
    ones, n = np.ones(layers), 12 * width**2
    return {
        "flops": 6.0 * n * words * ones,
        "weights": 4.0 * n * ones,
        "activations": 34.0 * width * words * ones,
        "output": 2.0 * width * words * ones,
        "shared": 4.0 * width * words * ones,
    }


def layouts(devices):
    """Return (dp, tp, pp) of that product; tp at most 8, pp at most 32."""
    sizes = [d for d in range(1, devices + 1) if devices % d == 0]
    pairs = [(t, p) for t in sizes for p in sizes if devices % (t * p) == 0]
    return [(devices // (t * p), t, p) for t, p in pairs if t <= 8 and p <= 32]


def best_layout(net, machine, batch, devices, memory):
    """Return (seconds, dp, tp, pp, M) of the fastest mixture that fits."""
    found = []
    for dp, tp, pp in layouts(devices):
        for M in (1, 2, 4, 8, 16, 32):
            if batch >= dp * M:
                s, held = hybrid_cost(net, machine, batch, dp, tp, pp, M)
                found += [(s, dp, tp, pp, M)] if held <= memory else []
    return min(found, default=(math.nan, 0, 0, 0, 0))


# %% explore=true
modern = {"speed": 2e14, "alpha": 1e-5, "beta": 1 / 5e10}
widths, batches = (1024, 2048, 4096, 8192, 16384), (16, 128, 1024, 16384)
best = {
    (width, batch): best_layout(stack(32, width), modern, batch, 64, 80e9)
    for width in widths
    for batch in batches
}
most = [
    (3 if c.count(max(c)) > 1 else np.argmax(c)) if s > 0 else np.nan
    for s, *c, _ in best.values()
]
ax = plot.matrix(
    np.reshape(most, (len(widths), len(batches))),
    [f"{32 * 12 * w**2 / 1e9:.1f} G" for w in widths],
    batches,
    xlabel="texts in the batch",
    ylabel="weights",
    title="The fastest: dp x tp x pp, microbatches; seconds a step",
)
tints = ["#A6CEE3", "#FDBF6F", "#B2DF8A", "#FFF3A0"]
ax.images[0].set(cmap=plt.matplotlib.colors.ListedColormap(tints), clim=(0, 3))
ax.images[0].cmap.set_bad("#EEEEEE")
for text, (s, *cut, M) in zip(ax.texts, best.values(), strict=True):
    words = " x ".join(map(str, cut)) + f", {M}\n{float(f'{s:.2g}'):g} s"
    text.set(text=words if s > 0 else "no fit", fontsize=10, color="black")
for tint, name in zip(tints, ("copies", "cuts", "stages", "tie"), strict=True):
    ax.plot([], [], "s", color=tint, ms=11, label=f"most: {name}")
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
ax.figure.set_size_inches(9.5, 4.6)

# %% [markdown]
# Upper right: a small network with a very large batch is copied, `dp = 64`.
# To the left copies would have too few images for what their gradients cost, and stages replace them:
# at the upper left 32 stages are idle for 31/39 of the time, and still win.
# Further down the network has grown, and its layers are cut as well, `tp`, until nothing fits.
# Cuts never lead alone (yellow fields are ties): two all-reduces a layer are dear.
#
# A field can only be as good as the model: equal layers, one kind of link, and no sending while computing.
# What does the link change? The next cell tries three, for one network on eight devices.

# %% explore=true
print("eight devices, 24 layers of width 8192, batch 16")
print("link, GB/s   dp x tp x pp   microbatches   seconds")
for rate in (1, 50, 300):
    link = modern | {"beta": 1 / (rate * 1e9)}
    s, *cut, M = best_layout(stack(24, 8192), link, 16, 8, 80e9)
    print(f"{rate:10}{' x '.join(map(str, cut)):>15}{M:15}{s:10.3f}")

# %% nbgrader={"grade_id": "hybrid-cost-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

KEYS = "flops", "weights", "activations", "output", "shared"


def net_of(layers, seed, **zeros):
    """Return a network of different layers."""
    draw = np.random.default_rng(seed)
    net = {key: draw.uniform(10, 90, layers) for key in KEYS}
    return net | {key: np.zeros(layers) for key in zeros}


SLOW = {"speed": 10.0, "alpha": 1.0, "beta": 0.0}
WIRE = {"speed": 100.123, "alpha": 0.51234, "beta": 0.031234}


def compare(net, machine, *layout, rtol=1e-6, **want):
    """Compare seconds, bytes or both, up to rounding."""
    found = list(hybrid_cost(net, machine, *layout))
    check.equal(len(found), 2, name="number of values")
    for name, value in want.items():
        got = found[["seconds", "bytes"].index(name)]
        title = f"{name} of batch, dp, tp, pp, M = {layout}"
        check.close(got, value, rtol=rtol, name=title)


with check.case(
    "the worked example",
    hint="seconds: one image a device, then an all-reduce? bytes: weights and "
    "what else, of how many images?",
):
    one = {
        key: np.array([v])
        for key, v in zip(KEYS, (100.0, 8, 4, 4, 0), strict=True)
    }
    seconds, most = hybrid_cost(one, SLOW, 2, 2, 1, 1, 1)
    check.close(seconds, 12.0, name="seconds")
    check.close(most, 28.0, name="bytes")
with check.case(
    "data parallel: microbatches and the all-reduce of the weights",
    hint="seconds: how many ticks, how many all-reduces? bytes: how many "
    "images does a device keep?",
):
    want = {"seconds": 26.98595517, "bytes": 1730.322738}
    compare(net_of(4, 1), WIRE, 24, 4, 1, 1, 1, **want)
    want = {"seconds": 29.81392367, "bytes": 972.3037871}
    compare(net_of(4, 1), WIRE, 24, 3, 1, 1, 4, **want)
with check.case(
    "tensor parallel: two all-reduces for each layer",
    hint="each layer has its own two, with its own alpha",
):
    want = {"seconds": 273.6919536, "bytes": 380.7038917}
    compare(net_of(5, 2), WIRE, 8, 1, 4, 1, 2, **want)
with check.case(
    "a pipeline: the slowest stage's tick, M + pp - 1 times",
    hint="which stage is the slowest, with its message? whose output is "
    "that message, and how many ticks are there?",
    essential=True,
):
    compare(net_of(6, 3), WIRE, 8, 1, 1, 3, 4, seconds=87.68367827)
    compare(net_of(7, 4), WIRE, 12, 1, 1, 4, 6, seconds=104.8578278)
with check.case(
    "a pipeline's fullest device",
    hint="stage s holds min(M, pp - s) microbatches; any may be the fullest",
):
    compare(net_of(6, 3), WIRE, 8, 1, 1, 3, 4, bytes=885.6934146)
    compare(net_of(7, 4), WIRE, 12, 1, 1, 4, 2, bytes=2469.118442)
### BEGIN HIDDEN TESTS


def ring(P, m, machine):
    """Return the seconds of an all-reduce of m bytes over P ranks."""
    if P < 2 or not m:
        return 0.0
    return 2 * (P - 1) * (machine["alpha"] + machine["beta"] * m / P)


def wanted(net, machine, batch, dp, tp, pp, M):
    """Return seconds and bytes, a layer at a time."""
    owner = [
        s for s, own in enumerate(np.array_split(net["flops"], pp)) for _ in own
    ]
    b, last = batch / dp / M, len(owner) - 1
    ticks, sizes, held = [0.0] * pp, [0.0] * pp, [0.0] * pp
    for at, s in enumerate(owner):
        ticks[s] += net["flops"][at] * b / machine["speed"] / tp
        ticks[s] += 2 * ring(tp, net["shared"][at] * b, machine)
        if at < last and owner[at + 1] != s:
            sent = net["output"][at] * b
            ticks[s] += 2 * machine["alpha"] + 2 * machine["beta"] * sent
        sizes[s] += net["weights"][at] / tp
        held[s] += net["activations"][at] / tp * b * min(M, pp - s)
    bytes_held = max(3 * w + a for w, a in zip(sizes, held, strict=True))
    syncs = [ring(dp, w, machine) for w in sizes]
    return (M + pp - 1) * max(ticks) + max(syncs), bytes_held


def expect(net, machine, *layout):
    """Compare both with the model, up to rounding."""
    seconds, most = wanted(net, machine, *layout)
    want = {"seconds": seconds, "bytes": most}
    compare(net, machine, *layout, rtol=1e-9, **want)


with check.hidden_case(
    "each way to cut by itself, to all digits",
    hint="nothing is rounded",
):
    for layers, layout in (
        (4, (24, 4, 1, 1, 1)),
        (4, (24, 3, 1, 1, 4)),
        (5, (8, 1, 4, 1, 2)),
        (6, (8, 1, 1, 3, 4)),
        (7, (12, 1, 1, 4, 6)),
        (7, (12, 1, 1, 4, 2)),
    ):
        expect(net_of(layers, layers - 3), WIRE, *layout)
with check.hidden_case(
    "mixtures",
    hint="weights are cut by tp, then added up over dp; b has dp and M in it",
    essential=True,
):
    for seed, layout in enumerate(
        [
            (4099, 2, 2, 2, 4),
            (30, 4, 3, 2, 2),
            (16, 8, 2, 5, 1),
            (7, 2, 4, 3, 8),
        ]
    ):
        expect(net_of(6, 10 + seed), WIRE, *layout)
with check.hidden_case(
    "layers that share nothing send nothing",
    hint="no byte, no message: allreduce_seconds knows",
):
    expect(net_of(4, 5, shared=0), WIRE, 8, 1, 2, 1, 1)
    expect(net_of(4, 5, shared=0), WIRE, 8, 1, 2, 2, 2)
with check.hidden_case(
    "the largest all-reduce need not be the slowest stage's",
    hint="the maximum of each: ticks, weights, memory",
):
    net = {key: np.ones(4) for key in KEYS}
    net["flops"] = np.array([400.0, 300.0, 1.0, 2.0])
    net["weights"] = np.array([1.0, 2.0, 300.0, 500.0])
    net["activations"] = np.array([1.0, 2.0, 900.0, 1.0])
    expect(net, WIRE, 8, 2, 1, 2, 2)
    net["activations"] = np.array([900.0, 1.0, 1.0, 1.0])
    expect(net, WIRE, 8, 2, 1, 4, 4)
with check.hidden_case(
    "the last stage sends no activation, and one stage sends none",
    hint="the output matters between stages only",
):
    net = net_of(4, 6)
    net["output"] = np.array([1.0, 1.0, 1.0, 90000.0])
    expect(net, WIRE, 8, 1, 1, 2, 2)
    expect(net, WIRE, 8, 1, 1, 1, 2)
    net["output"] = np.array([1.0, 90000.0, 1.0, 1.0])
    expect(net, WIRE, 8, 1, 1, 2, 2)
with check.hidden_case(
    "stages of different numbers of layers, one layer each",
    hint="np.array_split of the layers' numbers",
):
    expect(net_of(5, 7), WIRE, 4, 1, 1, 5, 3)
    expect(net_of(5, 8), WIRE, 4, 1, 2, 3, 1)
with check.hidden_case(
    "network and machine stay as they were",
    hint="work on new arrays, and add nothing to the dictionaries",
    guard=True,
):
    net = net_of(6, 9)
    with check.unchanged(**net):
        hybrid_cost(net, WIRE, 8, 2, 2, 3, 2)
    net, machine = check.shared(net_of(6, 9)), check.shared(dict(WIRE))
    hybrid_cost(net, machine, 8, 2, 2, 3, 2)
    check.equal(sorted(net), sorted(KEYS), name="keys of the network")
    check.equal(dict(machine), WIRE, name="machine")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## The same in PyTorch: DTensor, pipelining, FSDP2 (optional, 15 minutes)
#
# `parallelize_module` takes a plan, such as your two classes, and makes the weights *DTensors*;
# `torch.distributed.pipelining` executes the two schedules; `fully_shard` is FSDP2.
# Two ranks compute one gradient in four ways, and compare it with the serial twin's.


# %% explore=true
def small_net():
    """Return a network for the digits, the same on every rank."""
    torch.manual_seed(0)
    layers = nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)
    return nn.Sequential(*layers).double()


def with_tensor_plan(rank, world_size, x, y, mesh):
    """Cut the first layer by columns, the second by rows."""
    from torch.distributed.tensor import parallel

    plan = {"0": parallel.ColwiseParallel(), "2": parallel.RowwiseParallel()}
    net = parallel.parallelize_module(small_net(), mesh, plan)
    nn.functional.cross_entropy(net(x), y).backward()
    return list(net.parameters()), None


def with_fsdp(rank, world_size, x, y, mesh):
    """Shard each layer; each rank has its own images."""
    from torch.distributed.fsdp import fully_shard

    net = small_net()
    for layer in (net[0], net[2], net):
        fully_shard(layer, mesh=mesh)
    mine = slice(rank, None, world_size)
    nn.functional.cross_entropy(net(x[mine]), y[mine]).backward()
    return list(net.parameters()), None


# %% explore=true
def with_pipeline(rank, world_size, x, y, kind):
    """Run one of PyTorch's schedules with four microbatches, two stages."""
    from torch.distributed import pipelining

    part = small_net()[:2] if rank == 0 else small_net()[2:]
    cpu = torch.device("cpu")
    stage = pipelining.PipelineStage(part, rank, world_size, cpu)
    schedule = getattr(pipelining, kind)(
        stage, 4, loss_fn=nn.functional.cross_entropy
    )
    schedule.step(*[x][rank:], **({"target": y} if rank else {}))
    return list(part.parameters()), slice(0, 2) if rank == 0 else slice(2, 4)


# %% explore=true
def called(tensor, way):
    """Return the tensor, or what a DTensor's method of this name returns."""
    return getattr(tensor, way)() if hasattr(tensor, way) else tensor


def with_libraries(rank, world_size, x, y):
    """Return, for each way, what is held here and how far off it is."""
    from torch.distributed.device_mesh import init_device_mesh

    mesh, twin = init_device_mesh("cpu", (world_size,)), small_net()
    nn.functional.cross_entropy(twin(x), y).backward()
    grads, found = [p.grad for p in twin.parameters()], {}
    for title, way, extra in (
        ("DTensor, columns and rows", with_tensor_plan, mesh),
        ("FSDP2", with_fsdp, mesh),
        ("pipelining, GPipe", with_pipeline, "ScheduleGPipe"),
        ("pipelining, 1F1B", with_pipeline, "Schedule1F1B"),
    ):
        parameters, own = way(rank, world_size, x, y, extra)
        whole = [called(p.grad, "full_tensor") for p in parameters]
        local = [called(p, "to_local") for p in parameters]
        pairs = zip(whole, grads[own] if own else grads, strict=True)
        off = max((a - b).abs().max().item() for a, b in pairs)
        found[title] = sum(t.nbytes for t in local), off
    return found


# %% explore=true
x, y = torch.tensor(images[:32]), torch.tensor(labels[:32])
both = launch(with_libraries, 2, x, y, backend="gloo", timeout_s=60)
whole = sum(p.nbytes for p in small_net().parameters())
print(f"the network's weights: {whole:,} bytes")
print(f"{'two ranks':28} {'held by 0':>10} {'by 1':>7}   off from the twin")
for title in both[0]:
    (first, off), (second, off_too) = (found[title] for found in both)
    print(f"{title:28} {first:10,} {second:7,} {max(off, off_too):19.0e}")

# %% [markdown]
# All agree up to rounding, and each rank holds its part.
# (Of the tensor plan a little more than half: the row-parallel layer's bias is whole on both ranks, as in your Task 3.)
#
# ### With a GPU
#
# The next cell holds activations on a GPU as stage 0 does, and reads what its allocator says.

# %% explore=true
from labkit import recorded

if device() != "cuda":
    print("No CUDA GPU here: skipped the memory of both schedules on a GPU.")
    print(recorded("15_model_parallel"))
else:
    S, M, n = 4, 32, 2048
    for schedule in (gpipe, one_f_one_b):
        layer = nn.Linear(n, n, device="cuda")
        torch.cuda.reset_peak_memory_stats()
        begin, kept = torch.cuda.memory_allocated(), {}
        for what, m in schedule(0, S, M):
            if what == "F":
                x = torch.randn(1024, n, device="cuda")
                kept[m] = torch.tanh(layer(x))
            else:
                kept.pop(m).sum().backward()
        peak = (torch.cuda.max_memory_allocated() - begin) / 2**20
        print(f"{schedule.__name__:12} peak {peak:6.0f} MiB on stage 0")

# %% [markdown]
# On the H100 GPipe held 32 microbatches and 1F1B four, but the peaks differ by less than 32/4 = 8 times:
# both contain what does not grow with microbatches, such as the weights' gradient.
# How much? The peaks' difference over 28 is held for one microbatch; take four of these from 1F1B's peak.

# %% [markdown]
# ## Open task: a layout of your own (2 points)
#
# You rent 64 devices for a network of 48 layers, in servers of eight. Inside a server a link moves 300 GB/s, between servers 1 GB/s
# (source A's numbers for NVLink and 10 Gbit Ethernet; lab 11 shows what they count).
# In truth a server's eight devices share its 1 GB/s. You may let each have that for itself: then say so among what the model leaves out.
# The model of Task 9 knows one link. Write a better one: choose, and say, which of the three groups lie inside a server,
# and let each use its link. You may also cut stages unevenly, compute outputs again (lab 06's checkpointing), or draw a schedule of your own with `clock`.
# The cell below is a beginning.

# %% [markdown]
# Hand in: your layout, a figure with labelled axes that compares it with at least three others, and four or five sentences:
# what is sent where, what limits it, and what your model leaves out.
#
# In the cell below, on one slow link, the cut that large models do use, eight devices to a layer, is the slowest of three
# (beside copies that hold more than a card of 80 GB can): why do they use it?


# %% explore=true
# Change this cell: one link for all, and three layouts without a thought.
ethernet = modern | {"beta": 1 / 1e9}
net = stack(48, 4096)
tried = {
    f"{dp} x {tp} x {pp}": hybrid_cost(net, ethernet, 512, dp, tp, pp, 8)
    for dp, tp, pp in ((64, 1, 1), (8, 8, 1), (8, 1, 8))
}
for title, (seconds, held_bytes) in tried.items():
    print(f"{title:12} {seconds:8.2f} s a step, {held_bytes / 1e9:6.1f} GB")
fits = {
    title: "" if b < 80e9 else "\n> 80 GB" for title, (_, b) in tried.items()
}
ax = plot.bars(
    {title + fits[title]: found[0] for title, found in tried.items()},
    ylabel="seconds a step",
    xlabel="dp x tp x pp",
    title="64 devices, all links 1 GB/s",
)

# %% [markdown] nbgrader={"grade_id": "my-layout", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer** (its figure is not in this notebook).
# I gave `hybrid_cost` a machine for each group: tensor groups of up to eight lie inside a server and use the fast link,
# pipeline and data groups use the slow one. Then I tried all layouts with `tp = 8` and up to 128 microbatches.
# With `tp = 8` the many all-reduces of activations never leave a server.
# Of the eight servers I made two copies of four stages, 2 x 8 x 4 with 64 microbatches: some 5 s a step.
# In my figure 8 x 8 x 1 takes twice as long, because eight copies send all their gradients, 39 GB over `tp = 8`, through the slow link;
# 1 x 8 x 8 takes a quarter longer, because every image's activations pass seven slow boundaries, and for the bubble;
# 64 x 1 x 1 takes 15 times as long, and does not fit into 80 GB. Computing alone would take 1.2 s: the slow link limits all of them.
# The model leaves out that sending can be hidden behind computing, that the devices of a server share its one Ethernet link,
# and that small products run slower.
#
# **Rubric.**
#
# * 1 point: a model with two links in which it is said which group lies where (half),
#   and a figure with at least four layouts, labelled axes, from runs of their own (half).
# * 1 point: the sentences say what the figure shows; bytes or seconds of at least two groups (half);
#   what limits the chosen layout and something that the model leaves out (half).
#
# A schedule of one's own, drawn and counted against 1F1B, counts in place of the two links. The size of the gain earns nothing.
# Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ### In your words (2 points)
#
# A colleague trains a network on four GPUs as a pipeline of four equal stages, with GPipe and four microbatches of 16 images.
# She sees her GPUs idle for almost half of the time, and has two ideas.
#
# 1. More microbatches of 16 images, so a larger batch. Which share of the time is idle now, by the formula?
#    From how many microbatches on is it below 10 %? What happens to the memory of stage 0, and what would you change, so that it does not?
# 2. To cut each layer over the four GPUs instead of making stages. Which messages replace which? On what does it depend whether that is faster?
#    Would the result of a training step be another one?
#
# About 150 words.

# %% [markdown] nbgrader={"grade_id": "two-ideas", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# With $S = 4$ and $M = 4$ the bubble is $3/7$, 43 %. It is below 10 % if $3/(M+3) < 0.1$, so $M > 27$: from 28 microbatches on.
# GPipe holds the activations of all 28 on each stage, seven times as many as now.
# 1F1B has the same bubble, and its stage 0 holds at most four; or the same batch is cut into smaller microbatches, as long as products stay large enough;
# or activations are computed again. The larger batch may also need another learning rate (lab 12).
#
# Cut layers have no bubble. In place of one activation and one gradient for each boundary and microbatch
# they send all-reduces of activations for every pair of layers, forward and backward, of the whole batch, and every GPU waits for each.
# So it depends on the link (latency and bandwidth), on the size of activations against that of the computing, and on the number of layers in a stage:
# inside a server with a fast link it may win, over Ethernet hardly.
# The step is the serial twin's in both cases, up to the rounding of another order of summation.
#
# **Rubric.**
#
# * 1 point: 43 % and 28, half; GPipe's memory grows with M and 1F1B's (or smaller microbatches, or recomputation) does not, half.
# * 1 point: all-reduces of activations in each layer in place of boundaries and a bubble, and a dependence on link and sizes, half;
#   the same step, up to rounding, half.
#
# Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## Your result cards
#
# What a halo saves, and AlexNet's two GPUs.

# %% explore=true
result_card(
    "bytes of an all-gather over those of a halo (512 x 512, 3 x 3, 4 ranks)",
    ratios[512, 512, 3],
    unit="x",
    lab="15_model_parallel",
    source="A: convolutions cut along the image send fringes alone",
    kind="counted",
    note="Sent by an inner rank, in the student's own code.",
)

# %% explore=true
by_data, by_cut = (
    hybrid_cost(alexnet, pcie, 128, *layout, 1)[0]
    for layout in ((2, 1, 1), (1, 2, 1))
)
result_card(
    "a step of AlexNet on two GPUs: data parallel over its own cut",
    by_data / by_cut,
    unit="x",
    lab="15_model_parallel",
    source="D: AlexNet cut over two GPUs (Krizhevsky et al. 2012)",
    kind="modelled",
    note="128 images, 1 Tflop/s, a link of 5 GB/s, nothing hidden.",
)

# %% [markdown]
# ## What you take along
#
# * Cut columns, then rows: one all-reduce of activations forward and one backward for two layers.
# * A convolution's ranks need their neighbours' edge rows, and nothing else.
# * A pipeline sends little and waits $(S-1)/(M+S-1)$ of the time. 1F1B waits as long as GPipe and holds less.
# * What lies between an all-reduce's two halves can be cut for nothing (ZeRO-1); cutting weights, too, costs half as many bytes again (FSDP).
# * The faster the links, the more tensor parallel.
# * Every cut can be tested against its serial twin.
#
# Lab 16 asks how such speed-ups are to be reported.
