# %% [markdown]
# # 11. Adding up gradients
#
# **What does it cost to add up gradients?**
# $P$ devices train one model, each on its own images.
# After every step each device holds a gradient, and all of them need the sum.
# This is an *all-reduce*, and there are many ways to do it.
# You write three of them, and a broadcast, on real processes that send real messages, count what they send,
# measure what a message costs, compute from it when one more device stops helping,
# and choose, or invent, a scheme for a cluster of your own.

# %% [markdown]
# | | |
# |---|---|
# | Prerequisites | NumPy (lab 01), logarithms, least squares; no network programming |
# | Time | about 5 hours |
# | Points | 20: 16 from checks, 4 from two written answers |
# | Hardware | two CPU cores; with a GPU, one cell near the end fits the model to its link |
# | Source | B, a talk on communication in machine learning (`docs/claims.md` compares its numbers with ours) |

# %% [markdown]
# ## How this notebook works
#
# Each task asks for one or two functions or a class.
# Replace the line that raises `NotImplementedError` and keep the name and the arguments.
# Then run the look cell, which shows what yours does, and the check below it; read the first case that fails.
# Further cases, hidden here, run when your work is graded.
# They test what the task's text promises, with other numbers.
# No check looks at a clock: seconds are shown; messages, bytes and steps are graded.
# Your functions change no result that they have returned before.
#
# Cells that begin with `# explore` are yours to change.
# They are not run when your work is graded:
# a helper or an import that a task needs belongs in the task's cell,
# and a plot of your own is read as you saved it.

# %% nbgrader={"grade_id": "setup", "locked": true}
import math
import time
from collections import defaultdict

import numpy as np

from labkit import (
    Communicator,
    RankError,
    bench,
    check,
    count,
    device,
    launch,
    plot,
    result_card,
)

# %% [markdown]
# ## Ranks and messages
#
# `launch(fn, P)` runs `fn(rank, P)` in $P$ processes at once, the *ranks* $0$ to $P-1$, and returns their values.
# They share no variables. All they can do is send arrays, through a `Communicator`:
#
# | | |
# |---|---|
# | `comm.rank`, `comm.size` | this rank's number, and $P$ |
# | `comm.send(array, to)` | sends a copy; returns when the other rank has begun to receive |
# | `comm.recv(source)` | returns the next array that `source` sends |
# | `comm.exchange(array, to, source)` | sends and receives at the same time |
# | `comm.counts()` | what this rank has done: messages sent, bytes sent, steps |
#
# Each call is one *step*, an exchange too. Use `comm` in one thread.


# %% explore=true
def greet(rank, world_size):
    comm = Communicator()
    right, left = (rank + 1) % comm.size, (rank - 1) % comm.size
    came = comm.exchange(np.array([10.0 * rank]), right, left)
    return came, comm.counts()


for rank, (came, counts) in enumerate(launch(greet, 3)):
    print(f"rank {rank} received {came} and counted {counts}")

# %% [markdown]
# ### Experiment 1. Everyone sends first
#
# The same ring without `exchange`: first send, then receive.
# It reads like good manners. Guess what happens before you run it.


# %% explore=true
def polite(rank, world_size):
    comm = Communicator()
    comm.send(np.array([10.0 * rank]), (rank + 1) % comm.size)
    return comm.recv((rank - 1) % comm.size)


try:
    launch(polite, 3)
except RankError as error:
    print(str(error).partition("\n\n")[0])

# %% [markdown]
# Nobody receives, so nobody's `send` returns: a *deadlock*.
# Rank 0 waits for 1, 1 for 2, 2 for 0; the line before the last names this circle.
# `launch` sees that it cannot end and stops all ranks after about a second.
# Your own circles below end in the same way; other ways to wait forever end when the time of `launch` is up.
#
# Real libraries make it worse: they copy small messages into a buffer, so that `send` returns at once.
# Such a program works until the gradient outgrows the buffer.

# %% [markdown]
# ### Given: recorded ranks
#
# `count.collective(fn, jobs)` launches ranks that run a collective of yours, once for each job:
# `(size, xs)` calls `fn(comm, xs[rank])` on the first `size` ranks, `(size, xs, root)` calls `fn(comm, xs[rank], root)`.
# It returns for each job what its ranks did: `value`, counts, and `log`, `(bytes, to, source)` of each step.
#
# The checks also use a *doubling* wire, `gains=(2,)`: what arrives is twice what was sent.
# A result that was made of messages changes with it; a sum that came another way does not notice.

# %% [markdown]
# ### Given: a stop-watch that needs no clock
#
# `logs_of` runs a collective of yours and returns its ranks' logs.
# `schedule` plays them back under a simple model: a message of $m$ bytes begins when both its ends are ready,
# and takes $\alpha + \beta m$ seconds.
# With $\alpha = 1$ and $\beta = 0$ it counts *rounds*: the longest chain of steps that wait for one another.
# `draw_messages` draws the result. You need not read the code.

# %% nbgrader={"grade_id": "logs", "locked": true}


def logs_of(collective, size, n=64, *more):
    """Run a collective once on n float32 elements; return its ranks' logs."""
    job = (size, [np.full(n, rank, np.float32) for rank in range(size)], *more)
    return [done["log"] for done in count.collective(collective, [job])[0]]


# %% folded=true nbgrader={"grade_id": "schedule", "locked": true}
def schedule(logs, alpha: float = 1.0, beta: float = 0.0):
    """Return (sender, receiver, start, end) of every message in the logs."""
    # The n-th send on a link meets the n-th receive.
    links = defaultdict(lambda: ([], []))
    for rank, log in enumerate(logs):
        for step, (nbytes, to, source) in enumerate(log):
            if to is not None:
                links[rank, to][0].append((step, alpha + beta * nbytes))
            if source is not None:
                links[source, rank][1].append(step)
    messages = [
        (sender, step, receiver, other, seconds)
        for (sender, receiver), (sends, receives) in links.items()
        for (step, seconds), other in zip(sends, receives, strict=True)
    ]
    meets = defaultdict(list)
    for sender, step, receiver, other, seconds in messages:
        meets[sender, step].append((receiver, other, seconds))
        meets[receiver, other].append((sender, step, seconds))
    # begins[rank][step], as far as it is known.
    begins, moved = [[0.0] for _ in logs], True
    while moved:
        moved = False
        for rank, known in enumerate(begins):
            step = len(known) - 1
            partners = meets[rank, step]
            if partners and all(
                len(begins[other]) > at for other, at, _ in partners
            ):
                known.append(
                    max(
                        max(known[step], begins[o][at]) + s
                        for o, at, s in partners
                    )
                )
                moved = True
    starts = [
        max(begins[a][step], begins[b][at]) for a, step, b, at, _ in messages
    ]
    return [
        (a, b, start, start + seconds)
        for (a, _, b, _, seconds), start in zip(messages, starts, strict=True)
    ]


def critical_path(logs, alpha: float = 1.0, beta: float = 0.0) -> float:
    """Return when all has arrived; with alpha = 1 and beta = 0, the rounds."""
    return max((end for *_, end in schedule(logs, alpha, beta)), default=0.0)


