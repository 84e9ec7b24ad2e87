# %% [markdown]
# # 00. Orientation
#
# **Does my machine work, and how do I hand in?**
# Half an hour with the tools of the course, before the first lab needs them:
# a look at your machine, a first surprise, one task with its check, one measurement, one plot of your own.
#
# | | |
# |---|---|
# | Prerequisites | Python and a little NumPy |
# | Time | about half an hour |
# | Points | 3: 2 from a check, 1 from a plot of your own |
# | Hardware | any; with a GPU the report names it |

# %% [markdown]
# ## Your machine
#
# The next cell asks the same questions as `labkit doctor` in a terminal.
# Each line is *ok*, *warn* or *fail*, and a line that is not ok says how to fix it.
# A warning is no obstacle: every graded point of this course can be earned on two CPU cores.

# %% nbgrader={"grade_id": "setup", "locked": true}
import numpy as np

from labkit import check, compare, device, doctor, load, plot, result_card

# %% explore=true
for section, findings in doctor.examine().items():
    well = [finding for finding in findings if finding.status == "ok"]
    print(f"{section}: {len(well)} of {len(findings)} ok")
    for finding in findings:
        if finding.status != "ok" or section in ("Machine", "Accelerator"):
            print(f"  {finding.status:4}  {finding.what:14} {finding.detail}")
        if finding.fix:
            print(f"        fix: {finding.fix}")

# %% explore=true
print("computing on:", device())
digits = load("digits")
plot.images(
    digits.train.x[:10],
    titles=digits.train.y[:10],
    title="If you see ten digits, plots work",
)

# %% [markdown]
# ## A first surprise
#
# A matrix of 1,000 x 1,000 numbers is transposed: its rows become columns, and nothing is computed.
# Then one of 1,024 x 1,024 is, five per cent more numbers.
# How many times as long does the second take? Write your guess into the cell, then run it.

# %% explore=true
from time import perf_counter

first_guess = None  # write a number here: first_guess = 1.05


def transpose_ns(side, runs=9):
    """Return the nanoseconds that each number of a transposition takes."""
    matrix, times_s = np.ones((side, side), np.float32), []
    turned = np.empty_like(matrix)
    for _ in range(runs):
        start = perf_counter()
        turned[:] = matrix.T
        times_s.append(perf_counter() - start)
    return 1e9 * np.median(times_s) / side**2


sides = sorted([*range(896, 1153, 16), 1000])
per_number = {side: transpose_ns(side) for side in sides}
longer = (1024 / 1000) ** 2 * per_number[1024] / per_number[1000]
said = "nothing yet" if first_guess is None else f"{first_guess:.2f}"
print(f"you guessed {said}; 1,024 takes {longer:.1f} times as long as 1,000")
ax = plot.curves(
    {"a transposition": (sides, list(per_number.values()))},
    xlabel="side of the matrix",
    ylabel="nanoseconds a number",
    title="One matrix among its neighbours",
)

# %% [markdown]
# Most machines draw a needle at 1,024. The code is right, and the matrix hardly larger.
# But there the numbers of a column lie 4,096 bytes apart.
# A cache, the small fast memory beside the core, puts a number where its address says,
# and such addresses all say the same few places: each number throws out one that is needed soon.
# With 1,040 columns the same machine is fast again.
# (No needle? Then your cache is built otherwise, or large enough. Try 2,048 and 2,064, or ask a neighbour.)
#
# No formula for the work would have told you. So this course counts, predicts, and then measures.

# %% [markdown]
# ## What is ahead
#
# * In lab 01 you write a network in NumPy that reads these ten digits, and look at those that it gets wrong.
# * In lab 04 you step through such a cache, and through the circuit inside a TPU, cycle by cycle.
# * In lab 08 a network's file shrinks to a fraction of its bytes and reads nearly as well as before.
# * In lab 12 you kill one of two processes in the middle of a training, and end with the same weights, bit by bit.
# * In lab 16 you are given benchmarks that lie, and say how. Some of them may be your own.

# %% [markdown]
# ## How this notebook works
#
# A task asks for one function or class.
# Its cell raises `NotImplementedError`; you replace that line with your code and keep the name and the arguments.
# Two cells follow.
# A *look* cell, which begins with `# explore`, shows what your function does; change it as you like.
# A *check* cell, which is locked, lists its cases.
# Each passed case earns its share of the points, even if others fail.
#
# When your work is graded, the look cells are not run, the check cells are restored,
# and further cases run that you do not see here.
# They test what the text promises, with other numbers: write for the text, not for the check.
# No check looks at a clock: seconds are shown, and never graded.
# A helper or an import that a task needs belongs in the task's cell.

# %% [markdown]
# What a person grades, a text or a plot of your own, is read as it stands in the file that you hand in:
# run the cell that draws it, then save.

# %% [markdown]
# ### Task 1. The middle and the spread (2 points)
#
# Measure anything on a computer twice and you get two numbers.
# This course quotes the *median* of several times: half of them lie below it, however slow the slowest was.
# As the spread it quotes the *interquartile range*. A quarter of the runs lies below the *first quartile*,
# a quarter above the third; between the two lies the *middle half*, and the range is how wide that is.
#
# `median_and_iqr(samples)` takes a sequence of numbers, at least one: a list, a tuple or an array of one axis.
# It returns the pair `(median, iqr)` as floats, with float64's digits.
# Quartiles are interpolated linearly, as `np.percentile` does; the samples stay as they were.
# For `[1, 2, 3, 4, 100]` that is `(3.0, 2.0)`; with a 5 in place of the 100 it is the same.
# An empty sequence raises `ValueError`. About 4 lines.


# %% nbgrader={"grade_id": "median-and-iqr", "solution": true}
def median_and_iqr(samples) -> tuple[float, float]:
    """Return the median and the interquartile range of some numbers."""
    ### BEGIN SOLUTION
    if len(samples) == 0:
        raise ValueError("no samples")
    first, median, third = np.percentile(samples, [25, 50, 75])
    return float(median), float(third - first)
    ### END SOLUTION


# %% explore=true
from time import perf_counter

from threadpoolctl import threadpool_limits


def product_times(side, runs=40):
    """Return the milliseconds of products of two matrices, on one thread."""
    matrix, times_ms = np.random.default_rng(0).normal(size=(side, side)), []
    with threadpool_limits(1):
        for _ in range(runs):
            start = perf_counter()
            matrix @ matrix
            times_ms.append(1000 * (perf_counter() - start))
    return times_ms


# %% explore=true
times_ms = product_times(300)
median, iqr = median_and_iqr(times_ms)
slowest = max(times_ms) / median
print(f"median {median:.2f} ms, interquartile range {iqr:.2f} ms")
print(f"slowest: run {np.argmax(times_ms) + 1}, {slowest:.1f} medians long")
mean = np.mean(times_ms)
print(f"mean {mean:.2f} ms: {mean / median:.2f} medians")
words = {
    "xlabel": "run",
    "ylabel": "milliseconds",
    "title": "Forty products of 300 x 300 matrices",
}
runs = np.arange(1, len(times_ms) + 1)
figure = plot.scatter({"a run": (runs, times_ms)}, **words)
lines = {"median": np.full(40, median), "mean": np.full(40, mean)}
plot.curves(lines, ax=figure, **words)

# %% [markdown]
# The first run may be the slowest: memory is touched for the first time, a library loads its code.
# Later runs differ because your machine does other things, some of them at regular intervals: is there a rhythm in yours?
# A few slow runs move the mean, and hardly the median: the last line printed says by how much.
# That is why a benchmark warms up first, repeats, and says how far its numbers lie apart.
# It also computes on one thread where it can: a product is done when the slowest of its threads is.

# %% nbgrader={"grade_id": "median-and-iqr-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

with check.case(
    "the worked example",
    hint=(
        "is an error raised for an empty sequence only? what does "
        "percentile want, and which quartile less which comes second?"
    ),
    more="NumPy computes several percentiles in one call",
):
    check.close(median_and_iqr([1, 2, 3, 4, 100]), [3.0, 2.0])
with check.case(
    "an even number of samples",
    hint=(
        "an even count: between which samples do median and quartiles "
        "lie? all from this call's samples?"
    ),
):
    check.close(median_and_iqr([1.0, 2.0, 4.0, 10.0]), [3.0, 3.75])