def draw_messages(logs, ax, title: str) -> None:
    """Draw each message as an arrow: rank by round."""
    for sender, receiver, start, end in schedule(logs):
        style = {
            "arrowstyle": "->",
            "color": plot.PALETTE[sender % 6],
            "lw": 1.2,
        }
        ax.annotate("", (end, receiver), (start, sender), arrowprops=style)
    rounds = round(critical_path(logs))
    ax.set(
        xlim=(-0.1, rounds + 0.1),
        ylim=(len(logs) - 0.8, -0.2),
        xlabel="round",
        ylabel="rank",
    )
    ax.set_xticks(range(0, rounds + 1, max(1, rounds // 7)))
    ax.set_yticks(range(len(logs)))
    ax.set_title(title, loc="left", fontsize=11)


# %% [markdown]
# ## The ring
#
# ### Task 1. Cut an array into chunks (1 point)
#
# Most schemes below cut the gradient into $P$ *chunks*, one for each rank.
# `chunk_bounds(n, size)` returns `size` pairs of integers `(start, stop)`, in a list or a tuple:
# chunk $r$ holds the elements `start` to `stop - 1`.
# The chunks follow one another, cover $0$ to $n-1$, and differ in length by at most one; the longer ones come first.
# If $n < P$ the last ones are empty.
#
# `chunk_bounds(7, 3)` is `[(0, 3), (3, 5), (5, 7)]`. About 4 lines.


# %% nbgrader={"grade_id": "chunk-bounds", "solution": true}
def chunk_bounds(n: int, size: int) -> list[tuple[int, int]]:
    """Return (start, stop) of `size` chunks of n elements, the longer first."""
    ### BEGIN SOLUTION
    length, longer = divmod(n, size)
    starts = [chunk * length + min(chunk, longer) for chunk in range(size + 1)]
    return list(zip(starts[:-1], starts[1:], strict=True))
    ### END SOLUTION


# %% explore=true
for length, parts in ((8, 4), (10, 4), (3, 4), (0, 2)):
    print(f"{length:2} elements, {parts} chunks: {chunk_bounds(length, parts)}")

# %% nbgrader={"grade_id": "chunk-bounds-check", "grade": true, "points": 1}
import operator

import numpy as np

from labkit import check


def pairs(n, size):
    """Return the student's bounds, `size` pairs of integers of any type."""
    bounds = chunk_bounds(n, size)
    check.equal(len(bounds), size, name="number of pairs")
    return [
        (operator.index(start), operator.index(stop)) for start, stop in bounds
    ]


with check.case(
    "the worked example",
    hint="7 = 3 + 2 + 2: return pairs (start, stop), the next starts at stop",
):
    check.equal(pairs(7, 3), [(0, 3), (3, 5), (5, 7)], name="bounds")
with check.case(
    "all alike where size divides n",
    hint="every chunk has the same length",
):
    check.equal(pairs(8, 4), [(0, 2), (2, 4), (4, 6), (6, 8)], name="bounds")
with check.case(
    "two elements too many: the first two chunks are longer",
    hint=(
        "what is left over is spread, one element a chunk, "
        "from the first chunk on"
    ),
    more=(
        "divmod tells the length of the shorter chunks, and how many are longer"
    ),
):
    check.equal(pairs(10, 4), [(0, 3), (3, 6), (6, 8), (8, 10)], name="bounds")
### BEGIN HIDDEN TESTS


def split(n, size):
    """Return the bounds of NumPy's array_split, which cuts in the same way."""
    stops = np.cumsum(
        [len(part) for part in np.array_split(np.arange(n), size)]
    )
    return [
        (int(stop) - n_part, int(stop))
        for stop, n_part in zip(stops, lengths(n, size), strict=True)
    ]


def lengths(n, size):
    """Return the lengths of NumPy's parts."""
    return [len(part) for part in np.array_split(np.arange(n), size)]


with check.hidden_case(
    "fewer elements than ranks",
    hint="size pairs in all: the last ones are (n, n)",
):
    for n, size in ((3, 4), (1, 8), (0, 3)):
        check.equal(
            pairs(n, size),
            split(n, size),
            name=f"bounds for n={n}, size={size}",
        )
with check.hidden_case(
    "more elements than a float can count",
    hint="integers have every digit, floats sixteen",
):
    half = 2**59
    want = [(0, half), (half, 2 * half - 1)]
    check.equal(pairs(2 * half - 1, 2), want, name="bounds")
with check.hidden_case(
    "one chunk is everything", hint="one rank has all, also if that is nothing"
):
    check.equal(pairs(11, 1), [(0, 11)], name="bounds")
    check.equal(pairs(0, 1), [(0, 0)], name="bounds of nothing")
    check.separate(chunk_bounds(3, 2), chunk_bounds(11, 1))
with check.hidden_case(
    "larger numbers",
    hint=(
        "two lengths, one apart: "
        "the longer one as often as elements are left over"
    ),
    essential=True,
):
    for n, size in ((1000, 7), (29, 8), (100, 6), (25, 5)):
        check.equal(
            pairs(n, size),
            split(n, size),
            name=f"bounds for n={n}, size={size}",
        )
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### Two phases
#
# In a ring every rank sends only to its right neighbour $(r+1) \bmod P$ and receives only from its left one.
#
# ![Four ranks, each with four chunks. In three steps of reduce-scatter, partial sums move one rank to the right, until each rank holds one chunk of the whole sum. In three steps of all-gather, these finished chunks move on in the same way, until each rank holds all four.](figures/ring.svg)
#
# *Reduce-scatter*: chunks travel round the ring and collect what they pass,
# until rank $r$ holds chunk $r$ of the sum.
# *All-gather*: the finished chunks travel once more, and everyone keeps a copy.
# All links carry one chunk in every step: none is idle, none carries more than another.

# %% [markdown]
# ### Task 2. Reduce-scatter (2 points)
#
# `ring_reduce_scatter(comm, x)` gets a vector `x` of the same length $n$ on every rank,
# and returns chunk $r$ of the sum of all ranks' vectors, as `chunk_bounds` cuts it.
#
# In step $s = 0, \dots, P-2$ rank $r$ sends chunk $(r-1-s) \bmod P$, with what it has collected, to the right,
# receives chunk $(r-2-s) \bmod P$ from the left and adds its own part.
# One `exchange` a step, also if a chunk is empty: $P-1$ messages and $P-1$ steps.
# Keep x's dtype, and leave `x` as it was. One rank alone sends nothing: its sum is `x`.
#
# Rank 0 has `[1, 2, 3]`, rank 1 `[10, 20, 30]`: rank 0 returns `[11, 22]`, rank 1 `[33]`. About 6 lines.


# %% nbgrader={"grade_id": "ring-reduce-scatter", "solution": true}
def ring_reduce_scatter(comm, x: np.ndarray) -> np.ndarray:
    """Return chunk comm.rank of the sum of all ranks' x, shape (n,)."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    ### BEGIN SOLUTION
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    carried = chunks[(comm.rank - 1) % comm.size].copy()
    for step in range(comm.size - 1):
        came = comm.exchange(carried, right, left)
        carried = came + chunks[(comm.rank - 2 - step) % comm.size]
    return carried
    ### END SOLUTION


# %% explore=true
vectors = [np.array([1.0, 2, 3, 4]) * 10**r for r in range(3)]
for rank, done in enumerate(
    count.collective(ring_reduce_scatter, [(3, vectors)])[0]
):
    print(f"rank {rank}: {vectors[rank]} -> {done['value']},", end=" ")
    print(f"{done['messages']} messages, {done['bytes']} bytes")
print("the sum:", sum(vectors))

# %% nbgrader={"grade_id": "ring-reduce-scatter-check", "grade": true, "points": 2}
import numpy as np

from labkit import check, count


def job(size, n, dtype=np.float64):
    """Return a job for count.collective: random vectors for each rank."""
    draw = np.random.default_rng()  # nobody knows another rank's numbers
    return size, [
        np.round(draw.normal(0, 100, n), 6).astype(dtype) for _ in range(size)
    ]


known, doubled = {}, {}  # results by name, and those over wires that double
launches = {"together": True, "patience": 6}  # seconds for a launch


def play(names):
    """Launch the named jobs together; keep the results of each job's ranks."""
    jobs = [one for name in names for one in plan[name]]
    limit = launches["patience"]
    try:  # the second time, what comes is doubled
        found = count.collective(
            ring_reduce_scatter, jobs, gains=(1, 2), timeout_s=limit
        )
    except Exception as error:
        launches["patience"] = 2 if "still running" in str(error) else limit
        raise
    each = iter(found)
    for results in (known, doubled):
        for name in names:
            results[name] = [(one, next(each)) for one in plan[name]]


def outcome(name):
    """Return (job, ranks' results) of each: of one launch, if it ends well."""
    new = [other for other in plan if other not in known]
    if launches["together"] and name in new:
        try:
            play(new)
        except NotImplementedError as error:
            known.update(dict.fromkeys(new, NotImplementedError(str(error))))
        except Exception:
            # Each name by itself says what fails and what does not.
            launches["together"] = False
    if name not in known:
        try:
            play([name])
        except Exception:
            known[name] = RuntimeError(
                "the same launch failed in a case above, which says why"
            )
            raise
    if isinstance(known[name], Exception):
        raise known[name]
    return known[name]


def expect_chunks(name):
    """Compare with NumPy's sum. Float64 rounds at 1e-16, float32 at 1e-7."""
    for (size, xs), ranks in outcome(name):
        chunks = np.array_split(np.sum(xs, axis=0, dtype=xs[0].dtype), size)
        exact = xs[0].dtype == np.float64
        for rank, (want, found) in enumerate(zip(chunks, ranks, strict=True)):
            title = f"rank {rank} of {size}, n = {len(xs[0])}"
            close = (
                {"rtol": 1e-12, "atol": 1e-9}
                if exact
                else {"rtol": 1e-5, "atol": 1e-3}
            )
            check.close(
                found["value"],
                want,
                dtype=xs[0].dtype.name,
                name=title,
                **close,
            )


def expect_kept():
    """Expect that no rank has changed its x, and that ranks have talked."""
    for name in plan:
        for (size, xs, *_), ranks in outcome(name):
            for rank, found in enumerate(ranks):
                title = f"rank {rank} of {size}, n = {len(xs[rank])}"
                least = min(size - 1, 1)
                check.at_least(
                    found["messages"],
                    least,
                    name=f"messages, {title}",
                )
                check.true(found["kept"], f"x to stay as it was, {title}")


def four():
    """Return number and result of each of four ranks."""
    return list(enumerate(outcome("four")[0][1]))


plan = {
    "example": [(2, [np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])])],
    "four": [job(4, 8)],
}
with check.case(
    "the worked example",
    hint="how many chunks are there, and from where to where reaches each? "
    "which of them is sent, and to which is added what comes?",
):
    _, ranks = outcome("example")[0]
    check.close(ranks[0]["value"], [11.0, 22.0], name="rank 0")
    check.close(ranks[1]["value"], [33.0], name="rank 1")
with check.case(
    "four ranks: rank r returns chunk r of the sum",
    hint=(
        "what came plus your part of the same chunk goes on in the next step; "
        "the last is yours"
    ),
):
    expect_chunks("four")
with check.case(
    "four ranks: 3 messages and 3 steps each",
    hint="P - 1 steps, one comm.exchange in each",
):
    for rank, found in four():
        check.equal(found["messages"], 3, name=f"messages of rank {rank}")
        check.equal(found["steps"], 3, name=f"steps of rank {rank}")
with check.case(
    "four ranks: each message is one chunk, 16 bytes here",
    hint=(
        "a step carries a single chunk, with what it has collected; "
        "never all of x"
    ),
    more=(
        "which chunk goes out first, and which in step s, "
        "stands in the task's text"
    ),
    essential=True,
):
    for rank, found in four():
        check.equal(found["bytes"], 48, name=f"bytes of rank {rank}")
### BEGIN HIDDEN TESTS
plan |= {
    "many": [job(size, 2 * size) for size in (2, 6, 7, 8)],
    "uneven": [job(4, 10), job(5, 3), job(5, 13), job(3, 0)],
    "types": [
        job(3, 7, np.float32),
        job(3, 61, np.int64),
        job(2, 5, np.int32),
    ],
    "one": [job(1, 5), job(2, 2)],
}
with check.hidden_case(
    "two to eight ranks",
    hint="all numbers of chunks and ranks modulo P",
    essential=True,
):
    expect_chunks("many")
with check.hidden_case(
    "chunks of different lengths, empty ones, and no element at all",
    hint=(
        "chunks that meet are the same chunk of two ranks, "
        "also where it is empty"
    ),
):
    expect_chunks("uneven")
with check.hidden_case(
    "messages and bytes with chunks of different lengths",
    hint="each rank sends every chunk but its own once, an empty one too",
):
    for (size, xs), ranks in [*outcome("uneven"), *outcome("types")]:
        for rank, part in enumerate(np.array_split(xs[0], size)):
            title = f"of rank {rank} of {size}, n = {len(xs[0])}"
            sent = ranks[rank]["messages"], ranks[rank]["bytes"]
            check.equal(sent[0], size - 1, name=f"messages {title}")
            want = xs[0].nbytes - part.nbytes
            check.equal(sent[1], want, name=f"bytes {title}")
with check.hidden_case(
    "only neighbours talk",
    hint="a ring: who sends to me is never the one I send to",
    guard=True,
):
    for rank, found in four():
        talked = {tuple(step)[1:] for step in found["log"]}
        check.equal(
            talked,
            {((rank + 1) % 4, (rank - 1) % 4)},
            name=f"to and from, rank {rank}",
        )
with check.hidden_case(
    "the dtype stays", hint="in which type is collected? np.zeros makes float64"
):
    expect_chunks("types")
with check.hidden_case(
    "x stays as it was",
    hint="a slice of x is a view: what is written into it is written into x",
    guard=True,
):
    expect_kept()
with check.hidden_case(
    "one rank alone, and two", hint="no neighbour, no message: the sum is x"
):
    expect_chunks("one")
    _, (alone,) = outcome("one")[0]
    check.equal(alone["messages"], 0, name="messages of one rank alone")


def twice(name):
    """Return (job, results) of each job, over wires that double messages."""
    outcome(name)
    return doubled[name]


def expect_doubled(found, want, title):
    """Compare a doubled value with what the text's messages make of it."""
    # As above, and what comes far has been doubled often.
    close = {"rtol": 1e-12, "atol": 1e-6}
    if np.dtype(want.dtype) == np.float32:
        close = {"rtol": 1e-5, "atol": 0.1}
    name = f"{title}, when all that comes is doubled"
    check.close(found["value"], want, name=name, **close)


# A part that takes h hops is doubled h times.
# Every job is played over such wires: whoever sees them gains nothing by
# sending what is right only there.
with check.hidden_case(
    "what it returns is made of what its own messages bring",
    hint=(
        "it fails with any other case: mend those first; "
        "then, is all of it sent through comm?"
    ),
    weight=4,
):
    for name in ("example", "four", "many", "uneven", "types"):
        for (size, xs), ranks in twice(name):
            cut = [np.array_split(x, size) for x in xs]
            for at, heard in enumerate(ranks):
                want = sum(2**h * cut[(at - h) % size][at] for h in range(size))
                expect_doubled(
                    heard, want, f"rank {at} of {size}, n = {len(xs[0])}"
                )
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 3. All-gather, and the whole ring (2 points)
#
# `ring_all_gather(comm, chunk, n)` gets on rank $r$ chunk $r$ of a vector of $n$ elements
# and returns the whole vector, of the chunk's dtype, on every rank.
# In step $s = 0, \dots, P-2$ rank $r$ sends chunk $(r-s) \bmod P$ to the right
# and receives chunk $(r-s-1) \bmod P$ from the left:
# first its own chunk, then always the one that has just come. About 7 lines.
#
# `ring_allreduce(comm, x)` is the two phases in a row: every rank returns the sum. 1 line.
# In all $2(P-1)$ messages and steps a rank, and about $2m(P-1)/P$ bytes for a vector of $m$ bytes.
# Both leave their argument as it was.
# After Task 2's example all-gather returns `[11, 22, 33]` on both ranks.


# %% nbgrader={"grade_id": "ring-all-gather", "solution": true}
def ring_all_gather(comm, chunk: np.ndarray, n: int) -> np.ndarray:
    """Return the vector, shape (n,), of which rank r holds chunk r."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    ### BEGIN SOLUTION
    bounds = chunk_bounds(n, comm.size)
    whole = np.empty(n, chunk.dtype)
    whole[slice(*bounds[comm.rank])] = chunk
    for step in range(comm.size - 1):
        chunk = comm.exchange(chunk, right, left)
        whole[slice(*bounds[(comm.rank - step - 1) % comm.size])] = chunk
    return whole
    ### END SOLUTION


def ring_allreduce(comm, x: np.ndarray) -> np.ndarray:
    """Return the sum of all ranks' x, shape (n,), on every rank."""
    ### BEGIN SOLUTION
    return ring_all_gather(comm, ring_reduce_scatter(comm, x), len(x))
    ### END SOLUTION


# %% explore=true
def beside_the_builtin(rank, world_size):
    import torch

    x = np.random.default_rng(rank).normal(size=1000).astype(np.float32)
    builtin = torch.from_numpy(x.copy())
    torch.distributed.all_reduce(builtin)  # changes its argument
    return ring_allreduce(Communicator(), x), builtin.numpy()


both = launch(beside_the_builtin, 5)
apart = max(np.abs(yours - theirs).max() for yours, theirs in both)
alike = all(np.array_equal(yours, both[0][0]) for yours, _ in both)
print(f"largest difference from torch.distributed.all_reduce: {apart:.1e}")
print("all ranks of yours hold the same bits:", alike)
draw_messages(
    logs_of(ring_allreduce, 4),
    plot.panels(1)[0],
    "Your ring, four ranks (colour: the sender)",
)

# %% [markdown]
# Float32 has seven digits, and a sum in another order rounds differently:
# yours and the library's may differ in the last digit, and neither is wrong.
# That is why the checks allow a tolerance against a sum by NumPy.
#
# Between the *ranks* there is no such excuse.
# Each chunk is summed once, by one chain of ranks, and then copied: all ranks hold the same bits.
# If they did not, their weights would drift apart, a little more with every step.
#
# In the picture time runs to the right, and an arrow is a message in its sender's colour
# (with eight ranks, below, 6 and 7 share the colours of 0 and 1).
# In each of the six rounds every rank sends one chunk and receives one.

# %% nbgrader={"grade_id": "ring-allreduce-check", "grade": true, "points": 2}
import numpy as np

from labkit import check, count


def job(size, n, dtype=np.float64):
    """Return a job for count.collective: random vectors for each rank."""
    draw = np.random.default_rng()  # nobody knows another rank's numbers
    return size, [
        np.round(draw.normal(0, 100, n), 6).astype(dtype) for _ in range(size)
    ]


known, doubled = {}, {}  # results by name, and those over wires that double
launches = {"together": True, "patience": 6}  # seconds for a launch


def play(names):
    """Launch the named jobs together; keep the results of each job's ranks."""
    jobs = [one for name in names for one in plan[name]]
    collective = ring_all_gather if "gather" in names[0] else ring_allreduce
    limit = launches["patience"]
    try:  # the second time, what comes is doubled
        found = count.collective(
            collective, jobs, gains=(1, 2), timeout_s=limit
        )
    except Exception as error:
        launches["patience"] = 2 if "still running" in str(error) else limit
        raise
    each = iter(found)
    for results in (known, doubled):
        for name in names:
            results[name] = [(one, next(each)) for one in plan[name]]


def outcome(name):
    """Return (job, ranks' results) of each: of one launch, if it ends well."""
    same = [
        other for other in plan if ("gather" in other) == ("gather" in name)
    ]
    new = [other for other in same if other not in known]
    if launches["together"] and name in new:
        try:
            play(new)
        except NotImplementedError as error:
            known.update(dict.fromkeys(new, NotImplementedError(str(error))))
        except Exception:
            # Each name by itself says what fails and what does not.
            launches["together"] = False
    if name not in known:
        try:
            play([name])
        except Exception:
            known[name] = RuntimeError(
                "the same launch failed in a case above, which says why"
            )
            raise
    if isinstance(known[name], Exception):
        raise known[name]
    return known[name]


def expect_sums(name):
    """Compare with NumPy's sum. Float64 rounds at 1e-16, float32 at 1e-7."""
    for (size, xs), ranks in outcome(name):
        want = np.sum(xs, axis=0, dtype=xs[0].dtype)
        close = {"rtol": 1e-12, "atol": 1e-9}
        if want.dtype == np.float32:
            close = {"rtol": 1e-5, "atol": 1e-3}
        for rank, found in enumerate(ranks):
            title = f"rank {rank} of {size}, n = {len(want)}"
            check.close(
                found["value"], want, dtype=want.dtype.name, name=title, **close
            )


def expect_kept():
    """Expect that no rank has changed its x, and that ranks have talked."""
    for name in plan:
        for (size, xs, *_), ranks in outcome(name):
            for rank, found in enumerate(ranks):
                title = f"rank {rank} of {size}, n = {len(xs[rank])}"
                least = min(size - 1, 1)
                check.at_least(
                    found["messages"],
                    least,
                    name=f"messages, {title}",
                )
                check.true(found["kept"], f"x to stay as it was, {title}")


def four():
    """Return number and result of each of four ranks."""
    return list(enumerate(outcome("four")[0][1]))


# central_server, too, returns the sum: guards count beside a case about what
# a rank sends.
plan = {
    "gather": [(2, [np.array([11.0, 22.0]), np.array([33.0])], 3)],
    "four": [job(4, 10)],
}
with check.case(
    "all-gather: the worked example",
    hint="put your chunk at its place, exchange, put what came at its place",
):
    for rank, found in enumerate(outcome("gather")[0][1]):
        check.close(found["value"], [11.0, 22.0, 33.0], name=f"rank {rank}")
with check.case(
    "four ranks: everyone returns the sum",
    hint=(
        "which dtype has each array that you make? one phase after the "
        "other: which chunk comes in which step?"
    ),
    guard=True,
):
    expect_sums("four")
with check.case(
    "four ranks: 6 messages and 6 steps each",
    hint="P - 1 of each phase, one exchange a step",
):
    for rank, found in four():
        check.equal(found["messages"], 6, name=f"messages of rank {rank}")
        check.equal(found["steps"], 6, name=f"steps of rank {rank}")
with check.case(
    "four ranks: nearly 2 m (P - 1) / P bytes, 120 +- 8 here",
    hint=(
        "each message of both phases is one chunk: "
        "send on what came, not the whole vector"
    ),
    essential=True,
):
    # Rank r sends all chunks but r, then all but (r + 1) % P.
    lengths = [3, 3, 2, 2]
    for rank, found in four():
        want = 8 * (20 - lengths[rank] - lengths[(rank + 1) % 4])
        check.equal(found["bytes"], want, name=f"bytes of rank {rank}")
### BEGIN HIDDEN TESTS


def chunks_of(size, n, dtype=np.float64):
    """Return a job of which rank r holds chunk r, and needs n."""
    rng = np.random.default_rng()  # a rank knows its chunk alone
    whole = np.round(rng.normal(0, 100, n), 6).astype(dtype)
    return size, np.array_split(whole, size), n


plan |= {
    "many": [job(size, 2 * size + 1) for size in (2, 3, 6, 7, 8)],
    "few": [job(5, 3), job(4, 1), job(3, 0)],
    "types": [
        job(3, 7, np.float32),
        job(3, 61, np.int64),
        job(2, 5, np.int32),
    ],
    "one": [job(1, 5), job(2, 2)],
}
plan["gather apart"] = [
    *(chunks_of(5, 13), chunks_of(5, 3), chunks_of(3, 0), chunks_of(1, 4)),
    *(chunks_of(4, 6, np.float32), chunks_of(2, 61, np.int64)),
]
with check.hidden_case(
    "two to eight ranks",
    hint="all numbers of chunks and ranks modulo P",
    essential=True,
    guard=True,
):
    expect_sums("many")
with check.hidden_case(
    "fewer elements than ranks, or none",
    hint="an empty chunk is sent and put in place as well",
):
    expect_sums("few")
    for (size, _), ranks in outcome("few"):
        sent = [found["messages"] for found in ranks]
        check.equal(
            sent, [2 * (size - 1)] * size, name=f"messages of {size} ranks"
        )
with check.hidden_case(
    "all ranks hold the same bits",
    hint="copy finished chunks; do not add them up once more",
    guard=True,
):
    for _, ranks in outcome("many"):
        for number, found in enumerate(ranks):
            check.equal(
                found["value"],
                ranks[0]["value"],
                name=f"rank {number} beside rank 0",
            )
with check.hidden_case(
    (
        "all-gather by itself: chunks of different lengths, empty ones, "
        "and one rank"
    ),
    hint="Task 1 says where each chunk goes; n is an argument",
):
    for (size, chunks, n), ranks in outcome("gather apart"):
        want = np.concatenate(chunks)
        for number, found in enumerate(ranks):
            title = f"rank {number} of {size}, n = {n}"
            kind = want.dtype.name
            check.close(
                found["value"],
                want,
                rtol=0,
                atol=0,
                dtype=kind,
                name=title,
            )
            check.equal(
                found["messages"],
                size - 1,
                name=f"messages of {title}",
            )
with check.hidden_case(
    "bytes of the vector as it is, float32 or integers",
    hint="in which type do the chunks travel? It is m that is sent about twice",
):
    for (size, xs), ranks in outcome("types"):
        own = [part.nbytes for part in np.array_split(xs[0], size)]
        for me, found in enumerate(ranks):
            want = 2 * sum(own) - own[me] - own[(me + 1) % size]
            title = f"bytes of rank {me} of {size}, {xs[0].dtype}"
            check.equal(found["bytes"], want, name=title)
with check.hidden_case(
    "only neighbours talk",
    hint="to the right, from the left, in both phases",
    guard=True,
):
    for rank, found in four():
        talked = {tuple(step)[1:] for step in found["log"]}
        check.equal(
            talked,
            {((rank + 1) % 4, (rank - 1) % 4)},
            name=f"to and from, rank {rank}",
        )
with check.hidden_case(
    "the dtype stays",
    hint="of which type is the vector that collects the chunks?",
    guard=True,
):
    expect_sums("types")
with check.hidden_case(
    "x and chunk stay as they were",
    hint="neither phase may write into its argument",
    guard=True,
):
    expect_kept()
with check.hidden_case(
    "one rank alone, and two",
    hint="no neighbour, no message: the sum is x",
    guard=True,
):
    expect_sums("one")
    _, (alone,) = outcome("one")[0]
    check.equal(alone["messages"], 0, name="messages of one rank alone")


def twice(name):
    """Return (job, results) of each job, over wires that double messages."""
    outcome(name)
    return doubled[name]


def expect_doubled(found, want, title):
    """Compare a doubled value with what the text's messages make of it."""
    # As above, and what comes far has been doubled often.
    close = {"rtol": 1e-12, "atol": 1e-6}
    if np.dtype(want.dtype) == np.float32:
        close = {"rtol": 1e-5, "atol": 0.1}
    name = f"{title}, when all that comes is doubled"
    check.close(found["value"], want, name=name, **close)


# A part that takes h hops is doubled h times.
# Every job is played over such wires: whoever sees them gains nothing by
# sending what is right only there.
with check.hidden_case(
    "ring_allreduce: what it returns is made of what its own messages bring",
    hint=(
        "it fails with any other case: mend those first; "
        "then, is all of it sent through comm?"
    ),
    weight=4,
):
    for name in ("four", "many", "few", "types"):
        for (size, xs), ranks in twice(name):
            cut = [np.array_split(x, size) for x in xs]
            sums = [
                sum(2**h * cut[c - h][c] for h in range(size))
                for c in range(size)
            ]
            for at, heard in enumerate(ranks):
                want = np.concatenate(
                    [2 ** ((at - c) % size) * sums[c] for c in range(size)]
                )
                expect_doubled(
                    heard, want, f"rank {at} of {size}, n = {len(xs[0])}"
                )
with check.hidden_case(
    "ring_all_gather: what it returns is made of what its own messages bring",
    hint=(
        "it fails with any other case: mend those first; "
        "then, is all of it sent through comm?"
    ),
    weight=4,
):
    for name in ("gather", "gather apart"):
        for (size, chunks, n), ranks in twice(name):
            for at, heard in enumerate(ranks):
                want = [
                    2 ** ((at - c) % size) * part
                    for c, part in enumerate(chunks)
                ]
                expect_doubled(
                    heard, np.concatenate(want), f"rank {at} of {size}, n = {n}"
                )
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## Fewer rounds
#
# ### Task 4. Recursive doubling (2 points)
#
# The ring needs $2(P-1)$ rounds, however small the vector is.
# If $P$ is a power of two there is a way with $\log_2 P$:
# in step $k = 0, 1, \dots$ each rank exchanges all it has collected with rank $r \oplus 2^k$ (`rank ^ 2**k` in Python)
# and adds what comes, the nearest partner first. What it has covers 2, then 4, then 8 ranks.
# Both partners compute the same sum, so all ranks end with the same bits.

# %% [markdown]
# For any $P$ let $Q$ be the largest power of two up to $P$.
# First each surplus rank $Q + i$ sends its vector to rank $i$, which adds it.
# Then the first $Q$ ranks double. Last, rank $i$ sends the sum back to $Q + i$.
#
# `recursive_doubling(comm, x)` returns the sum on every rank, keeps x's dtype and leaves `x` as it was.
# A rank that doubles takes $\log_2 Q$ steps, with one `exchange` each;
# rank $i$ with a surplus partner takes two more, and that partner only two: a `send` and a `recv`.
# With $P = 6$: ranks 0 and 1 take 4 steps, 2 and 3 take 2, 4 and 5 take 2. About 14 lines.


# %% nbgrader={"grade_id": "recursive-doubling", "solution": true}
def recursive_doubling(comm, x: np.ndarray) -> np.ndarray:
    """Return the sum of all ranks' x, shape (n,), on every rank."""
    ### BEGIN SOLUTION
    doubling = 1 << (comm.size.bit_length() - 1)
    if comm.rank >= doubling:
        comm.send(x, comm.rank - doubling)
        return comm.recv(comm.rank - doubling)
    surplus = comm.rank + doubling
    total = x + comm.recv(surplus) if surplus < comm.size else x.copy()
    distance = 1
    while distance < doubling:
        total = total + comm.exchange(
            total, comm.rank ^ distance, comm.rank ^ distance
        )
        distance *= 2
    if surplus < comm.size:
        comm.send(total, surplus)
    return total
    ### END SOLUTION


# %% explore=true
left_half, right_half = plot.panels(2)
draw_messages(logs_of(recursive_doubling, 8), left_half, "Your doubling, P = 8")
draw_messages(
    logs_of(recursive_doubling, 6), right_half, "Your doubling, P = 6"
)

# %% [markdown]
# On the left three rounds; partners are 1, then 2, then 4 apart.
# On the right four: ranks 4 and 5 hand over to 0 and 1, wait, and get the sum back.
# Two more ranks than a power of two cost two more rounds.
#
# Each message is the whole vector, so a rank sends $m \log_2 P$ bytes, where the ring sends less than $2m$.
# Fewer rounds are paid for with more bytes.

# %% nbgrader={"grade_id": "recursive-doubling-check", "grade": true, "points": 2}
import numpy as np

from labkit import check, count


def job(size, n, dtype=np.float64):
    """Return a job for count.collective: random vectors for each rank."""
    draw = np.random.default_rng()  # nobody knows another rank's numbers
    return size, [
        np.round(draw.normal(0, 100, n), 6).astype(dtype) for _ in range(size)
    ]


known, doubled = {}, {}  # results by name, and those over wires that double
launches = {"together": True, "patience": 6}  # seconds for a launch


def play(names):
    """Launch the named jobs together; keep the results of each job's ranks."""
    jobs = [one for name in names for one in plan[name]]
    limit = launches["patience"]
    try:  # the second time, what comes is doubled
        found = count.collective(
            recursive_doubling, jobs, gains=(1, 2), timeout_s=limit
        )
    except Exception as error:
        launches["patience"] = 2 if "still running" in str(error) else limit
        raise
    each = iter(found)
    for results in (known, doubled):
        for name in names:
            results[name] = [(one, next(each)) for one in plan[name]]


def outcome(name):
    """Return (job, ranks' results) of each: of one launch, if it ends well."""
    new = [other for other in plan if other not in known]
    if launches["together"] and name in new:
        try:
            play(new)
        except NotImplementedError as error:
            known.update(dict.fromkeys(new, NotImplementedError(str(error))))
        except Exception:
            # Each name by itself says what fails and what does not.
            launches["together"] = False
    if name not in known:
        try:
            play([name])
        except Exception:
            known[name] = RuntimeError(
                "the same launch failed in a case above, which says why"
            )
            raise
    if isinstance(known[name], Exception):
        raise known[name]
    return known[name]


def expect_sums(name):
    """Compare with NumPy's sum. Float64 rounds at 1e-16, float32 at 1e-7."""
    for (size, xs), ranks in outcome(name):
        want = np.sum(xs, axis=0, dtype=xs[0].dtype)
        close = {"rtol": 1e-12, "atol": 1e-9}
        if want.dtype == np.float32:
            close = {"rtol": 1e-5, "atol": 1e-3}
        for rank, found in enumerate(ranks):
            title = f"rank {rank} of {size}, n = {len(want)}"
            check.close(
                found["value"], want, dtype=want.dtype.name, name=title, **close
            )


def expect_counts(found, title, messages, nbytes, steps):
    """Compare what a rank has counted."""
    check.equal(found["steps"], steps, name=f"steps of {title}")
    check.equal(found["messages"], messages, name=f"messages of {title}")
    check.equal(found["bytes"], nbytes, name=f"bytes of {title}")


def expect_kept():
    """Expect that no rank has changed its x, and that ranks have talked."""
    for name in plan:
        for (size, xs, *_), ranks in outcome(name):
            for rank, found in enumerate(ranks):
                title = f"rank {rank} of {size}, n = {len(xs[rank])}"
                least = min(size - 1, 1)
                check.at_least(
                    found["messages"],
                    least,
                    name=f"messages, {title}",
                )
                check.true(found["kept"], f"x to stay as it was, {title}")


def four():
    """Return number and result of each of four ranks."""
    return list(enumerate(outcome("four")[0][1]))


plan = {"four": [job(4, 10)], "six": [job(6, 5)]}
# central_server, too, returns the sum: guards count beside a case about what
# a rank sends.
with check.case(
    "four ranks: everyone returns the sum",
    hint=(
        "is all that came added, entry by entry, each where it was? "
        "how many ranks does it cover after a step, and after the next?"
    ),
    guard=True,
):
    expect_sums("four")
with check.case(
    "four ranks: 2 messages of 80 bytes, 2 steps",
    hint="log2 P steps, one exchange of the whole vector in each",
):
    for rank, found in four():
        expect_counts(found, f"rank {rank}", 2, 160, 2)
with check.case(
    "six ranks: everyone returns the sum",
    hint=(
        "4 and 5 send to 0 and 1 first; "
        "these send the sum back when the doubling is done"
    ),
    guard=True,
):
    expect_sums("six")
with check.case(
    "six ranks: who takes how many steps",
    hint=(
        "0 and 1: recv, two exchanges, send; "
        "2 and 3: two exchanges; 4 and 5: send, recv"
    ),
):
    ranks = outcome("six")[0][1]
    for rank, (messages, steps) in enumerate(
        [(3, 4)] * 2 + [(2, 2)] * 2 + [(1, 2)] * 2
    ):
        expect_counts(
            ranks[rank], f"rank {rank}", messages, 40 * messages, steps
        )
### BEGIN HIDDEN TESTS
plan |= {
    "powers": [job(2, 7), job(8, 60)],
    "odd": [job(3, 4), job(5, 4), job(7, 60)],
    "types": [
        job(3, 7, np.float32),
        job(3, 61, np.int64),
        job(2, 5, np.int32),
        job(3, 0),
    ],
    "one": [job(1, 5), job(2, 2)],
    "single": [job(8, 60, np.float32), job(6, 60, np.float32)],
}
with check.hidden_case(
    "two and eight ranks",
    hint="distances 1, 2, 4, ... below Q",
    essential=True,
    guard=True,
):
    expect_sums("powers")
with check.hidden_case(
    "two and eight ranks: log2 P messages of m bytes",
    hint="one exchange for each distance",
    essential=True,
):
    (_, two), (_, eight) = outcome("powers")
    for rank, found in enumerate(two):
        expect_counts(found, f"rank {rank} of 2", 1, 56, 1)
    for rank, found in enumerate(eight):
        expect_counts(found, f"rank {rank} of 8", 3, 1440, 3)
with check.hidden_case(
    "three, five and seven ranks",
    hint="Q is 2, 4, 4: rank Q + i belongs to rank i",
    guard=True,
):
    expect_sums("odd")
with check.hidden_case(
    "three, five and seven ranks: messages, bytes and steps",
    hint=(
        "rank i with a partner: log2 Q + 2 steps and log2 Q + 1 messages; "
        "the partner 2 and 1"
    ),
):
    for ((size, xs), ranks), q in zip(outcome("odd"), (2, 4, 4), strict=True):
        for number, found in enumerate(ranks):
            steps = (
                {2: 1, 4: 2}[q] + (2 if number + q < size else 0)
                if number < q
                else 2
            )
            sent = steps - (1 if number + q < size or number >= q else 0)
            title = f"rank {number} of {size}"
            expect_counts(found, title, sent, sent * xs[0].nbytes, steps)
with check.hidden_case(
    "all ranks hold the same bits",
    hint=(
        "the partner is rank ^ distance, both ways: "
        "then both add the same two vectors"
    ),
    guard=True,
):
    alike = (outcome("odd")[2], outcome("powers")[1], *outcome("single"))
    for _, ranks in alike:
        for number, found in enumerate(ranks):
            check.equal(
                found["value"],
                ranks[0]["value"],
                name=f"rank {number} beside rank 0",
            )
with check.hidden_case(
    "the nearest partner comes first", hint="step k: rank ^ 2**k, k from 0 on"
):
    for number, found in enumerate(outcome("powers")[1][1]):
        partners = [tuple(step)[1] for step in found["log"]]
        want = [number ^ 1, number ^ 2, number ^ 4]
        check.equal(partners, want, name=f"partners of rank {number}")
with check.hidden_case(
    "the dtype stays, also without an element",
    hint="in which type does the total begin?",
    guard=True,
):
    expect_sums("types")
with check.hidden_case(
    "x stays as it was",
    hint="a total that is x itself must not be added to in place",
    guard=True,
):
    expect_kept()
with check.hidden_case(
    "one rank alone, and two",
    hint="one rank has Q = 1: nothing to exchange",
    guard=True,
):
    expect_sums("one")
    _, (alone,) = outcome("one")[0]
    check.equal(alone["messages"], 0, name="messages of one rank alone")


def twice(name):
    """Return (job, results) of each job, over wires that double messages."""
    outcome(name)
    return doubled[name]


def expect_doubled(found, want, title):
    """Compare a doubled value with what the text's messages make of it."""
    # As above, and what comes far has been doubled often.
    close = {"rtol": 1e-12, "atol": 1e-6}
    if np.dtype(want.dtype) == np.float32:
        close = {"rtol": 1e-5, "atol": 0.1}
    name = f"{title}, when all that comes is doubled"
    check.close(found["value"], want, name=name, **close)


def played(xs):
    """Return what each rank has in the end, if all that comes is doubled."""
    size, q = len(xs), 1 << (len(xs).bit_length() - 1)
    have = [xs[r] + 2 * xs[q + r] if q + r < size else xs[r] for r in range(q)]
    for k in range(q.bit_length() - 1):
        have = [have[r] + 2 * have[r ^ 2**k] for r in range(q)]
    return have + [2 * have[r] for r in range(size - q)]


# Every job is played over such wires: whoever sees them gains nothing by
# doing right only there.
with check.hidden_case(
    "what it returns is made of what its own messages bring",
    hint=(
        "it fails with any other case: mend those first; "
        "then, is all of it sent through comm?"
    ),
    weight=4,
):
    for name in ("four", "six", "powers", "odd", "types"):
        for (size, xs), ranks in twice(name):
            for at, (heard, want) in enumerate(
                zip(ranks, played(xs), strict=True)
            ):
                expect_doubled(
                    heard, want, f"rank {at} of {size}, n = {len(xs[0])}"
                )
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 5. Broadcast along a tree (2 points)
#
# Before the first step all ranks need the same weights, those of one rank, the *root*.
# If the root sends to everyone in turn, it takes $P-1$ rounds.
# If everyone who has the weights helps, the number of ranks that have them doubles in every round.
#
# Number the ranks from the root, $v = (r - \mathtt{root}) \bmod P$, so that the root has $v = 0$.
# In round $k = 0, 1, \dots$ each rank with $v < 2^k$ sends to the rank with $v + 2^k$, if there is one.
# Another order will do that needs no more messages, steps and rounds.
#
# `tree_broadcast(comm, x, root)` returns the root's `x` on every rank, by `send` and `recv`.
# On the others `x` is ignored; it may be `None`.
# $P-1$ messages in all, at most $\lceil \log_2 P \rceil$ steps a rank, and as many rounds. About 9 lines.


# %% nbgrader={"grade_id": "tree-broadcast", "solution": true}
def tree_broadcast(comm, x, root: int) -> np.ndarray:
    """Return the root's x on every rank; x of the others is ignored."""
    ### BEGIN SOLUTION
    place = (comm.rank - root) % comm.size
    reach = 1
    while reach < comm.size:
        if place < reach and place + reach < comm.size:
            comm.send(x, (comm.rank + reach) % comm.size)
        elif reach <= place < 2 * reach:
            x = comm.recv((comm.rank - reach) % comm.size)
        reach *= 2
    return x
    ### END SOLUTION


# %% explore=true
left_half, right_half = plot.panels(2)
draw_messages(
    logs_of(tree_broadcast, 8, 64, 0), left_half, "Your tree, P = 8, root 0"
)
draw_messages(
    logs_of(tree_broadcast, 6, 64, 2), right_half, "Your tree, P = 6, root 2"
)

# %% [markdown]
# On the left one arrow in the first round, then two, then four: 7 messages for 7 ranks that need the vector.
# Three rounds, as many as recursive doubling took, but half of the ranks send nothing at all.
# On the right the root is 2, and the last round has two arrows only.
#
# The same arrows backwards, with sums, are a *reduction* to the root.
# A reduction and a broadcast together are one more all-reduce, in $2\lceil\log_2 P\rceil$ rounds.

# %% nbgrader={"grade_id": "tree-broadcast-check", "grade": true, "points": 2}
import numpy as np

from labkit import check, count


def job(size, root, n=6, dtype=np.float64):
    """Return a job for count.collective: only the root has something to say."""
    draw = np.random.default_rng()  # nobody knows what the root has to say
    said = np.round(draw.normal(0, 100, n), 6).astype(dtype)
    return size, [said if rank == root else None for rank in range(size)], root


known, doubled = {}, {}  # results by name, and those over wires that double
launches = {"together": True, "patience": 6}  # seconds for a launch


def play(names):
    """Launch the named jobs together; keep the results of each job's ranks."""
    jobs = [one for name in names for one in plan[name]]
    limit = launches["patience"]
    try:  # the second time, what comes is doubled
        found = count.collective(
            tree_broadcast, jobs, gains=(1, 2), timeout_s=limit
        )
    except Exception as error:
        launches["patience"] = 2 if "still running" in str(error) else limit
        raise
    each = iter(found)
    for results in (known, doubled):
        for name in names:
            results[name] = [(one, next(each)) for one in plan[name]]


def outcome(name):
    """Return (job, ranks' results) of each: of one launch, if it ends well."""
    new = [other for other in plan if other not in known]
    if launches["together"] and name in new:
        try:
            play(new)
        except NotImplementedError as error:
            known.update(dict.fromkeys(new, NotImplementedError(str(error))))
        except Exception:
            # Each name by itself says what fails and what does not.
            launches["together"] = False
    if name not in known:
        try:
            play([name])
        except Exception:
            known[name] = RuntimeError(
                "the same launch failed in a case above, which says why"
            )
            raise
    if isinstance(known[name], Exception):
        raise known[name]
    return known[name]


def expect_values(name):
    """Expect the root's vector, as it was sent, on every rank."""
    for (size, xs, root), ranks in outcome(name):
        for rank, found in enumerate(ranks):
            title = f"rank {rank} of {size}, root {root}"
            kind = xs[root].dtype.name
            check.close(
                found["value"],
                xs[root],
                rtol=0,
                atol=0,
                dtype=kind,
                name=title,
            )


def expect_counts(name):
    """Expect P - 1 messages of all ranks together, and few steps of each."""
    for (size, xs, root), ranks in outcome(name):
        title = f"P = {size}, root {root}"
        check.equal(
            sum(found["messages"] for found in ranks),
            size - 1,
            name=f"messages, {title}",
        )
        nbytes = (size - 1) * xs[root].nbytes
        check.equal(
            sum(found["bytes"] for found in ranks),
            nbytes,
            name=f"bytes, {title}",
        )
        for rank, found in enumerate(ranks):
            limit = (size - 1).bit_length()  # log2 of the size, rounded up
            check.at_most(
                found["steps"], limit, name=f"steps of rank {rank}, {title}"
            )


plan = {"four": [job(4, 0)], "five": [job(5, 3)]}
with check.case(
    "four ranks, root 0: everyone has the root's vector",
    hint=(
        "v sends to v + 1, then to v + 2; "
        "who receives does so before it sends on, and returns it"
    ),
):
    expect_values("four")
with check.case(
    "four ranks: 3 messages in all, at most 2 steps a rank",
    hint="each rank but the root receives once; in round k only v < 2**k send",
):
    expect_counts("four")
with check.case(
    "five ranks, root 3: everyone has the root's vector",
    hint=(
        "counted from the root: who has no partner in a round? which rank "
        "is a partner then, modulo P?"
    ),
):
    expect_values("five")
### BEGIN HIDDEN TESTS


def rounds(logs, root):
    """Return when all have it, if a message takes 1 once both are ready."""
    ready, at, moved = {root: 0}, [0] * len(logs), True
    while moved:
        moved = False
        for who, log in enumerate(logs):
            if who in ready and at[who] < len(log):
                _, to, _ = log[at[who]]
                if to is not None and to not in ready:
                    ready[who] += 1
                    ready[to] = ready[who]
                at[who] += 1
                moved = True
    return max(ready.values())


size, xs, root = job(3, 2)
matrix = job(3, 1)
matrix[1][1] = np.arange(6.0).reshape(1, 6)  # one row stays a row
plan |= {
    "many": [job(8, 0), job(7, 5), job(6, 1), job(3, 2), job(2, 1)],
    "crowd": [
        (
            size,
            [np.full(3, rank) if x is None else x for rank, x in enumerate(xs)],
            root,
        )
    ],
    "types": [
        job(3, 0, dtype=np.float32),
        job(3, 2, 61, np.int64),
        matrix,
        job(4, 1, 0),
    ],
    "one": [job(1, 0), job(2, 0)],
}
# Each rank is ready one round after its parent began to send to it.
with check.hidden_case(
    "as many rounds as the logarithm says",
    hint=(
        "everyone who has the vector helps: "
        "a chain takes P - 1 rounds, and so does one sender"
    ),
    essential=True,
    guard=True,
):
    for (size, _, root), ranks in outcome("many"):
        took = rounds([found["log"] for found in ranks], root)
        check.at_most(
            took,
            (size - 1).bit_length(),
            name=f"rounds for P = {size}, root {root}",
        )
with check.hidden_case(
    "two to eight ranks, any root",
    hint="all ranks modulo P, v from the root",
    essential=True,
):
    expect_values("many")
with check.hidden_case(
    "two to eight ranks: messages and steps",
    hint="who has no partner in a round sends nothing",
):
    expect_counts("many")
with check.hidden_case(
    "what others hold is ignored", hint="return what came, not your own x"
):
    expect_values("crowd")
with check.hidden_case(
    "other dtypes, a matrix, no element",
    hint="send x as it is, whatever its shape",
):
    expect_values("types")
with check.hidden_case(
    "one rank alone, and two",
    hint="nobody to send to: the root has it",
):
    expect_values("one")


def hops(ranks, root):
    """Return over how many messages each rank got the vector, by the logs."""
    far, parents = {root: 0}, {}
    for at, heard in enumerate(ranks):
        parents[at] = [
            source for _, _, source in heard["log"] if source is not None
        ]
    for _ in ranks:
        far |= {
            r: far[p[0]] + 1
            for r, p in parents.items()
            if r != root and p and p[0] in far
        }
    check.equal(
        sorted(far),
        list(range(len(ranks))),
        name="ranks that a message reaches",
    )
    return far


# Every job is played over such wires: whoever sees them gains nothing by
# doing right only there.
with check.hidden_case(
    "what it returns is made of what its own messages bring",
    hint=(
        "it fails with any other case: mend those first; "
        "then, is all of it sent through comm?"
    ),
    weight=4,
):
    for name in ("four", "five", "many", "crowd", "types"):
        outcome(name)
        for (size, xs, root), ranks in doubled[name]:
            for rank, far in hops(ranks, root).items():
                title = (
                    f"rank {rank} of {size}, root {root}, "
                    "when all that comes is doubled"
                )
                check.equal(ranks[rank]["value"], 2**far * xs[root], name=title)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## Servers
#
# ### Task 6. A parameter server, shared out (2 points)
#
# A *parameter server* takes everyone's gradient, adds, and gives the sum back.
# Below, rank 0 serves all of the vector: `central_server` is given, and you will see what is wrong with it.
# In a *sharded* one rank $r$ serves chunk $r$.
#
# `parameter_server_exchange(comm, x)` returns the sum on every rank, in two phases:
# every rank sends each other rank that one's chunk of `x`, and adds up what comes for its own;
# then it sends its finished chunk to every other rank, and puts theirs in place.
# If rank $r$ sends to $(r+d) \bmod P$ and receives from $(r-d) \bmod P$ in a single `exchange`, for $d = 1, \dots, P-1$,
# nobody waits in a circle.
#
# $2(P-1)$ messages a rank, empty chunks included, two to each other rank.
# Keep x's dtype, and leave `x` as it was. About 13 lines.

# %% nbgrader={"grade_id": "central-server", "locked": true}


def central_server(comm, x: np.ndarray) -> np.ndarray:
    """Return the sum of all ranks' x; rank 0 adds them up."""
    if comm.rank > 0:
        comm.send(x, 0)
        return comm.recv(0)
    total = x.copy()
    for worker in range(1, comm.size):
        total += comm.recv(worker)
    for worker in range(1, comm.size):
        comm.send(total, worker)
    return total


# %% nbgrader={"grade_id": "parameter-server-exchange", "solution": true}
def parameter_server_exchange(comm, x: np.ndarray) -> np.ndarray:
    """Return the sum of all x, (n,), on every rank; rank r adds up chunk r."""
    ### BEGIN SOLUTION
    rank, size = comm.rank, comm.size
    bounds = chunk_bounds(len(x), size)
    own = x[slice(*bounds[rank])].copy()
    for distance in range(1, size):
        server = (rank + distance) % size
        own += comm.exchange(
            x[slice(*bounds[server])], server, (rank - distance) % size
        )
    whole = np.empty_like(x)
    whole[slice(*bounds[rank])] = own
    for distance in range(1, size):
        server = (rank - distance) % size
        came = comm.exchange(own, (rank + distance) % size, server)
        whole[slice(*bounds[server])] = came
    return whole
    ### END SOLUTION


# %% explore=true
schemes = {
    "ring": ring_allreduce,
    "doubling": recursive_doubling,
    "sharded server": parameter_server_exchange,
    "central server": central_server,
}
rank_counts = np.arange(2, 9)
# 840 = 3 * 5 * 7 * 8
counting = [(int(p), [np.ones(840, np.float32)] * p) for p in rank_counts]
busiest = {}
for name, scheme in schemes.items():
    sent = [
        max(done["bytes"] for done in ranks)
        for ranks in count.collective(scheme, counting)
    ]
    busiest[name] = rank_counts, np.array(sent) / 3360
ax = plot.curves(
    busiest,
    xlabel="ranks P",
    ylabel="bytes sent, in units of m",
    title="What the busiest rank sends to add up m bytes, counted",
)
# The ring, seen on both sides of the sharded server.
ax.lines[0].set(linewidth=8, alpha=0.35)
print("P                    " + "".join(f"{p:6d}" for p in rank_counts))
for name, (_, units) in busiest.items():
    print(f"{name:20} " + "".join(f"{value:6.2f}" for value in units))

# %% [markdown]
# The central server's link grows with every worker: $(P-1)\,m$ out, and as much in.
# Seven of eight ranks send only $m$ and wait for the eighth: a *hot link*.
# The sharded server moves as many bytes in all, but spreads them:
# each rank sends $2m(P-1)/P$, less than $2m$ for any $P$.
# That is the same as in the ring, whose wide line lies under the server's.
# Less is not possible for the busiest rank (Patarasuk & Yuan 2009).
#
# Doubling lies between from four ranks on. Its busiest rank sends $\lceil \log_2 P \rceil$ times the vector:
# as soon as $P$ passes a power of two, some ranks send it once more, to their surplus partner.

# %% nbgrader={"grade_id": "parameter-server-check", "grade": true, "points": 2}
import numpy as np

from labkit import check, count


def job(size, n, dtype=np.float64):
    """Return a job for count.collective: random vectors for each rank."""
    draw = np.random.default_rng()  # nobody knows another rank's numbers
    return size, [
        np.round(draw.normal(0, 100, n), 6).astype(dtype) for _ in range(size)
    ]


known, doubled = {}, {}  # results by name, and those over wires that double
launches = {"together": True, "patience": 6}  # seconds for a launch


def play(names):
    """Launch the named jobs together; keep the results of each job's ranks."""
    jobs = [one for name in names for one in plan[name]]
    limit = launches["patience"]
    try:  # the second time, what comes is doubled
        found = count.collective(
            parameter_server_exchange, jobs, gains=(1, 2), timeout_s=limit
        )
    except Exception as error:
        launches["patience"] = 2 if "still running" in str(error) else limit
        raise
    each = iter(found)
    for results in (known, doubled):
        for name in names:
            results[name] = [(one, next(each)) for one in plan[name]]


def outcome(name):
    """Return (job, ranks' results) of each: of one launch, if it ends well."""
    new = [other for other in plan if other not in known]
    if launches["together"] and name in new:
        try:
            play(new)
        except NotImplementedError as error:
            known.update(dict.fromkeys(new, NotImplementedError(str(error))))
        except Exception:
            # Each name by itself says what fails and what does not.
            launches["together"] = False
    if name not in known:
        try:
            play([name])
        except Exception:
            known[name] = RuntimeError(
                "the same launch failed in a case above, which says why"
            )
            raise
    if isinstance(known[name], Exception):
        raise known[name]
    return known[name]


def expect_sums(name):
    """Compare with NumPy's sum. Float64 rounds at 1e-16, float32 at 1e-7."""
    for (size, xs), ranks in outcome(name):
        want = np.sum(xs, axis=0, dtype=xs[0].dtype)
        close = {"rtol": 1e-12, "atol": 1e-9}
        if want.dtype == np.float32:
            close = {"rtol": 1e-5, "atol": 1e-3}
        for rank, found in enumerate(ranks):
            title = f"rank {rank} of {size}, n = {len(want)}"
            check.close(
                found["value"], want, dtype=want.dtype.name, name=title, **close
            )


def expect_bytes(name):
    """Expect every chunk but the own one once, and the own one P - 1 times."""
    for (size, xs), ranks in outcome(name):
        for rank, found in enumerate(ranks):
            own = np.array_split(xs[0], size)[rank].nbytes
            want = xs[0].nbytes - own + (size - 1) * own
            check.equal(
                found["bytes"], want, name=f"bytes of rank {rank} of {size}"
            )


def expect_kept():
    """Expect that no rank has changed its x, and that ranks have talked."""
    for name in plan:
        for (size, xs, *_), ranks in outcome(name):
            for rank, found in enumerate(ranks):
                title = f"rank {rank} of {size}, n = {len(xs[rank])}"
                least = min(size - 1, 1)
                check.at_least(
                    found["messages"],
                    least,
                    name=f"messages, {title}",
                )
                check.true(found["kept"], f"x to stay as it was, {title}")


def four():
    """Return number and result of each of four ranks."""
    return list(enumerate(outcome("four")[0][1]))


plan = {"four": [job(4, 10)]}
# central_server, too, returns the sum: guards count beside a case about what
# a rank sends.
with check.case(
    "four ranks: everyone returns the sum",
    hint=(
        "first others' chunks go out and your own grows; "
        "then finished chunks go out"
    ),
    guard=True,
):
    expect_sums("four")
with check.case(
    "four ranks: 6 messages each",
    hint="P - 1 in each phase, one to each other rank",
):
    for rank, found in four():
        check.equal(found["messages"], 6, name=f"messages of rank {rank}")
with check.case(
    "four ranks: each message is one chunk",
    hint=(
        "first the chunk that the other rank serves, "
        "then your own finished chunk; never all of x"
    ),
    essential=True,
):
    expect_bytes("four")
with check.case(
    (
        "each chunk goes straight to its server and back: "
        "two messages to each other rank"
    ),
    hint="not round a ring, and not all by way of rank 0",
):
    for rank, found in four():
        went = sorted(to for _, to, _ in found["log"] if to is not None)
        want = sorted([other for other in range(4) if other != rank] * 2)
        check.equal(went, want, name=f"to whom rank {rank} sent")
### BEGIN HIDDEN TESTS
plan |= {
    "many": [job(size, 2 * size) for size in (2, 6, 7)],
    "uneven": [job(4, 11), job(5, 3), job(5, 13), job(3, 0)],
    "types": [
        job(3, 7, np.float32),
        job(3, 61, np.int64),
        job(2, 5, np.int32),
    ],
    "one": [job(1, 5), job(2, 2)],
}
with check.hidden_case(
    "two to seven ranks",
    hint="all numbers of ranks modulo P",
    essential=True,
    guard=True,
):
    expect_sums("many")
with check.hidden_case(
    "chunks of different lengths, empty ones, and no element at all",
    hint=(
        "what comes in phase one has the length of your own chunk, "
        "in phase two of the sender's"
    ),
    guard=True,
):
    expect_sums("uneven")
with check.hidden_case(
    "messages and bytes with chunks of different lengths",
    hint="2 (P - 1) messages also if chunks are empty",
):
    expect_bytes("uneven")
    expect_bytes("types")
    for (size, _), ranks in outcome("uneven"):
        for number, found in enumerate(ranks):
            check.equal(
                found["messages"],
                2 * (size - 1),
                name=f"messages of rank {number} of {size}",
            )
with check.hidden_case(
    "all ranks hold the same bits",
    hint="each chunk is added up by its server only, then copied",
    guard=True,
):
    for _, ranks in outcome("many"):
        for number, found in enumerate(ranks):
            check.equal(
                found["value"],
                ranks[0]["value"],
                name=f"rank {number} beside rank 0",
            )
with check.hidden_case(
    "the dtype stays",
    hint="in which type are chunks added up, and the whole put together?",
    guard=True,
):
    expect_sums("types")
with check.hidden_case(
    "x stays as it was",
    hint="a slice of x is a view: what is added to it in place is added to x",
    guard=True,
):
    expect_kept()
with check.hidden_case(
    "one rank alone, and two",
    hint="nobody else: the sum is x, without a message",
    guard=True,
):
    expect_sums("one")
    _, (alone,) = outcome("one")[0]
    check.equal(alone["messages"], 0, name="messages of one rank alone")


def twice(name):
    """Return (job, results) of each job, over wires that double messages."""
    outcome(name)
    return doubled[name]


def expect_doubled(found, want, title):
    """Compare a doubled value with what the text's messages make of it."""
    # As above, and what comes far has been doubled often.
    close = {"rtol": 1e-12, "atol": 1e-6}
    if np.dtype(want.dtype) == np.float32:
        close = {"rtol": 1e-5, "atol": 0.1}
    name = f"{title}, when all that comes is doubled"
    check.close(found["value"], want, name=name, **close)


# Every job is played over such wires: whoever sees them gains nothing by
# doing right only there.
with check.hidden_case(
    "what it returns is made of what its own messages bring",
    hint=(
        "it fails with any other case: mend those first; "
        "then, is all of it sent through comm?"
    ),
    weight=4,
):
    for name in ("four", "many", "uneven", "types"):
        for (size, xs), ranks in twice(name):
            cut = [np.array_split(x, size) for x in xs]
            sums = [
                2 * sum(cut[r][c] for r in range(size)) - cut[c][c]
                for c in range(size)
            ]
            for at, heard in enumerate(ranks):
                want = np.concatenate(
                    [(1 + (c != at)) * sums[c] for c in range(size)]
                )
                expect_doubled(
                    heard, want, f"rank {at} of {size}, n = {len(xs[0])}"
                )
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## What a message costs
#
# The simplest useful model: a message of $m$ bytes takes $\alpha + \beta m$ seconds.
# $\alpha$ is what an empty message takes, the *latency*; $1/\beta$ is the *bandwidth* in bytes a second.

# %% [markdown]
# ### Task 7. Alpha and beta (2 points)
#
# `AlphaBeta.fit(m, seconds)` takes measured sizes and times, two vectors, and leaves both as they are.
# It sets `self.alpha` and `self.beta` to what minimises the sum of squared *relative* errors,
#
# $$\sum_i \left(\frac{\alpha + \beta m_i - t_i}{t_i}\right)^2 .$$
#
# Without the division a one-byte message would hardly count beside one of a megabyte,
# and the noise of the large ones would decide about $\alpha$.
# Dividing the rows of the least-squares problem, $[1, m_i]$ and $t_i$, by $t_i$ does it; `np.linalg.lstsq` solves it.
# `predict(m)` returns $\alpha + \beta m$, from these two attributes, for a number or an array, which stays as it is.
# Times of 1, 2 and 3 s for 0, 1 and 2 bytes give $\alpha = \beta = 1$. About 5 lines.


# %% nbgrader={"grade_id": "alpha-beta", "solution": true}
class AlphaBeta:
    """A message of m bytes takes alpha + beta m seconds."""

    def fit(self, m, seconds) -> None:
        """Set alpha, beta by least squares on relative errors; shapes (k,)."""
        ### BEGIN SOLUTION
        m, seconds = (
            np.asarray(m, dtype=np.float64),
            np.asarray(seconds, dtype=np.float64),
        )
        rows = np.column_stack([1 / seconds, m / seconds])
        (alpha, beta), *_ = np.linalg.lstsq(rows, np.ones(len(m)), rcond=None)
        self.alpha, self.beta = float(alpha), float(beta)
        ### END SOLUTION

    def predict(self, m):
        """Return the seconds that a message of m bytes takes."""
        ### BEGIN SOLUTION
        return self.alpha + self.beta * np.asarray(m)
        ### END SOLUTION


# %% [markdown]
# Two ranks play ping-pong: half of a round trip is one message.
# Of 40 round trips for each size the fastest is kept, the one that nobody interrupted.

# %% nbgrader={"grade_id": "ping-pong", "locked": true}


def ping_pong(rank, world_size, sizes, repeat=40):
    """Return the seconds of a message of each size, the fastest of `repeat`."""
    comm, fastest = Communicator(), np.full(len(sizes), np.inf)
    for _ in range(repeat):
        # In turn: a slow spell of the machine hits all sizes.
        # Downwards: what comes right after the largest message takes longer,
        # and the largest itself comes after the smallest.
        for i in reversed(range(len(sizes))):
            array = np.zeros(sizes[i], np.uint8)
            start = time.perf_counter()
            if rank == 0:
                comm.send(array, 1)
                comm.recv(1)
            else:
                comm.recv(0)
                comm.send(array, 0)
            fastest[i] = min(fastest[i], (time.perf_counter() - start) / 2)
    return fastest


# %% explore=true
sizes = 4 ** np.arange(12)  # 1 byte to 4 MiB
measured = launch(ping_pong, 2, sizes.tolist())[0]
loopback = AlphaBeta()
loopback.fit(sizes, measured)
undivided = np.polyval(np.polyfit(sizes, measured, 1), sizes)
ax = plot.curves(
    {
        "measured": (sizes, measured * 1e3),
        "your fit": (sizes, loopback.predict(sizes) * 1e3),
    },
    xlabel="size of the message",
    ylabel="milliseconds",
    title="One message between two processes of this machine",
    logx=True,
    logy=True,
)
ax.set_xticks([1, 2**10, 2**20], ["1 byte", "1 KiB", "1 MiB"])
ax.set_xticks([], minor=True)
bend = loopback.alpha / loopback.beta / 1024
ax.axvline(1024 * bend, color="0.5", linestyle=":")
print(
    f"alpha {loopback.alpha * 1e6:.0f} µs, "
    f"1 / beta {1e-9 / loopback.beta:.2f} GB/s: they meet at {bend:.0f} KiB"
)
for what, fitted in (
    ("your fit", loopback.predict(sizes)),
    ("without the division", undivided),
):
    off = fitted / measured - 1
    print(f"{what:20}: {off[0]:+.1%} at 1 byte, {off[-1]:+.1%} at 4 MiB")

# %% [markdown]
# On the left the curve is flat: a byte costs about as much as a thousand, and $\alpha$ is all. On the right only bytes count.
# The model bends where the two are equal, at $\alpha/\beta$ bytes, the dotted line; real links bend less neatly,
# and their slope changes where messages outgrow a cache: points may lie off by a third or more, the largest too.
#
# Without the division the largest messages decide:
# the last line hits 4 MiB nearly exactly, whatever that costs at the other end,
# for a small share of the time of 4 MiB is more than the whole time of a byte.
# At 1 byte it may be far off, on a noisy machine by more than the whole time, or near by luck.
# Your fit counts a share of the time alike everywhere, so it gives a little at each.

# %% nbgrader={"grade_id": "alpha-beta-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


def fitted(m, seconds):
    """Return alpha and beta of the student's fit."""
    model = AlphaBeta()
    model.fit(np.array(m), np.array(seconds))
    return model.alpha, model.beta


with check.case(
    "the worked example",
    hint=(
        "two columns, 1 and m; alpha belongs to the first, beta to the second; "
        "divide the right-hand side too"
    ),
):
    alpha, beta = fitted([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    check.close(alpha, 1.0, rtol=1e-6, name="alpha")
    check.close(beta, 1.0, rtol=1e-6, name="beta")
with check.case(
    "times that follow the model exactly, microseconds and gigabytes",
    hint="no rounding, no units: seconds and bytes go in as they are",
):
    m = np.array([1.0, 1e3, 1e6, 1e9])
    alpha, beta = fitted(m, 5e-5 + 8e-10 * m)
    check.close(alpha, 5e-5, rtol=1e-6, atol=0, name="alpha")
    check.close(beta, 8e-10, rtol=1e-6, atol=0, name="beta")
with check.case(
    "predict is alpha + beta m",
    hint="the text's formula, with the attributes as they are now",
):
    model, m = AlphaBeta(), np.array([0.0, 4.0, 12345.678])
    model.alpha, model.beta = 2.0, 0.1
    want = [2.0, 2.4, 1236.5678]
    check.close(model.predict(m), want, rtol=1e-12, name="seconds")
with check.case(
    "a small message counts as much as a large one",
    hint=(
        "divide both columns and the right-hand side by the times, "
        "before the least squares"
    ),
):
    alpha, beta = fitted([1.0, 2.0, 4.0], [1.0, 2.0, 8.0])
    check.close(alpha, -8 / 13, rtol=1e-9, name="alpha")
    check.close(beta, 20 / 13, rtol=1e-9, name="beta")
    sizes, times = [0.0, 10.0, 1e6, 2e6], [1.0, 1.2, 99.0, 230.0]
    alpha, beta = fitted(sizes, times)
    check.close(alpha, 1.08132468285, rtol=1e-9, name="alpha")
    check.close(beta, 1.0496379429598e-4, rtol=1e-9, atol=0, name="beta")
### BEGIN HIDDEN TESTS


def by_hand(m, seconds):
    """Solve the two normal equations of the weighted problem."""
    m, weight = np.asarray(m, float), 1 / np.asarray(seconds, float) ** 2
    one, first, second = (
        weight.sum(),
        (weight * m).sum(),
        (weight * m * m).sum(),
    )
    right, right_m = (weight * seconds).sum(), (weight * m * seconds).sum()
    determinant = one * second - first * first
    return (
        (right * second - right_m * first) / determinant,
        (one * right_m - first * right) / determinant,
    )


# Both ways solve the same 2 x 2 problem;
# they differ by rounding, some 1e-12 here.
with check.hidden_case(
    "noisy times over six decades",
    hint="what is squared is (alpha + beta m - t) / t: divide by t once",
    essential=True,
):
    draw = np.random.default_rng(1)
    sizes = 3.7 ** np.arange(12)
    times = (2e-4 + 1e-9 * sizes) * draw.uniform(0.7, 1.4, 12)
    both = fitted(sizes, times)
    check.close(
        both,
        by_hand(sizes, times),
        rtol=1e-9,
        atol=0,
        name="alpha and beta",
    )
with check.hidden_case(
    "a line that falls, or begins below 0",
    hint="the least squares as they are, whatever their signs",
):
    for times in ([3.0, 2.0, 1.5], [0.5, 3.0, 9.0]):
        both = fitted([1.0, 2.0, 4.0], times)
        want = by_hand([1.0, 2.0, 4.0], times)
        check.close(both, want, rtol=1e-9, name="alpha and beta")
with check.hidden_case(
    "sizes in any order, some measured more than once",
    hint="the sum goes over all measurements, each size with its own time",
):
    sizes, times = [5.0, 1.0, 9.0, 1.0, 1.0], [3.0, 1.0, 7.0, 2.0, 1.5]
    both, want = fitted(sizes, times), by_hand(sizes, times)
    check.close(both, want, rtol=1e-9, name="alpha and beta")
    sizes, times = [4, 1, 2, 1], [6, 3, 5, 3]
    both, want = fitted(sizes, times), by_hand(sizes, times)
    check.close(both, want, rtol=1e-9, name="alpha and beta, of integers")
with check.hidden_case(
    "two measurements", hint="two points, one line through both"
):
    alpha, beta = fitted([100.0, 300.0], [0.5, 0.9])
    check.close(alpha, 0.3, rtol=1e-6, name="alpha")
    check.close(beta, 0.002, rtol=1e-6, name="beta")
with check.hidden_case(
    "sizes are integers",
    hint="an array of integers rounds what is written into it",
):
    both = fitted(np.array([1, 2, 4]), np.array([3, 4, 6]))
    check.close(both, [2.0, 1.0], rtol=1e-6, name="alpha and beta")
with check.hidden_case(
    "predict for one number, and for some in any order",
    hint="a number has no length and no shape; an array keeps its order",
):
    model = AlphaBeta()
    model.fit(np.array([0.0, 2.0]), np.array([1.0, 5.0]))
    check.close(model.predict(10), 21.0, rtol=1e-6, name="seconds")
    model.alpha, model.beta = 0.5, 0.25
    found = model.predict(np.array([3, 1000, 1, 3]))
    want = [1.25, 250.5, 0.75, 1.25]
    check.close(found, want, name="seconds of whole bytes")
    check.close(model.predict(3), 1.25, name="seconds of three bytes")
with check.hidden_case(
    "predict leaves its argument and its earlier results alone",
    hint="each call makes an array of its own",
):
    model, m = AlphaBeta(), np.array([1.0, 2.0])
    model.alpha, model.beta = 3.0, 4.0
    with check.unchanged("compute with m, write nothing into it", m=m):
        first = model.predict(m)
    second = model.predict(np.array([5.0, 6.0]))
    check.close(first, [7.0, 11.0], name="the first seconds")
    check.close(second, [23.0, 27.0], name="the second seconds")
with check.hidden_case(
    "a second fit replaces the first", hint="set alpha and beta anew"
):
    model = AlphaBeta()
    model.fit(np.array([0.0, 2.0]), np.array([1.0, 5.0]))
    model.fit(np.array([0.0, 1.0]), np.array([3.0, 4.0]))
    check.close(
        [model.alpha, model.beta], [3.0, 1.0], rtol=1e-6, name="alpha and beta"
    )
with check.hidden_case(
    "a second model leaves the first as it was",
    hint=(
        "each model keeps numbers of its own, "
        "and a class is shared by its models"
    ),
):
    model, second = AlphaBeta(), AlphaBeta()
    model.fit(np.array([0.0, 2.0]), np.array([1.0, 5.0]))
    second.fit(np.array([0.0, 1.0]), np.array([3.0, 4.0]))
    check.close(
        [model.alpha, model.beta], [1.0, 2.0], rtol=1e-6, name="alpha and beta"
    )
    check.close(model.predict(10), 21.0, rtol=1e-6, name="seconds")
with check.hidden_case(
    "m and seconds stay as they were",
    hint="an operator with = at its end writes into the caller's array",
    guard=True,
):
    sizes, times = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 4.0])
    model = AlphaBeta()
    with check.unchanged(m=sizes, seconds=times):
        model.fit(sizes, times)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 8. The price of a scheme, and the best number of devices (2 points)
#
# `allreduce_seconds(scheme, size, m, alpha, beta)` returns how long $P$ ranks take to add up $m$ bytes:
#
# | scheme | seconds |
# |---|---|
# | `"ring"` | $2(P-1)\,\alpha + 2\frac{P-1}{P}\,m\beta$ |
# | `"doubling"` | $k\,(\alpha + m\beta)$; $k = \log_2 P$ for a power of two, else $\lfloor \log_2 P \rfloor + 2$ |
# | `"halving"` | $2\log_2 P\;\alpha + 2\frac{P-1}{P}\,m\beta$, with $\log_2 P$ not rounded |
# | `"server"` | $2\alpha + 2P\,m\beta$ |
# | `"sharded"` | $2\alpha + 2m\beta$ |
#
# `"halving"` is a scheme that you have not written: half of the vector to a partner, half of that to the next, and all the way back.
# For $P = 1$ all are 0. Another name raises `ValueError`, for $P = 1$ too. About 13 lines.
#
# With $P = 8$, $m = 100$, $\alpha = 1$ and $\beta = 0.02$: 17.5, 9, 9.5, 34 and 6.

# %% [markdown]
# The last three rows are formulas of talk B, on communication in deep learning (slide 15, as $2L\log_2 P + 2\gamma m G (P-1)/P$
# and $2L + 2P\gamma (m/s) G$, with $s = 1$ and $s = P$ servers; $L$ is our $\alpha$, $G$ our $\beta$, $\gamma m$ the bytes).
# There, a server's $P$ messages share one latency, and servers are machines of their own:
# `"server"` takes in $P$ vectors and hands out $P$, where rank 0 in `central_server` above, which works too, has $P-1$.

# %% [markdown]
# One batch is shared out over $P$ devices: a step of training takes `compute_s / P` seconds, and then the gradients are added up.
# `best_size(compute_s, communication, sizes)` gets a function `communication(P)` that returns seconds.
# It returns the $P$ of the list `sizes` (which stays as it is) whose step is the shortest,
# the smallest such $P$ if there are several,
# and the *speed-up*: how many times as fast this step is as `compute_s`. About 3 lines.
#
# With `compute_s = 8` and $P/2$ seconds for communication, sizes 1, 2, 4, 8 take 8.5, 5, 4 and 5 s: `(4, 2.0)`.


# %% nbgrader={"grade_id": "costs", "solution": true}
def allreduce_seconds(
    scheme: str, size: int, m: float, alpha: float, beta: float
) -> float:
    """Return modelled seconds of an all-reduce of m bytes over `size` ranks."""
    ### BEGIN SOLUTION
    floor = size.bit_length() - 1
    share = (size - 1) / size
    costs = {
        "ring": 2 * (size - 1) * alpha + 2 * share * m * beta,
        "doubling": (floor + (0 if size == 1 << floor else 2))
        * (alpha + m * beta),
        "halving": 2 * math.log2(size) * alpha + 2 * share * m * beta,
        "server": 2 * alpha + 2 * size * m * beta,
        "sharded": 2 * alpha + 2 * m * beta,
    }
    if scheme not in costs:
        raise ValueError(f"unknown scheme {scheme!r}")
    return costs[scheme] if size > 1 else 0.0
    ### END SOLUTION


def best_size(
    compute_s: float, communication, sizes: list[int]
) -> tuple[int, float]:
    """Return the size with the shortest step, and compute_s over that step."""
    ### BEGIN SOLUTION
    step, best = min(
        (compute_s / size + communication(size), size) for size in sizes
    )
    return best, compute_s / step
    ### END SOLUTION


# %% explore=true
# 10 Gbit Ethernet, as an example.
delay, per_byte, elements = 50e-6, 1 / 1.25e9, 2520
print("microseconds, P =        " + "".join(f"{p:8d}" for p in (2, 4, 6, 8)))
for label, own in (
    ("ring", "ring"),
    ("doubling", "doubling"),
    ("sharded server", "sharded"),
):
    played, formula = [], []
    for p in (2, 4, 6, 8):
        played.append(
            critical_path(logs_of(schemes[label], p, elements), delay, per_byte)
        )
        formula.append(allreduce_seconds(own, p, 4 * elements, delay, per_byte))
    for what, row in (("your log", played), ("formula", formula)):
        print(
            f"{label:14} {what:9} "
            + "".join(f"{1e6 * value:8.1f}" for value in row)
        )

# %% [markdown]
# "Your log" is what your messages would take on such a network, played back by `schedule`.
# Ring and doubling agree with their formulas to the last digit, so the formulas may stand for your code.
# (Here each $P$ divides the vector's length. Else the longest chunk sets the pace.)
#
# The sharded server does not.
# Your ranks send their $2(P-1)$ messages one after the other, and pay $\alpha$ for each;
# the talk lets all of a phase be under way at once, and pays it twice.
# Its servers are machines of their own, so each device sends all of $m$; your ranks keep their own chunk.
# Which of the two is nearer depends on what a network card does while it waits.
# A formula without its assumptions is half a formula.

# %% nbgrader={"grade_id": "costs-check", "grade": true, "points": 2}
import math

from labkit import check

with check.case(
    "the worked example: ring",
    hint="two phases of P - 1 steps, each with one chunk of P",
):
    check.close(
        allreduce_seconds("ring", 8, 100, 1.0, 0.02), 17.5, name="seconds"
    )
with check.case(
    "the worked example: doubling",
    hint="log2 P steps, each alpha + m beta with all of m",
):
    check.close(
        allreduce_seconds("doubling", 8, 100, 1.0, 0.02), 9.0, name="seconds"
    )
with check.case(
    "the worked example: halving", hint="the ring's bytes, 2 log2 P latencies"
):
    check.close(
        allreduce_seconds("halving", 8, 100, 1.0, 0.02), 9.5, name="seconds"
    )
with check.case(
    "the worked example: server and sharded",
    hint="two latencies; P m bytes twice, or m bytes twice",
):
    check.close(
        allreduce_seconds("server", 8, 100, 1.0, 0.02),
        34.0,
        name="seconds, server",
    )
    check.close(
        allreduce_seconds("sharded", 8, 100, 1.0, 0.02),
        6.0,
        name="seconds, sharded",
    )
with check.case(
    "best_size: the worked example",
    hint=(
        "a step computes its share and then adds up; "
        "the size comes first, then how many times"
    ),
):
    best, gain = best_size(8.0, lambda p: p / 2, [1, 2, 4, 8])
    check.equal(best, 4, name="size")
    check.close(gain, 2.0, name="speed-up")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "doubling for other sizes",
    hint="what does one device cost, and what do two? "
    "how many steps more where P is no power of two?",
):
    for p, k in {
        2: 1,
        3: 3,
        5: 4,
        6: 4,
        7: 4,
        8: 3,
        12: 5,
        64: 6,
        100: 8,
    }.items():
        check.close(
            allreduce_seconds("doubling", p, 50, 2.0, 0.1),
            7.0 * k,
            name=f"P = {p}",
        )
# A formula with a few factors is right to 1e-15;
# another order of them costs little more.
with check.hidden_case(
    "halving for other sizes",
    hint="the logarithm is a fraction here",
):
    for p in (3, 6, 8, 100):
        want = 2 * math.log2(p) * 0.0123 + 2 * (1 - 1 / p) * 1e6 * 2e-9
        found = allreduce_seconds("halving", p, 1e6, 0.0123, 2e-9)
        check.close(found, want, rtol=1e-9, atol=0, name=f"P = {p}")
with check.hidden_case(
    "ring and servers for other sizes",
    hint="the table, with other numbers",
    essential=True,
):
    for p in (2, 5, 8, 33):
        for scheme, want in {
            "ring": 2 * (p - 1) * 1e-5 + 2 * (p - 1) / p * 3e7 * 1e-10,
            "server": 2e-5 + 2 * p * 3e7 * 1e-10,
            "sharded": 2e-5 + 2 * 3e7 * 1e-10,
        }.items():
            found = allreduce_seconds(scheme, p, 3e7, 1e-5, 1e-10)
            check.close(found, want, rtol=1e-9, atol=0, name=f"{scheme}, {p}")
with check.hidden_case(
    "one rank needs no message",
    hint="P = 1 costs 0, whatever the scheme",
    guard=True,
):
    for scheme in ("ring", "doubling", "halving", "server", "sharded"):
        check.close(
            allreduce_seconds(scheme, 1, 1e6, 1.0, 1.0), 0.0, name=scheme
        )