with check.case(
    "no samples raise ValueError",
    hint=(
        "an empty sequence has no middle: what does the text ask for, "
        "and is it asked first?"
    ),
    guard=True,
):
    check.raises(ValueError, median_and_iqr, [])
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "the order does not matter",
    hint=(
        "samples in any order: is anything taken by its place in the "
        "sequence, unsorted?"
    ),
):
    check.close(median_and_iqr([10.0, 1.0, 4.0, 2.0]), [3.0, 3.75])
with check.hidden_case(
    "one sample has no spread",
    hint=(
        "one sample: what are its quartiles, and their distance? is the"
        " median this call's own?"
    ),
):
    check.close(median_and_iqr([7.5]), [7.5, 0.0])
with check.hidden_case(
    "one slow run moves neither number",
    hint=(
        "many equal samples and a slow one: does each equal one count? "
        "is it the median, or the mean?"
    ),
    essential=True,
):
    check.close(median_and_iqr([5.0] * 9 + [500.0]), [5.0, 0.0])
with check.hidden_case(
    "fractions, negative ones too, are not rounded; both results are floats",
    hint=(
        "fractions, of both signs: is a result rounded, a sign lost, or"
        " an earlier result returned? floats?"
    ),
):
    median, spread = median_and_iqr([-0.3, -1.2347, 0.1001, 0.7])
    check.close([median, spread], [-0.09995, 0.783750], rtol=1e-9)
    check.true(isinstance(median, float), "a float for the median")
    check.true(isinstance(spread, float), "a float for the interquartile range")
with check.hidden_case(
    "lists, tuples and arrays, of integers or fractions; results are floats",
    hint=(
        "lists, tuples, arrays, whole numbers: how do you ask for "
        "emptiness, and of which type are results?"
    ),
):
    for given in (
        [7, 1, 3],
        (7, 1, 3),
        np.array([7, 1, 3]),
        np.array([7.0, 1.0, 3.0]),
    ):
        median, spread = median_and_iqr(given)
        title = f"of {type(given).__name__}"
        check.close([median, spread], [3.0, 3.0], name=f"pair {title}")
        check.true(isinstance(median, float), f"a float, the median {title}")
        check.true(isinstance(spread, float), f"a float, the range {title}")
with check.hidden_case(
    "large numbers that lie close together",
    hint=(
        "large numbers that differ little: is anything narrowed or "
        "rounded, on the way in or out?"
    ),
):
    seconds = [1.7e9 + part for part in (0.75, 0.0, 0.25, 0.5)]
    for given in (seconds, np.array(seconds)):
        median, spread = median_and_iqr(given)
        # Neighbouring numbers of float64 lie 2.4e-7 apart here.
        check.close(median - 1.7e9, 0.375, rtol=0, atol=1e-6, name="median")
        check.close(spread, 0.375, rtol=0, atol=1e-6, name="range")
with check.hidden_case(
    "an empty tuple and an empty array raise ValueError, too",
    hint=(
        "an empty tuple, an empty array: how is emptiness asked, so "
        "that any sequence answers?"
    ),
    guard=True,
):
    for given in ((), np.array([])):
        check.raises(ValueError, median_and_iqr, given)
with check.hidden_case(
    "the samples stay as they were",
    hint=(
        "a list, an array: does any step, such as a sort, change the "
        "caller's samples?"
    ),
    guard=True,
):
    for given in ([10.0, 1.0, 4.0, 2.0], np.array([10.0, 1.0, 4.0, 2.0])):
        with check.unchanged(samples=given):
            median_and_iqr(given)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## When a check fails
#
# A failed case says what was expected, what came, and where to look.
# `at [1]` is the place in a list or array, counted from 0.
# Read it before you change anything.
# Outside of a check cell the same functions raise an error, which is useful for tests of your own.

# %% explore=true
with check.case("quartiles of a tiny sample", hint="this one fails on purpose"):
    check.close([3.0, 2.5], [3.0, 2.0])
with check.case(
    "a shape that does not fit",
    hint="so does this one: keepdims=True keeps the axis",
):
    check.close(np.ones(4), np.ones((4, 1)))
check.score(1)

# %% [markdown]
# ## Predict, measure, explain
#
# Every lab asks you to write a number down before you measure it.
# A guess that turns out wrong is worth more than a measurement without one: it shows what you believed.
# How many times as long does a product of two 512 x 512 matrices take in float64 as in float32?
# Write your guess into the next cell, then run it. It computes on one thread again.