with check.hidden_case(
    "another name raises ValueError",
    hint="what is not in the table has no price",
    guard=True,
):
    for name in ("gossip", "Ring", " ring", "ringing"):
        check.raises(ValueError, allreduce_seconds, name, 4, 1e6, 1.0, 1.0)
with check.hidden_case(
    "another name raises ValueError for one rank too",
    hint="look at the name before P = 1",
    guard=True,
):
    check.raises(ValueError, allreduce_seconds, "gossip", 1, 1e6, 1.0, 1.0)
with check.hidden_case(
    "the best of all sizes, not the first that is better than the next",
    hint="look at every size: doubling costs more at 3 than at 4",
    essential=True,
):
    most, gain = best_size(
        12.0, {1: 0.0, 2: 1.0, 3: 4.0, 4: 2.0, 5: 4.0}.get, [1, 2, 3, 4, 5]
    )
    check.equal(most, 4, name="devices")
    check.close(gain, 2.4, name="gain")
with check.hidden_case(
    "steps that are no whole seconds",
    hint="nothing is rounded: neither the seconds of a step nor the speed-up",
):
    for whole in (0.6437, 1.9e-3):
        sizes, lost = [1, 2, 3, 5, 6, 7, 11], {}
        for p in sizes:
            lost[p] = 0.011 * whole * p
        want = min(sizes, key=lambda p: whole / p + lost[p])
        gain_wanted = whole / (whole / want + lost[want])
        most, gain = best_size(whole, lost.get, sizes)
        check.equal(most, want, name="devices")
        check.close(gain, gain_wanted, rtol=1e-9, name="gain")
with check.hidden_case(
    "steps that are nearly as long",
    hint="compare the steps themselves, not rounded",
):
    near = {2: 1.0, 4: 3.0 - 1e-11, 8: 4.0 - 2e-11}
    most, gain = best_size(8.0, near.get, [2, 4, 8])
    check.equal(most, 8, name="devices")
with check.hidden_case(
    "communication that costs too much: one device",
    hint="size 1 may be the best, speed-up 1",
):
    most, gain = best_size(1.0, lambda p: p - 1.0, [1, 2, 4])
    check.equal(most, 1, name="devices")
    check.close(gain, 1.0, name="gain")
with check.hidden_case(
    "several shortest steps: the smallest size",
    hint="of equal steps the smaller size, wherever it stands in the list",
    more=(
        "min compares tuples by their first entry, and equal ones by the second"
    ),
):
    for tried in ([2, 4, 8], [8, 4, 2]):
        most, gain = best_size(8.0, {2: 1.0, 4: 3.0, 8: 4.0}.get, tried)
        check.equal(most, 2, name=f"devices, of {tried}")
        check.close(gain, 1.6, name=f"gain, of {tried}")
with check.hidden_case(
    "sizes in any order, and left as they were",
    hint="does the call sort the caller's list?",
):
    tried = [4, 1, 8, 2]
    with check.unchanged("does the call sort the caller's list?", sizes=tried):
        most, gain = best_size(8.0, lambda p: p / 2, tried)
    check.equal(most, 4, name="devices")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Predict, then measure (1 point)