# %% explore=true
my_guess = None  # write a number here: my_guess = 1.5
rng = np.random.default_rng(0)
double = rng.normal(size=(512, 512))
single = double.astype(np.float32)
with threadpool_limits(1):
    timings = compare(
        {"float32": lambda: single @ single, "float64": lambda: double @ double}
    )
low, ratio, high = timings.ratio("float64", "float32")
said = "nothing yet" if my_guess is None else f"{my_guess:.1f}"
print(f"you guessed {said}; measured {ratio:.1f}", end=" ")
print(f"(middle half {low:.1f} to {high:.1f})")
timings

# %% [markdown]
# A float32 has half the bytes of a float64, and one *vector instruction*, which computes with several numbers at a time,
# takes twice as many of them: that makes twice as fast.
# If you measured something else, caches, the library or another program had a say.
# Lab 03 asks how far down that goes, and lab 07 what it costs.
#
# A *result card* keeps a measurement with the machine and the date,
# here and as a file in the folder `cards` beside this notebook, in place of the one that came with it.
# It names one number as the spread: here, half the width of the middle half, which need not be even on both sides.
# Cards of accuracies, from several seeds, name mean and standard deviation instead.
# Its note names both ends.
# Lab 16 will read the cards of your whole term and ask whether you would believe them.

# %% explore=true
result_card(
    "a float64 matrix product takes longer than a float32 one",
    ratio,
    unit="x",
    n=timings["float64"].n,
    spread=(high - low) / 2,
    lab="00_orientation",
    note=f"Middle half of the ratios: {low:.1f} to {high:.1f}.",
)

# %% [markdown]
# ## Where the claims come from
#
# The labs measure what four documents of 2017 and 2018 claim, and call them by letters
# (all their claims stand in `docs/claims.md` of the course's repository):
# *lecture A* on scalable machine learning, *talk B* (T. Hoefler) on communication in deep learning,
# *talk C* on the framework MXNet, and *slides D*, a course on deep learning at large scale.

# %% [markdown]
# ### Open task: your first plot (1 point)
#
# How does the time of a matrix product grow with its side?
# Draw it, in the next code cell: the median for at least five sides of your choice, with labelled axes,
# and the spread from `median_and_iqr`. `plot.curves` has `logx=True`, `logy=True`
# and `spread={name: (low, high)}`, a pair of lists: for example median less, and plus, half of the interquartile range.
#
# Then, in the cell after it, two or three sentences:
# by which factor does the time grow when the side doubles, and is that what the number of multiplications says?
# What would you write down so that somebody with another machine can compare?

# %% explore=true
# Change this cell: two sides are a beginning.
sides = [100, 200]
middles = [median_and_iqr(product_times(side))[0] for side in sides]
figure = plot.curves(
    {"median": (sides, middles)},
    xlabel="side of the matrices",
    ylabel="milliseconds",
    title="My first plot",
    logx=True,
    logy=True,
)
figure.set_xticks(sides, sides)
figure.set_xticks([], minor=True)

# %% [markdown] nbgrader={"grade_id": "reproducible", "grade": true, "solution": true, "points": 1}
# ### BEGIN SOLUTION
# **Model answer.**
# Sides 50, 100, 200, 400, 800 on logarithmic axes: nearly a straight line; most doublings take six to eight times as long.
# A product has side cubed multiplications, which makes eight.
# For small sides it is less: part of the time is the call, which does not grow.
# To be compared, a number needs the machine, the number of runs, the spread, and the versions of the software.
#
# **Rubric.**
#
# * Half a point: a plot of their own with at least five sides, labelled axes and a spread.
# * Half a point: a factor read from it and compared with 8, and at least two of machine, number of runs, spread, software versions.
# ### END SOLUTION

# %% [markdown]
# ## How to hand in
#
# 1. *Kernel, Restart Kernel and Run All Cells*: a finished notebook runs from top to bottom.
#    An unfinished task says so in a line, and the notebook goes on.
# 2. *Validate*, in the notebook's toolbar, saves, runs everything afresh and lists the checks that fail.
#    It takes as long as running all cells, and shows nothing until it is done.
# 3. Save, and hand in the way your course says: an upload of this `.ipynb` file,
#    or *Nbgrader, Assignment List* in the menu, if your course has set that up.
#
# Do not rename the file, and do not delete or copy cells: the grader puts them back, and says so.
# You may hand in an unfinished notebook, too. Its finished tasks count.