#
# Commit to three positive numbers before you run the experiments;
# the point is for writing them down, whatever they are.
#
# * `"loopback"`: eight ranks on *this* machine add up 64 KiB.
#   Seconds that your ring takes, divided by those of the central server.
# * `"ring"`: a step of ResNet-50 takes one device 0.64 s for 256 images; its gradient has 102 MB.
#   The batch stays 256 and is shared out over 1 to 256 devices on 10 Gbit Ethernet
#   ($\alpha$ = 50 µs, $1/\beta$ = 1.25 GB/s). With the ring, how many devices make the shortest step?
# * `"server"`: the same with the central server, by Task 8's formula.
#
# `predictions()` returns a dictionary with these three keys and a number for each, the same in each call. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return the ratio and the numbers of devices I expect, all positive."""
    ### BEGIN SOLUTION
    return {"loopback": 0.5, "ring": 32, "server": 4}
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "three predictions",
    hint="return a dictionary with exactly the three keys of the text",
):
    check.equal(
        sorted(predictions()), ["loopback", "ring", "server"], name="keys"
    )
with check.case(
    "each is a positive number",
    hint="0.5 means that the ring takes half as long",
):
    for name in ("loopback", "ring", "server"):
        check.at_least(predictions()[name], 1e-9, name=name)
with check.case(
    "the same in each call", hint="commit: draw nothing", guard=True
):
    check.equal(predictions(), predictions(), name="two calls")
check.score(1)

# %% [markdown]
# ### Experiment 2. A network that is none
#
# The four schemes on this machine, eight ranks, in turn, with three sizes.
# A barrier lets all ranks start together; the time ends when the last rank is done.


# %% explore=true
def time_schemes(rank, world_size, collectives, sizes, repeat):
    """Return collectives' begins and ends: (sizes, schemes, repeat, 2)."""
    from torch import distributed

    comm, spans = Communicator(), []
    for nbytes in sizes:
        x, rows = np.ones(nbytes // 4, np.float32), []
        for _ in range(repeat):
            for collective in collectives:
                distributed.barrier()
                start = time.perf_counter()
                collective(comm, x)
                rows.append((start, time.perf_counter()))
        spans.append(
            np.reshape(rows, (repeat, len(collectives), 2)).swapaxes(0, 1)
        )
    return np.array(spans)


# %% explore=true
volumes = [2**10, 2**16, 2**20]
spans = np.array(
    launch(time_schemes, 8, list(schemes.values()), volumes, 7, timeout_s=100)
)
medians = np.median(
    spans[..., 1].max(axis=0) - spans[..., 0].min(axis=0), axis=-1
)
print(
    "milliseconds:        "
    + "".join(f"{size >> 10:7d} KiB" for size in volumes)
)
for row, name in enumerate(schemes):
    print(
        f"{name:20} "
        + "".join(f"{1e3 * seconds:11.1f}" for seconds in medians[:, row])
    )
for size, row in zip(volumes, medians, strict=True):
    print(
        f"ring over central server at {size >> 10:4d} KiB: "
        f"{row[0] / row[3]:.2f}"
    )
print(f"you predicted {predictions()['loopback']:g} for 64 KiB")
print(
    f"one of the ring's 14 rounds at 1 KiB: {1e3 * medians[0, 0] / 14:.1f} ms, "
    f"alpha: {1e3 * loopback.alpha:.2f} ms"
)

# %% explore=true
table, wired = ["8 ranks, all together     messages   bytes / m"], {}
eight = [(8, [np.ones(size // 4, np.float32)] * 8) for size in volumes]
for name, scheme in schemes.items():
    done = count.collective(scheme, eight)
    messages = sum(rank["messages"] for rank in done[0])
    in_all = sum(rank["bytes"] for rank in done[0]) / volumes[0]
    table.append(f"{name:24} {messages:9d} {in_all:11.1f}")
    wired[name] = [
        critical_path([rank["log"] for rank in ranks], delay, per_byte)
        for ranks in done
    ]
print("\n".join(table))

# %% explore=true
here = dict(zip(schemes, medians.T, strict=True))
both_panels = zip(
    plot.panels(2),
    ("This machine, measured", "A link for each, modelled"),
    (here, wired),
    strict=True,
)
for ax, title, seconds in both_panels:
    plot.curves(
        {name: (volumes, 1e3 * np.array(s)) for name, s in seconds.items()},
        title=title,
        xlabel="size of the vector, eight ranks",
        ylabel="milliseconds",
        logx=True,
        logy=True,
        ax=ax,
    )
    ax.set_xticks(volumes, ["1 KiB", "64 KiB", "1 MiB"])
    ax.get_legend().remove()
    ax.lines[0].set(linewidth=6, alpha=0.4)  # the ring, seen under the server
below = ax.figure.legend(
    *ax.get_legend_handles_labels(), loc="outside lower center", ncols=4
)

# %% [markdown]
# On the right, played from your logs, each rank has a link of 10 Gbit Ethernet:
# at 1 MiB the ring, the wide line, and the sharded server on it are fastest.
# On the left, look where the ring lies. This machine is not that network.
# Eight processes share a few cores and one memory: what one rank saves, another spends.
# So the *totals* count, of messages more than of bytes: the central server has 14, doubling 24, the ring and the sharded server 112.
# Is that the order on the left? And how much do a thousand times the bytes change it there?
#
# Task 7's $\alpha$ was for two ranks. With eight, a round waits until each has had its turn on a core,
# hence its price, printed beside $\alpha$.
#
# A benchmark on one machine would have told you to build the wrong cluster.

# %% [markdown]
# ### Experiment 3. Which scheme, on a network?
#
# Eight devices with a link each, 10 Gbit Ethernet, from your `allreduce_seconds`.

# %% explore=true
volumes = np.logspace(3, 9, 601)  # 1 kB to 1 GB
labels = ("ring", "doubling", "halving", "server", "sharded")
priced = {
    label: (
        volumes,
        [
            1e3 * allreduce_seconds(label, 8, v, delay, per_byte)
            for v in volumes
        ],
    )
    for label in labels
}
ring_ms, doubling_ms = (
    np.array(priced["ring"][1]),
    np.array(priced["doubling"][1]),
)
ax = plot.curves(
    {name: (x, np.array(ms) / ring_ms) for name, (x, ms) in priced.items()},
    title="Eight devices on 10 Gbit Ethernet, modelled",
    xlabel="size of the gradient",
    ylabel="time, as a multiple of the ring's",
    logx=True,
    logy=True,
)
ax.set_xticks([1e3, 1e6, 1e9], ["1 kB", "1 MB", "1 GB"])
ax.set_xticks([], minor=True)
crossing = volumes[np.argmax(ring_ms < doubling_ms)]
print(f"from {crossing / 1e3:,.0f} kB on the ring is faster than doubling")

# %% [markdown]
# Below 1 a scheme is faster than the ring. On the left only latencies count, and the ring has fourteen, halving six, doubling three, the servers two:
# by their formulas, in which many messages to one machine cost one latency. That makes `"sharded"` the cheapest up to a megabyte
# (beyond, halving is: its $1.75\,m$ bytes for $2\,m$ pay for four latencies more);
# it also needs as many machines again, which the formula does not count.
# On the right only bytes count: ring, halving and the sharded server come close together,
# doubling moves 1.7 times as many as the ring, and the central server nine times as many.
#
# Libraries know both sides of this picture: they choose the scheme by size.
# And frameworks move work to the right of it:
# they put many small gradients into one *bucket* before they add it up. You build that in lab 12.

# %% [markdown]
# ### Experiment 4. Where does one more device stop helping?
#
# Lecture A, on scalable machine learning, compares NVLink, "up to 300GB/s", with 10 Gbit Ethernet, 1 GB/s, and calls it 100 times faster.
# Its own numbers say 300.
# Like for like it is nearer the 100:
# the 300 GB/s add up six links and both directions (NVIDIA's Volta whitepaper, 2017), one way is 150, with rings over all six at once;
# 10 Gbit/s are 1.25 GB/s one way, before headers. That makes 120.
#
# The latencies below, 10 and 50 µs, are typical and not measured here.

# %% explore=true
networks = {"NVLink": (10e-6, 1 / 150e9), "Ethernet": (50e-6, 1 / 1.25e9)}
devices = list(range(1, 257))
one_device, gradient = 0.64, 102e6
curves = {}
print(
    f"{'network':10} {'scheme':10} {'best with P':>12} {'speed-up':>10} "
    f"{'speed-up, P = 8':>16}"
)
for network, (latency, slowness) in networks.items():
    for kind in ("ring", "doubling", "server"):

        def adding_up(p, kind=kind, latency=latency, slowness=slowness):
            return allreduce_seconds(kind, p, gradient, latency, slowness)

        gains = np.array(
            [one_device / (one_device / p + adding_up(p)) for p in devices]
        )
        curves[f"{network}, {kind}"] = np.array(devices), gains
        best, gain = best_size(one_device, adding_up, devices)
        print(
            f"{network:10} {kind:10} {best:12d} {gain:10.1f} {gains[7]:16.1f}"
        )
# %% explore=true
curves["as many times as devices"] = np.array(devices), np.array(devices, float)
axes = {
    "xlabel": "devices",
    "ylabel": "times as fast as one",
    "logx": True,
    "logy": True,
}
ax = plot.curves(curves, title="ResNet-50, 256 images a step, modelled", **axes)
ax.set_xticks([1, 4, 16, 64, 256], [1, 4, 16, 64, 256])
ax.minorticks_off()
ax.set_ylim(bottom=0.3)  # far below 1 nobody builds
guess = predictions()
print(
    f"you predicted {guess['ring']:g} devices for the ring, "
    f"{guess['server']:g} for the server"
)

# %% [markdown]
# With the central server on Ethernet one device is best:
# two already take longer than one, and eight more than twice as long.
# (That is the formula's server, a machine of its own. If rank 0 serves and works, as in Task 6, two still gain.)
# The ring goes on to 69 devices, but look at what they bring: less than four times.
# Its bytes do not shrink with $P$: $2m\beta$ is 0.16 s, and no number of devices makes a step shorter than that.
# At the end it is the latencies, two more with each device, that turn the curve down.
# Doubling's curve is a saw: between powers of two it pays two more rounds.

# %% [markdown]
# With NVLink eight devices are nearly eight times as fast, with the ring.
# (256 is only the last size that was tried.)
# The lecture concludes that *parallelism works best between multiple GPUs on the same machine*.
# The model agrees, for this gradient and this batch. It also says what would change it:
# fewer bytes (lab 14), more work a step, or communication hidden behind the backward pass (lab 12).

# %% [markdown]
# ### Beyond one flat network
#
# Here every rank reaches every other at the same price. A real network has a *topology*: links form rings, trees or grids,
# and distant partners share cables. A ring that follows the links keeps its price; recursive doubling, whose partners are far apart, may not.
#
# Talk B names more ways to send less, or less far. In a *neighbourhood collective* each rank exchanges with a few fixed partners,
# as in the halo of lab 15 and in gossip (lab 13). *Remote memory access* writes into another rank's memory without its taking part,
# which asynchronous training likes. A *hierarchical* scheme adds up inside a machine first, over its fast links, and sends one sum to the others.

# %% [markdown]
# ### With GPUs
#
# With two GPUs or more the next cell times the library's own all-reduce between them.
# With one it times copies from the host: that is a link with a latency and a bandwidth as well.
# Your `AlphaBeta` fits either.
# (Without a GPU it shows what an H100 printed: compare its bandwidth with the NVLink of Experiment 4.)
# For an all-reduce $1/\beta$ counts bytes of the gradient; the link of a rank carries $2(P-1)/P$ times as many.


# %% explore=true
def reduce_on_gpus(rank, world_size, sizes):
    import torch

    torch.cuda.set_device(rank)
    vectors = [torch.ones(size // 4, device="cuda") for size in sizes]
    calls = [lambda v=v: torch.distributed.all_reduce(v) for v in vectors]
    seconds = []
    for call in calls:
        # The same number of calls on every rank; the first warms up.
        for attempt in range(21):
            torch.cuda.synchronize()
            start = time.perf_counter()
            call()
            torch.cuda.synchronize()
            taken = time.perf_counter() - start
            best_yet = taken if attempt < 2 else min(best_yet, taken)
        seconds.append(best_yet)
    return seconds


# %% explore=true
from labkit import recorded

transfers = (4 ** np.arange(1, 14)).tolist()  # 4 bytes to 64 MiB
if device() == "cpu":
    print("No GPU here: skipped the fit to its link.")
    print(recorded("11_collectives"))
else:
    import torch

    gpus = torch.cuda.device_count() if device() == "cuda" else 0
    if gpus > 1:
        clocked = launch(reduce_on_gpus, gpus, transfers, timeout_s=60)[0]
        what = f"all-reduce over {gpus} GPUs"
    else:
        hosts = [torch.ones(nbytes // 4) for nbytes in transfers]
        clocked = [min(bench(host.to, device()).samples_s) for host in hosts]
        what = f"copy from the host to {device()}"
    link = AlphaBeta()
    link.fit(np.array(transfers), np.array(clocked))
    print(
        f"{what}: alpha {link.alpha * 1e6:.0f} µs, "
        f"1 / beta {1e-9 / link.beta:.1f} GB/s"
    )

# %% [markdown]
# ## Open task: an all-reduce for your cluster (2 points)
#
# Choose a cluster: a number of devices, and $\alpha$ and $\beta$ of its links, from a data sheet, from this machine, or from your university.
# Which scheme should it use, for which sizes?
# Bring at least one that is not in this lab:
# the cell below begins one, recursive halving and doubling (Thakur, Rabenseifner & Gropp 2005), for powers of two.
# Make it work for six ranks, or for two machines with a slow link between them, pipeline the tree, send 16 bits, or invent one.

# %% [markdown]
# Hand in, below and in the cell after it:
#
# 1. a figure of seconds against bytes on your cluster, of at least four schemes, with labelled axes.
#    Yours is among them, from its log on launched ranks, and its result is right;
# 2. three or four sentences: which scheme you choose for which sizes and why, in rounds and bytes;
#    what the model leaves out that might change your choice.


# %% explore=true
def halving_doubling(comm, x):
    total, low, high, taken = x.copy(), 0, len(x), []
    distance = comm.size // 2
    while distance:
        middle, partner = (low + high) // 2, comm.rank ^ distance
        mine, other = (low, middle), (middle, high)
        if comm.rank > partner:
            mine, other = other, mine
        came = comm.exchange(total[slice(*other)], partner, partner)
        total[slice(*mine)] += came
        taken.append((mine, other, partner))
        (low, high), distance = mine, distance // 2
    for mine, other, partner in reversed(taken):
        came = comm.exchange(total[slice(*mine)], partner, partner)
        total[slice(*other)] = came
    return total


# %% explore=true
# Change this cell: another cluster, more schemes, one of them your own.
devices_here, latency, slowness = 8, 50e-6, 1 / 1.25e9
lengths = [840, 8400, 84_000, 840_000]
candidates = {"doubling": recursive_doubling, "both": halving_doubling}
jobs = [(devices_here, [np.ones(n)] * devices_here) for n in lengths]
drawn = {}
for name, scheme in candidates.items():
    seconds = []
    for ranks in count.collective(scheme, jobs):
        assert all((done["value"] == devices_here).all() for done in ranks)
        logs = [done["log"] for done in ranks]
        seconds.append(1e3 * critical_path(logs, latency, slowness))
    sent = max(done["bytes"] for done in ranks) / (8 * lengths[-1])
    print(f"{name:10} {critical_path(logs):3.0f} rounds, {sent:.2f} bytes / m")
    drawn[name] = 8 * np.array(lengths), np.array(seconds)
axes = {"xlabel": "bytes", "ylabel": "milliseconds", "logx": True, "logy": True}
ax = plot.curves(
    drawn, title="Eight devices on 10 Gbit Ethernet, modelled", **axes
)

# %% [markdown] nbgrader={"grade_id": "cluster", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# My cluster is the lab's eight devices on 10 Gbit Ethernet; I drew the ring, doubling, the sharded server and halving with doubling, which I finished
# for six ranks by letting surplus ranks hand over first, as in Task 4.
# Doubling is best for small vectors, with three rounds; halving and doubling take six rounds and the ring's $1.75\,m$ bytes.
# Three latencies more, 150 µs, are paid back where $1.25\,m\beta$ saved bytes take longer: from 150 kB on, and then it stays best,
# for the ring has as many bytes and eight rounds more. With six ranks two rounds and two whole vectors are added, and the ring wins again for large ones.
# The model leaves out that partners far apart share a switch or a slow link, where a ring crosses each link once,
# and that one exchange may start before the last has ended. With two machines I would add up inside each first.
#
# **Rubric.**
#
# * 1 point: the figure, at least four schemes, labelled; one that is not in the lab, from its log, with right sums.
#   Half a point if that one is missing or wrong.
# * 1 point: a choice by size that follows from the figure, with rounds and bytes as the reason (half);
#   something that the model leaves out and could change it (half).
#
# How fast their scheme is earns nothing. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ### In your words (2 points)
#
# Sixteen devices on 25 Gbit Ethernet ($1/\beta$ = 3.1 GB/s, $\alpha$ = 50 µs) train a model with a gradient of 400 MB.
# Every device computes 0.5 s a step on its own images, then all add up over one central server. It is slow.
# Four proposals: (a) a ring; (b) a network with half the latency and the same bandwidth;
# (c) gradients in 16 bits; (d) 32 devices, each with its own images, to process twice as many images a step.

# %% [markdown]
# 1. How long does a step take now, by the model, and with each of (a), (b) and (c) alone? Which do you do first?
# 2. After (a), what does (d) do to the seconds of a step, and why so little?
#    The gradient is 160 tensors, 100 of them of 4 kB each, and the ring runs once for each. What is wrong, and what helps?
#
# About 120 words, with numbers.

# %% [markdown] nbgrader={"grade_id": "servers", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# $m\beta$ is 0.13 s. The central server takes $2\alpha + 2 \cdot 16 \cdot 0.13 = 4.1$ s, a step 4.6 s:
# 89 % of it is communication.
# (a) The ring takes $2 \cdot \frac{15}{16} \cdot 0.13 = 0.24$ s and $30\alpha = 1.5$ ms: a step of 0.74 s.
# (b) saves $2 \cdot 25$ µs: nothing that one could measure, since it is the bytes that count.
# (c) halves the bytes: 2.1 s, a step of 2.6 s. So (a) first; (c) afterwards halves the 0.24 s.
#
# (d) With 32 devices the ring takes $2 \cdot \frac{31}{32} \cdot 0.13 = 0.25$ s and $62\alpha = 3.1$ ms.
# A step grows by less than 0.01 s: each rank sends $2m(P-1)/P$ bytes, already close to $2m$ at 16.
# So twice the images in nearly the same time.
#
# A ring over 4 kB pays 30 latencies, 1.5 ms, for a few microseconds of bytes; 100 of them 0.15 s,
# more than half as much as one ring over all 400 MB.
# Put the small tensors into one bucket (1.5 ms in all), or add them up by doubling: 4 latencies instead of 30.
#
# **Rubric.**
#
# * 1 point: about 4.6 s now, and 0.74 s, 4.6 s and 2.6 s, (a) first (half a point for the right order with one wrong number).
#   Who counts $P-1$ for $P$ in the server's formula gets a step of 4.4 s: full points.
# * 1 point: nearly no change, because the bytes a rank sends tend to $2m$ (half);
#   latency paid for each tensor, with a number (0.15 s for the 100, or 0.24 s for all 160), and buckets, or a scheme with fewer rounds (half).
#
# Half a point off for claims without a number or reason. Numbers within 10 % are right. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## Your result card
#
# What your ring's busiest rank sent for each byte of the gradient with eight ranks, as counted in Task 6's look cell.

# %% explore=true
result_card(
    (
        "a ring all-reduce sends 2 m (P - 1) / P bytes a rank "
        "(units of m, 8 ranks)"
    ),
    busiest["ring"][1][-1],
    seed_value=1.75,
    source="B, slide 15: byte term 2 gamma m G (P - 1) / P, with P = 8",
    lab="11_collectives",
    kind="counted",
    note=(
        f"measured here: alpha {loopback.alpha * 1e6:.0f} µs "
        "between two processes"
    ),
)

# %% [markdown]
# ## What you take along
#
# * An all-reduce costs latencies and bytes. The ring saves bytes, doubling saves latencies; the size decides.
# * No rank has to send more than $2m$, however many ranks there are. A central server sends $(P-1)\,m$: a hot link.
# * A deadlock is a circle of ranks that wait. Exchanges, or an order in which someone receives first, break it.
# * All ranks must end with the same bits; a sum in another order has others.
# * On one machine totals count, on a network the busiest link. Measure where it will run, or model it.
#
# The next lab builds on an all-reduce, the library's, which does what yours does:
# the same training on $P$ devices, with the same model at the end.
