# %% [markdown]
# # 17. Code embeddings
#
# **Can a network read programs?**
# Where would a program run faster, on a CPU or on a GPU?
# That depends on what surrounds each statement: does the next step wait for this one?
# Here you turn programs into graphs, give every statement a vector, its embedding, that is learned from its neighbours in the graph,
# and let a recurrent network (an LSTM, which reads one vector after another and keeps a state) read them.
# Then you take the graph away, piece by piece, and see what was due to it.
#
# The lab rebuilds in small the *inst2vec* (Ben-Nun, Jakobovits & Hoefler, NeurIPS 2018)
# of T. Hoefler's talk of 2018, *talk B* below, one of the course's sources.

# %% [markdown]
# | | |
# |---|---|
# | Prerequisites | NumPy, gradients (lab 01), the roofline (lab 04); some PyTorch and scikit-learn (logistic regression, cross-validation); regular expressions, or the patience to learn a few |
# | Time | about 5 hours |
# | Points | 20: 16 from checks, 2 from an open task, 2 from a written answer |
# | Hardware | one CPU core; one cell near the end uses a GPU |

# %% [markdown]
# ## How this notebook works
#
# Each task asks for one function: replace the line that raises `NotImplementedError`, keep name and arguments.
# Then run the look cell and the check below it, and read the first case that fails.
# Hidden cases test what the text promises, with other programs and numbers, when your work is graded.
# Your code must not change its arguments, nor a result that it has returned before.
# No check looks at a clock, and none at an accuracy.
#
# Cells that begin with `# explore` are yours to change and are not run then:
# a helper or an import that a task needs belongs in the task's cell, and your own plots are read as saved.

# %% nbgrader={"grade_id": "setup", "locked": true}
import re

import numpy as np
import torch
from torch import nn

from labkit import check, device, plot, programs, result_card

if not programs.available():
    print(programs.MISSING)  # the tasks and checks do without

torch.set_num_threads(1)

# %% [markdown]
# ### Task 1. Predict (1 point)
#
# You will train on 200 random programs, each labelled CPU or GPU, and test on 300 others.
# Always saying CPU is right for six of ten. Commit to three accuracies, each above 0 and at most 1:
#
# * `"bag"`: a linear classifier that sees how often each kind of statement occurs in a program, and nothing else;
# * `"graph"`: an LSTM that reads a vector for each statement, learned on the graph, and the vectors of the statements whose results it uses;
# * `"rows"`: the first classifier again. Now every program comes in five versions (other constants, another order),
#   and the versions are split at random into training and test.
#
# `predictions()` returns a dictionary with these three keys, the same in each call. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return three accuracies, each above 0 and at most 1."""
    ### BEGIN SOLUTION
    return {"bag": 0.75, "graph": 0.9, "rows": 0.85}
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "three predictions",
    hint="return a dictionary with exactly the three keys of the text",
):
    check.equal(sorted(predictions()), ["bag", "graph", "rows"])
with check.case("each is above 0", hint="0.5 is every second program"):
    for name in ("bag", "graph", "rows"):
        check.at_least(predictions()[name], 1e-9, name=name)
with check.case("each is at most 1", hint="70 % is 0.7"):
    for name in ("bag", "graph", "rows"):
        check.at_most(predictions()[name], 1.0, name=name)
with check.case(
    "the same in each call", hint="commit: draw nothing", guard=True
):
    check.equal(predictions(), predictions())
check.score(1)

# %% [markdown]
# ## Programs to read
#
# ### Given: random programs, and where they are faster
#
# Each program is one loop of $2^{20}$ iterations over two arrays.
# An iteration computes two expressions. The *stored* one goes to an array. The *carried* one changes a variable that the next iteration sees.
#
# * In a *parallel* program only the last operation touches that variable, for example $s \leftarrow s + f(x_i)$.
#   Partial sums can be added up later, so iterations need not wait for each other.
#   (Floating-point sums change a little then; a compiler has to be allowed to do that.)
# * In a *serial* program the variable goes through all operations, $s \leftarrow f(s) + x_i$.
#
# **Both kinds are made of the same statements.** Only who uses whose result differs.

# %% [markdown]
# The label is *counted*, not measured, by lab 04's roofline: a device needs the longer of its times for computing and for moving bytes.
# The GPU computes far faster, but its arrays come from the CPU's memory.
# If a program is serial, both devices also wait for a chain of latencies, and the GPU's are longer.
# So a GPU pays off for parallel programs with enough slow operations or lookups in a table for their bytes.
#
# `labkit.programs` writes programs in *LLVM's intermediate representation* (IR), as a naive compiler would,
# and mixes the two expressions' statements at random. That text is what your code reads.
# The folded cells hold the model of both devices, which gives the labels. No task asks about them: run them and read on.

# %% folded=true nbgrader={"grade_id": "seconds", "locked": true}
MODEL = {  # ns for an iteration's operations and bytes
    "cpu": {
        "cheap": 1 / 24,
        "slow": 20 / 24,
        "lookup": 64 / 40,
        "byte": 1 / 40,
    },
    "gpu": {"cheap": 1 / 2e3, "slow": 8e-3, "lookup": 32 / 900, "byte": 1 / 12},
}
LATENCY = {  # ns that the next operation waits
    "cpu": {"cheap": 4 / 3, "slow": 20 / 3, "lookup": 25},
    "gpu": {"cheap": 4, "slow": 30, "lookup": 400},
}


def tally(plan, steps):
    """Return how many of the steps are cheap, slow and lookups."""
    slow = sum(op in programs.SLOW[plan["real"]] for op, _ in steps)
    lookups = sum(op == "lookup" for op, _ in steps)
    cheap = len(steps) - slow - lookups
    return {"cheap": cheap, "slow": slow, "lookup": lookups}


# %% folded=true nbgrader={"grade_id": "seconds-of", "locked": true}
def seconds(plan, name, iterations=programs.ITERATIONS):
    """Return the modelled seconds of a plan on "cpu" or "gpu"."""
    steps = plan["carried"] + plan["stored"]
    loads = 2 + sum(loaded and op not in programs.UNARY for op, loaded in steps)
    cost, counts = MODEL[name], tally(plan, [*steps, (plan["last"], False)])
    computing = cost["cheap"] * counts["cheap"] + cost["slow"] * counts["slow"]
    if name == "gpu" and plan["branch"]:
        computing *= 2  # threads of one group take both ways (lab 03)
    moving = cost["byte"] * programs.BYTES[plan["kind"]] * (loads + 1)
    looking = cost["lookup"] * counts["lookup"]
    times = [computing, moving + looking]
    if name == "gpu":  # arrays arrive while the card's memory is read
        times = [computing, moving, looking]
    if plan["serial"]:
        chain = tally(plan, [*plan["carried"], (plan["last"], False)])
        times.append(sum(LATENCY[name][op] * n for op, n in chain.items()))
    return 1e-9 * iterations * max(times)


def faster_on_gpu(plan):
    """Return the label: 1 if the model says GPU, else 0."""
    return int(seconds(plan, "gpu") < seconds(plan, "cpu"))


# %% folded=true nbgrader={"grade_id": "random-program", "locked": true}
def random_program(*seed):
    """Return a random program's text and its label: 1 for GPU.

    A second number in the seed chooses a version of the program.
    """
    plan = programs.plan(np.random.default_rng(seed[0]))
    text = programs.text(plan, np.random.default_rng(seed))
    return text, faster_on_gpu(plan)


# %% explore=true
for number in (39, 173):
    text, label = random_program(number)
    print(f"Program {number}: faster on the", ("CPU", "GPU")[label])
    lines = text[text.index("define") : text.index("}") + 1].splitlines()
    second = [line.split()[0] for line in lines if " phi " in line][1]
    behind = {second}  # all that the second phi's value goes into
    for line in lines:
        names = re.findall(r"%[\w.]+", line)
        if " = " in line and behind & set(names):
            behind.add(names[0])
        print(">" if behind & set(names) else " ", line)
    print()

# %% [markdown]
# `%.7.0` is a *value*: it is assigned once, by one statement, and has no other name.
# `phi` chooses a value by the block from which control came: here a start value, or the last iteration's.
# `getelementptr` computes an address, `load` reads there; `icmp slt` compares.
# Both programs divide (`sdiv`, `udiv`; `srem` and `urem` are remainders).
# The mark `>` follows the second `phi`, the carried variable.
# In which of the two must the next iteration wait for this one's divisions?

# %% [markdown]
# ## From text to graph
#
# ### Task 2. Parse (2 points)
#
# `parse(text)` returns the statements of a module's text, in order:
# a list of tuples `(block, result, operation)` of three strings.
#
# * Only lines of functions count: those after a line that begins with the word `define`, and before the next line that begins with `}`
#   (something may follow the `}`; no blank stands before it, nor before `define`). There may be several functions, or none.
# * A comment begins with `;` (quoted texts have none) and ends with its line. Drop it, then the blanks and tabs at both ends.
#   Lines that are empty then are no statements.
# * A line that then ends with `:` begins a block; without the colon it is the block's name.

# %% [markdown]
# * All other lines are statements of the last block that has begun: `%name = operation`, with one blank on both sides of `=`,
#   or an operation alone, which does not begin with `%` but may hold a `=`.
#   `result` is `%name`, or `""`; `operation` is the rest.
#
# Names consist of letters, digits, `.` and `_`; no block is called `define`. Each function begins with a block's name. For example
#
# ```
# define void @kernel(ptr %x) {
# loop:                        ; preds = %loop
#   %.3 = load i64, ptr %x, align 4
#   ret void
# }
# ```
#
# has the statements `("loop", "%.3", "load i64, ptr %x, align 4")` and `("loop", "", "ret void")`.
# About 12 lines.


# %% nbgrader={"grade_id": "parse", "solution": true}
def parse(text: str) -> list[tuple[str, str, str]]:
    """Return (block, result, operation) of each statement."""
    ### BEGIN SOLUTION
    found, inside, block = [], False, ""
    for whole in text.splitlines():
        if whole.startswith("define "):
            inside = True
            continue
        inside = inside and not whole.startswith("}")
        line = whole.partition(";")[0].strip()
        if not inside or not line:
            continue
        if line.endswith(":"):
            block = line[:-1]
            continue
        result, operation = "", line
        if line.startswith("%"):
            result, _, operation = line.partition(" = ")
        found.append((block, result, operation))
    return found
    ### END SOLUTION


# %% explore=true
text, label = random_program(39)
statements = parse(text)
for number, statement in list(enumerate(statements))[:12]:
    print(f"{number:2} {statement[0]:12} {statement[1]:7} {statement[2]}")

# %% nbgrader={"grade_id": "parse-check", "grade": true, "points": 2}
from labkit import check

SHOWN = """define void @kernel(ptr %x) {
loop:                        ; preds = %loop
  %.3 = load i64, ptr %x, align 4
  ret void
}
"""
with check.case(
    "the worked example",
    hint="what does each name hold at the start? which lines name a block, "
    "which are statements?",
):
    want = [
        ("loop", "%.3", "load i64, ptr %x, align 4"),
        ("loop", "", "ret void"),
    ]
    check.equal(parse(SHOWN), want, name="statements")
AROUND = """; ModuleID = '<string>'
source_filename = "<string>"
target triple = "unknown-unknown-unknown"

; Function Attrs: nounwind
define void @f(ptr %out, i64 %n) #0 {
entry:
  br label %loop.1

loop.1:                                  ; preds = %loop.1, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %loop.1 ]
  %next = add i64 %i, 1   ; one more

  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop.1, label %exit

exit:                                    ; preds = %loop.1
  store i64 %next, ptr %out, align 4
  ret void
}

declare double @llvm.exp.f64(double) #1

attributes #0 = { nounwind }
"""
with check.case(
    "three blocks, and what stands around a function",
    hint="only what is between define and } counts",
    more="declare and attributes stand outside; a line may be empty inside",
    essential=True,
):
    want = [
        ("entry", "", "br label %loop.1"),
        ("loop.1", "%i", "phi i64 [ 0, %entry ], [ %next, %loop.1 ]"),
        ("loop.1", "%next", "add i64 %i, 1"),
        ("loop.1", "%more", "icmp slt i64 %next, %n"),
        ("loop.1", "", "br i1 %more, label %loop.1, label %exit"),
        ("exit", "", "store i64 %next, ptr %out, align 4"),
        ("exit", "", "ret void"),
    ]
    check.equal(parse(AROUND), want, name="statements")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "comments that look like something else",
    hint="drop the comment first, then look at what is left",
):
    text = (
        "define i64 @g() {\nstart: ; x:\n  ; %a = add i64 1, 2\n"
        "  %b = add i64 1, 2 ; = 3:\n  ret i64 %b ; }\n}\n; define\n"
        "  %c = add i64 1, 2\n"
    )
    want = [("start", "%b", "add i64 1, 2"), ("start", "", "ret i64 %b")]
    check.equal(parse(text), want, name="statements")
with check.hidden_case(
    "two functions, one after the other",
    hint="after a } another define may follow",
):
    two = AROUND + SHOWN.replace("@kernel", "@second")
    found = parse(two)
    check.equal(len(found), 9, name="number of statements")
    check.equal(found[0], ("entry", "", "br label %loop.1"), name="the first")
    check.equal(found[8], ("loop", "", "ret void"), name="the last")
with check.hidden_case(
    "names of letters, digits, points and underscores; other blanks",
    hint="blanks and tabs at both ends are dropped, those within stay",
):
    text = (
        "define void @h() {\nif_then.2:\n"
        "%a_1.b = fmul double %0,  2.000000e+00  \n"
        "\t   br label %endif.3\nendif.3:\n    ret void\n}"
    )
    want = [
        ("if_then.2", "%a_1.b", "fmul double %0,  2.000000e+00"),
        ("if_then.2", "", "br label %endif.3"),
        ("endif.3", "", "ret void"),
    ]
    check.equal(parse(text), want, name="statements")
with check.hidden_case(
    "an operation with = in it, and something behind the }",
    hint="only what begins with % has a result; } ends whatever follows",
):
    text = (
        "define void @m() {\nentry:\n"
        '  %v = call i64 @f(ptr %x) "a"="b"\n  call void @g() "c" = "d"\n'
        '  call void @g() "e"="f"\n  note:7 i64 %v\n  ret void\n'
        "} ; of m\n%y = add i64 1, 2\n"
    )
    want = [
        ("entry", "%v", 'call i64 @f(ptr %x) "a"="b"'),
        ("entry", "", 'call void @g() "c" = "d"'),
        ("entry", "", 'call void @g() "e"="f"'),
        ("entry", "", "note:7 i64 %v"),
        ("entry", "", "ret void"),
    ]
    check.equal(parse(text), want, name="statements")
with check.hidden_case(
    "no function, no text, an empty block",
    hint="the list may be empty, and a block may have no statement",
    guard=True,
):
    check.equal(parse(""), [], name="statements of nothing")
    text = "declare double @llvm.exp.f64(double)\n%x = add i64 1, 2\n"
    check.equal(parse(text), [], name="statements outside")
    text = "define void @k() {\na:\nb:\n  ret void\n}\n"
    check.equal(parse(text), [("b", "", "ret void")], name="statements")
    text = text.replace("b:", "define.1:")
    found = parse(text)
    check.equal(found, [("define.1", "", "ret void")], name="statements")
    check.separate(parse("\n"), found)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 3. The contextual flow graph (3 points)
#
# Nearby lines of a text need not have anything to do with each other; statements that hand each other values do.
# The *contextual flow graph*, after that of inst2vec, has a node for each statement, and two kinds of edges:
#
# ![A loop of five statements. phi, fmul, fadd and br are nodes. Data edges lead from phi to fmul, from fmul to fadd and from fadd back to phi. A control edge leads from br to phi, the first statement of its target block.](figures/flow.svg)
#
# * A *data* edge leads from the statement that defines a value to each statement whose operation uses it.
# * A *control* edge leads from each `br` to the first statement of each block that it names.

# %% [markdown]
# `flow_graph(statements)` takes statements as `parse` returns them, of one function.
# It returns the pair `(data, control)`: int64 arrays of shape `(m, 2)`, a row `(from, to)` for an edge, numbered as the list is.
# Each edge occurs once, and rows ascend: by `from`, then by `to`. `m` may be 0.
#
# A `phi` may use a value that a *later* statement defines, even its own: the edge leads backward, or to itself.
# Arguments (`%x` above) are defined by no statement and have no edges; nor have names of blocks in a `phi`.
# No value has a block's name. Blocks end with `br`, a branch, or `ret`, and each block that a `br` names has a statement.
# A `br` uses its condition, `%c` in `br i1 %c, label %a, label %b`.
#
# The figure's data edges are `[[0, 1], [1, 2], [2, 0]]`, its control edges `[[3, 0], [3, 4]]`. About 12 lines.


# %% nbgrader={"grade_id": "flow-graph", "solution": true}
def flow_graph(statements) -> tuple[np.ndarray, np.ndarray]:
    """Return the data and the control edges, (m, 2) each."""
    ### BEGIN SOLUTION
    defined = {s[1]: i for i, s in enumerate(statements) if s[1]}
    first = {}
    for i, (block, _, _) in enumerate(statements):
        first.setdefault(f"%{block}", i)
    data, control = set(), set()
    for i, (_, _, operation) in enumerate(statements):
        names = re.findall(r"%[\w.]+", operation)
        data.update((defined[name], i) for name in names if name in defined)
        if operation.startswith("br "):
            control.update((i, first[n]) for n in names if n in first)
    return tuple(
        np.array(sorted(edges), np.int64).reshape(-1, 2)
        for edges in (data, control)
    )
    ### END SOLUTION


# %% explore=true
def way(data, start, end):
    """Return a shortest way along data edges, as numbers of statements."""
    ways, seen = [[start]], {start}
    for found in ways:  # grows while it is read
        if found[-1] == end:
            return found
        for to in data[data[:, 0] == found[-1], 1].tolist():
            if to not in seen:
                seen.add(to)
                ways.append([*found, to])
    return []


def cycles(statements, data):
    """Return the cycles of data edges, the carried variable's first."""
    back = data[data[:, 0] >= data[:, 1]].tolist()
    rings = [way(data, to, source) for source, to in back]
    return sorted(rings, key=lambda ring: "[ 0, " in statements[ring[0]][2])


for number in (39, 173):
    statements = parse(random_program(number)[0])
    data, control = flow_graph(statements)
    print(f"program {number}: {len(data)} data edges, {len(control)} control")


# %% explore=true
def placed(statements, data):
    """Return each statement's place: its level by data edges, and a column."""
    level, row = [0] * len(statements), {}
    for start, end in data[data[:, 1].argsort(kind="stable")].tolist():
        if start < end:  # an edge back to a phi closes a cycle
            level[end] = max(level[end], level[start] + 1)
    for at in level:
        row[at] = row.get(at, 0) + 1
    seen, places = {}, []
    for at in level:
        seen[at] = seen.get(at, 0) + 1
        places.append((seen[at] - (row[at] + 1) / 2, -at))
    return np.array(places)


def colour_of(start, end, rings):
    """Return the colour of an edge; of a statement, if it is given twice."""
    for ring, hue in zip(rings, (plot.PALETTE[1], "black"), strict=False):
        if start in ring and end in ring:
            following = ring[(ring.index(start) + 1) % len(ring)]
            if end in (start, following):
                return hue
    return "#AAAAAA"


# %% explore=true
for ax, number in zip(plot.panels(2), (39, 173), strict=True):
    statements = parse(random_program(number)[0])
    data, _ = flow_graph(statements)
    rings = cycles(statements, data)
    places = placed(statements, data)
    for source, end in data.tolist():
        hue = colour_of(source, end, rings)
        bent = "arc3,rad=0.4" if source >= end else "arc3,rad=0"
        arrow = {"arrowstyle": "->", "color": hue, "connectionstyle": bent}
        arrow |= {"shrinkA": 9, "shrinkB": 9}
        ax.annotate("", places[end], places[source], arrowprops=arrow)
    for k, statement in enumerate(statements):
        hue = colour_of(k, k, rings)
        box = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": hue}
        said = statement[2].split()[0].replace("getelementptr", "address")
        ax.text(*places[k], said, size=8, ha="center", va="center", bbox=box)
    ax.set(xlim=(-3, 3), ylim=(places[:, 1].min() - 0.6, 0.6))
    ax.set(xticks=[], yticks=[])
    title = f"Program {number}: carried, and counter"
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
ax.figure.set_size_inches(9, 6)

# %% [markdown]
# Each edge back to a `phi` closes a cycle: what an iteration hands to the next.
# Black is the loop's counter, orange the carried variable; an arrow hands a result on (control edges are left out).
# A short cycle is a sum or a product; a long one, like program 39's with its divisions, is a chain, and the next iteration waits for all of it.
# No single statement, and no count of statements, shows that.

# %% nbgrader={"grade_id": "flow-graph-check", "grade": true, "points": 3}
import numpy as np

from labkit import check


def expect(statements, data, control):
    """Compare both kinds of edges."""
    found = flow_graph(statements)
    check.equal(len(found), 2, name="parts of the result")
    exact = {"rtol": 0, "atol": 0, "dtype": "int64"}
    for at, edges in enumerate((data, control)):
        want = np.array(edges, np.int64).reshape(-1, 2)
        name = ("data edges", "control edges")[at]
        check.close(found[at], want, **exact, name=name)


FIGURE = [
    ("loop", "%s", "phi float [ 1.000000e+00, %entry ], [ %b, %loop ]"),
    ("loop", "%a", "fmul float %s, 5.000000e-01"),
    ("loop", "%b", "fadd float %a, %x"),
    ("loop", "", "br i1 %c, label %loop, label %exit"),
    ("exit", "", "ret void"),
]
with check.case(
    "the figure's loop",
    hint="from the definition to the use; from br to the blocks' beginnings",
):
    expect(FIGURE, [[0, 1], [1, 2], [2, 0]], [[3, 0], [3, 4]])
with check.case(
    "names that begin with other names",
    hint="where does a name end? are these the edges of this function, each "
    "from a definition to its use?",
    more="compare whole names: letters, digits, points, underscores",
):
    expect(
        [
            ("entry", "%.1", "load i64, ptr %x"),
            ("entry", "%.13", "load i64, ptr %.13.x"),
            ("entry", "%a_1", "add i64 %.13, 4"),
            ("entry", "%a", "add i64 %a_1, %.1"),
            ("entry", "", "ret i64 %a_1.b"),
        ],
        [[0, 3], [1, 2], [2, 3]],
        [],
    )
with check.case(
    "a condition that a statement computes",
    hint="a br uses a value and names blocks: edges of both kinds",
):
    expect(
        [
            ("a", "%c", "icmp slt i64 %n, 7"),
            ("a", "", "br i1 %c, label %a, label %b"),
            ("b", "", "ret void"),
        ],
        [[0, 1]],
        [[1, 0], [1, 2]],
    )
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "several blocks: a branch within the loop",
    hint="an edge to the first statement of each block, and to no other",
    essential=True,
):
    expect(
        [
            ("entry", "", "br label %loop"),
            ("loop", "%i", "phi i64 [ 0, %entry ], [ %n, %loop.endif ]"),
            ("loop", "%p", "getelementptr inbounds i32, ptr %x, i64 %i"),
            ("loop", "%v", "load i32, ptr %p, align 4"),
            ("loop", "%n", "add i64 %i, 1"),
            ("loop", "%c", "icmp slt i32 %v, 7"),
            ("loop", "", "br i1 %c, label %loop.if, label %loop.endif"),
            ("loop.if", "", "store i32 %v, ptr %p, align 4"),
            ("loop.if", "", "br label %loop.endif"),
            ("loop.endif", "%d", "icmp slt i64 %n, 1048576"),
            ("loop.endif", "", "br i1 %d, label %loop, label %exit"),
            ("exit", "", "ret void"),
        ],
        [
            *([1, 2], [1, 4], [2, 3], [2, 7], [3, 5], [3, 7]),
            *([4, 1], [4, 9], [5, 6], [9, 10]),
        ],
        [[0, 1], [6, 7], [6, 9], [8, 9], [10, 1], [10, 11]],
    )
with check.hidden_case(
    "used twice, used by itself, branched to twice",
    hint="each edge once, and an edge may lead to where it began",
):
    expect(
        [
            ("a", "%x", "phi i64 [ 3, %e ], [ %x, %a ], [ %y, %b ]"),
            ("a", "%y", "mul i64 %x, %x"),
            ("a", "", "br i1 %z, label %b, label %b"),
            ("b", "", "br label %b"),
        ],
        [[0, 0], [0, 1], [1, 0]],
        [[2, 3], [3, 3]],
    )
with check.hidden_case(
    "rows ascend, with more than nine statements",
    hint="sort numbers, not texts",
):
    many = [("e", f"%v{i}", "add i64 1, 2") for i in range(12)]
    many[3] = ("e", "%v3", "add i64 %v11, %v2")
    many[11] = ("e", "%v11", "add i64 %v10, %v9")
    many[0] = ("e", "%v0", "add i64 %v11, %v3")
    edges = [[2, 3], [3, 0], [9, 11], [10, 11], [11, 0], [11, 3]]
    expect(many, edges, [])
    back = [
        ("a", "", "br label %c"),
        ("b", "", "br label %c"),
        ("c", "", "br i1 %z, label %b, label %a"),
    ]
    expect(back, [], [[0, 2], [1, 2], [2, 0], [2, 1]])
with check.hidden_case(
    "a condition whose name begins like a block's",
    hint="a target is a whole name",
):
    expect(
        [
            ("a", "%a.c", "icmp slt i64 %n, 7"),
            ("a", "", "br i1 %a.c, label %a, label %b"),
            ("b", "", "ret void"),
        ],
        [[0, 1]],
        [[1, 0], [1, 2]],
    )
with check.hidden_case(
    "names of blocks that are no targets, calls that begin with br",
    hint="only br branches; a phi names blocks without going there",
):
    expect(
        [
            ("e", "%bread", "call double @llvm.sin.f64(double %q)"),
            ("e", "", "br label %f"),
            ("f", "%p", "phi double [ %bread, %e ], [ %p, %f ]"),
            ("f", "%br", "fadd double %bread, %p"),
            ("f", "%u", "fmul double %br, %br"),
            ("f", "", "ret void"),
        ],
        [[0, 2], [0, 3], [2, 2], [2, 3], [3, 4]],
        [[1, 2]],
    )
with check.hidden_case(
    "names beside brackets of all kinds, and with a point at the end",
    hint="a name ends where no letter, digit, point or underscore follows",
):
    expect(
        [
            ("e", "%a.", "load i64, ptr %x"),
            ("e", "%a", "load i64, ptr %x"),
            ("e", "%v", "freeze <2 x i64> <i64 %a., i64 %a>"),
            ("e", "%w", "insertvalue {i64, i64} {i64 0, i64 %a}, i64 %a., 0"),
            ("e", "", "call void @f({i64, i64}%w)[<2 x i64>%v]"),
        ],
        [[0, 2], [0, 3], [1, 2], [1, 3], [2, 4], [3, 4]],
        [],
    )
with check.hidden_case(
    "one statement, none, and two calls",
    hint="shape (0, 2) where there are no edges; nothing is kept",
    guard=True,
):
    expect([("e", "", "ret void")], [], [])
    expect([], [], [])
    expect(FIGURE[:3], [[0, 1], [1, 2], [2, 0]], [])
with check.hidden_case(
    "statements stay as they were, and so do earlier results",
    hint="a new array in each call",
    guard=True,
):
    given = check.shared(list(FIGURE))
    first = flow_graph(given)
    expect([FIGURE[4], *FIGURE[:3], FIGURE[4]], [[1, 2], [2, 3], [3, 1]], [])
    check.equal(given, FIGURE, name="statements")
    for at, edges in enumerate(([[0, 1], [1, 2], [2, 0]], [[3, 0], [3, 4]])):
        check.close(first[at], edges, rtol=0, atol=0, name="the first edges")
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Task 4. Normalise (2 points)
#
# `%.13` and `%.20` are only names, and 5 and 42 only numbers. A *kind* of statement is what is left without them.
#
# `normalise(statement)` takes a tuple of `parse` and returns a string:
#
# 1. `, align N` at the end of the operation is dropped ($N$ stands for digits);
# 2. each name that begins with `%` becomes `<%ID>`;
# 3. each floating-point constant becomes `<FLOAT>`: decimal, `2.5`, `-1.500000e+00`, `1.0e5`
#    (perhaps `-`; digits, a point, digits; perhaps `e`, a sign or none, digits),
#    or hexadecimal, `0x3FE8000000000000`, `0xH4200` (`0x`, perhaps `H`, digits and `A` to `F`);
# 4. each integer becomes `<INT>`: `7`, `-12`;
# 5. where the result is not empty, `<%ID> = ` stands in front.

# %% [markdown]
# A constant is a whole word: before it stands a blank, a comma, an opening parenthesis or square bracket, or nothing;
# behind it a blank, a comma, a closing one, or nothing.
# So `i64`, `@llvm.exp.f64`, `!5` and `double` stay as they are.
#
# | result | operation | becomes |
# |---|---|---|
# | `"%.3"` | `add i64 %.13, 5` | `<%ID> = add i64 <%ID>, <INT>` |
# | `"%s"` | `phi float [ 1.000000e+00, %entry ], [ %b, %loop ]` | `<%ID> = phi float [ <FLOAT>, <%ID> ], [ <%ID>, <%ID> ]` |
# | `""` | `load i64, ptr %p, align 4, !tbaa !5` | `load i64, ptr <%ID>, align <INT>, !tbaa !5` |
#
# About 6 lines, with `re.sub(pattern, new, text)`:
# `(?<!a)b` finds a `b` that no `a` precedes, without taking anything else along, `b(?!a)` one that no `a` follows; `[^ ,]` is any one character but these two.


# %% nbgrader={"grade_id": "normalise", "solution": true}
def normalise(statement: tuple[str, str, str]) -> str:
    """Return a statement's kind: no names, no constants."""
    ### BEGIN SOLUTION
    _, result, text = statement
    text = re.sub(r", align \d+$", "", text)
    text = re.sub(r"%[\w.]+", "<%ID>", text)
    word = r"(?<![^\s,(\[])({})(?![^\s,)\]])"
    real = r"-?\d+\.\d+(e[+-]?\d+)?|0xH?[0-9A-F]+"
    text = re.sub(word.format(real), "<FLOAT>", text)
    text = re.sub(word.format(r"-?\d+"), "<INT>", text)
    return f"<%ID> = {text}" if result else text
    ### END SOLUTION


# %% explore=true
for statement in parse(random_program(39)[0])[:12]:
    print(normalise(statement))

# %% nbgrader={"grade_id": "normalise-check", "grade": true, "points": 2}
from labkit import check


def expect(operation, want, result="%r"):
    """Compare the kind of one statement."""
    check.equal(normalise(("loop", result, operation)), want, name=operation)


with check.case(
    "the worked examples",
    hint="names, then constants; <%ID> = in front of what has a result",
):
    expect("add i64 %.13, 5", "<%ID> = add i64 <%ID>, <INT>")
    expect(
        "phi float [ 1.000000e+00, %entry ], [ %b, %loop ]",
        "<%ID> = phi float [ <FLOAT>, <%ID> ], [ <%ID>, <%ID> ]",
    )
with check.case(
    "types and functions keep their digits",
    hint="a constant is a whole word",
    essential=True,
):
    expect(
        "call double @llvm.exp.f64(double %.28)",
        "<%ID> = call double @llvm.exp.f64(double <%ID>)",
    )
    expect("sext i16 %v2 to i64", "<%ID> = sext i16 <%ID> to i64")
with check.case(
    "a statement without a result, an alignment",
    hint="nothing in front; the alignment at the end goes, comma included",
):
    expect("store i32 %.27, ptr %x, align 4", "store i32 <%ID>, ptr <%ID>", "")
    want = "load i64, ptr <%ID>, align <INT>, !tbaa !5"
    expect("load i64, ptr %p, align 4, !tbaa !5", want, "")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "integers: negative, several digits, several of them",
    hint="the sign belongs to the number",
):
    expect("add i32 %a, -12", "<%ID> = add i32 <%ID>, <INT>")
    expect("sub i64 0, 1048576", "<%ID> = sub i64 <INT>, <INT>")
    expect("and i16 7,-3", "<%ID> = and i16 <INT>,<INT>")
    expect("ret i64 12", "ret i64 <INT>", "")
with check.hidden_case(
    "floating-point constants in every form",
    hint="a sign, digits around a point, an exponent, or hexadecimal digits",
):
    for constant in ("2.5", "-7.250000e+01", "3.000000e-10", "1.0e5"):
        want = "<%ID> = fmul double <FLOAT>, <%ID>"
        expect(f"fmul double {constant}, %x", want)
    for constant in ("0x3FE8000000000000", "0xH4200"):
        expect(f"fadd half %y, {constant}", "<%ID> = fadd half <%ID>, <FLOAT>")
with check.hidden_case(
    "constants beside brackets and parentheses",
    hint="what may stand beside a whole word?",
):
    expect(
        "call float @llvm.pow.f32(float 2.5, float %b)",
        "<%ID> = call float @llvm.pow.f32(float <FLOAT>, float <%ID>)",
    )
    expect(
        "call i32 @f3(i32 %b, i32 -4)",
        "<%ID> = call i32 @f3(i32 <%ID>, i32 <INT>)",
    )
    expect(
        "phi i64 [0, %a], [%b, %c]",
        "<%ID> = phi i64 [<INT>, <%ID>], [<%ID>, <%ID>]",
    )
    expect("call i8 @g(8)", "<%ID> = call i8 @g(<INT>)")
    expect("call i8 @g(half 0xH4200)", "<%ID> = call i8 @g(half <FLOAT>)")
    expect(
        "call i8 @g(2.5, [2.5,%a])",
        "<%ID> = call i8 @g(<FLOAT>, [<FLOAT>,<%ID>])",
    )
    expect(
        "phi i8 [%a, 2.5], [%b,-1]",
        "<%ID> = phi i8 [<%ID>, <FLOAT>], [<%ID>,<INT>]",
    )
with check.hidden_case(
    "digits behind a sign that is no minus, or behind a point",
    hint="neither # nor ! nor a point may stand beside a constant",
):
    want = "<%ID> = call double @f.2(double <%ID>) #1, !range !12"
    expect("call double @f.2(double %x) #1, !range !12", want)
    want = "<%ID> = call i64 @g-3(i64 <INT>, i64 <%ID>) #0"
    expect("call i64 @g-3(i64 -3, i64 %y) #0", want)
with check.hidden_case(
    "what only looks like a number",
    hint="hexadecimal digits are A to F, the exponent is a small e",
):
    for word in ("0xab", "0XFF", "1.0E5", "0xH4g", "7e", "1.5.2", "5:"):
        expect(f"tag {word}, 4", f"tag {word}, <INT>", "")
with check.hidden_case(
    "names of all sorts",
    hint="letters, digits, points and underscores; %7 is a name, too",
):
    want = "<%ID> = fadd float <%ID>, <%ID>"
    for pair in ("%7, %8", "%.6.0, %.7.0", "%e5, %x_1.5", "%add, %i64"):
        expect(f"fadd float {pair}", want)
    want = "br i1 <%ID>, label <%ID>, label <%ID>"
    expect("br i1 %.34, label %loop.if, label %l_2.endif", want, "")
with check.hidden_case(
    "an alignment only at the end; nothing to replace",
    hint="align elsewhere is a word as any other",
):
    expect("load half, ptr %p, align 16", "<%ID> = load half, ptr <%ID>")
    expect("ret void", "ret void", "")
    want = "<%ID> = alloca i64, align <INT>, addrspace(<INT>)"
    expect("alloca i64, align 8, addrspace(5)", want)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Given: a corpus without labels
#
# `collect(seeds)` makes programs and runs your three functions on each.
# The 600 programs below are for learning vectors only; their labels are never used.
# `vocabulary` numbers the kinds.


# %% explore=true
def understood(text, label):
    """Return a program's kinds, edges and label."""
    statements = parse(text)
    data, control = flow_graph(statements)
    kinds = [normalise(s) for s in statements]
    return {"kinds": kinds, "data": data, "control": control, "label": label}


def collect(seeds):
    """Return the random programs of these seeds."""
    return [understood(*random_program(seed)) for seed in seeds]


def vocabulary(programs):
    """Return a number for each kind of statement."""
    found = {}
    for program in programs:
        for kind in program["kinds"]:
            found.setdefault(kind, len(found))
    return found


def codes_of(program, words):
    """Return the numbers of a program's kinds."""
    numbers = [words.get(kind, len(words)) for kind in program["kinds"]]
    return np.array(numbers, np.int64)


# %% explore=true
corpus = collect(range(600))
words = vocabulary(corpus)
total = sum(len(program["kinds"]) for program in corpus)
print(f"{total:,} statements of {len(words)} kinds in {len(corpus)} programs")

# %% [markdown]
# ## Vectors from neighbours
#
# ### Task 5. Skip-gram pairs (2 points)
#
# The *skip-gram* model (Mikolov et al. 2013) learns a vector for each word by predicting which words stand near it.
# Near means: few words away in a text. In inst2vec it means: few edges away in the flow graph.
#
# `skipgram_pairs(edges, codes, width)` takes edges, int64 of shape `(m, 2)`, and the code of each of $n$ statements, the number of its kind, int64.
# An edge can be walked in both directions here.
# Two *different* statements are neighbours if the shortest way between them has at most `width` edges; `width` is at least 1.
#
# It returns an int64 array of two columns: for each statement $i$ in order,
# and each of its neighbours $j$ in order, the row `(codes[i], codes[j])`.

# %% [markdown]
# `edges` may have a row twice, rows in both directions, or from a statement to itself; none of that makes a further pair.
# Statements may have equal codes, and then a pair of equal codes occurs.
# Without neighbours the result has shape `(0, 2)`; $n$ may be 0.
#
# For the edges `[[0, 1], [1, 2]]`, the codes `[5, 8, 5]` and width 1 the pairs are `[[5, 8], [8, 5], [8, 5], [5, 8]]`.
# With width 2, `[5, 5]` is among the first statement's and among the third's: six rows.
# About 10 lines.


# %% nbgrader={"grade_id": "skipgram-pairs", "solution": true}
def skipgram_pairs(edges, codes, width: int) -> np.ndarray:
    """Return (centre, context) for all statements at most width apart."""
    ### BEGIN SOLUTION
    n = len(codes)
    step = np.eye(n, dtype=np.int64)
    step[edges[:, 0], edges[:, 1]] = 1
    step |= step.T
    near = np.eye(n, dtype=np.int64)
    for _ in range(width):
        near = np.minimum(near @ step, 1)
    np.fill_diagonal(near, 0)
    return codes[np.argwhere(near)]
    ### END SOLUTION


# %% explore=true
program = corpus[12]
edges = np.concatenate([program["data"], program["control"]])
codes = codes_of(program, words)
for width in (1, 2, 3):
    found = len(skipgram_pairs(edges, codes, width))
    print(f"width {width}: {found} pairs, {found / len(codes):.1f} neighbours")

# %% nbgrader={"grade_id": "skipgram-pairs-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


def same(want, edges, codes, width):
    """Compare all pairs, in order."""
    arrays = np.array(edges, np.int64).reshape(-1, 2), np.array(codes, np.int64)
    found = skipgram_pairs(*arrays, width)
    name = f"pairs of width {width}"
    if len(codes) < 7:
        name += f", edges {edges}, codes {codes}"
    check.close(found, want, rtol=0, atol=0, dtype="int64", name=name)


with check.case(
    "the worked example, both widths",
    hint="how many steps from each statement, and both ways? are its "
    "neighbours in order, as codes?",
):
    want = [[5, 8], [8, 5], [8, 5], [5, 8]]
    same(want, [[0, 1], [1, 2]], [5, 8, 5], 1)
    want = [[5, 8], [5, 5], [8, 5], [8, 5], [5, 5], [5, 8]]
    same(want, [[0, 1], [1, 2]], [5, 8, 5], 2)
with check.case(
    "edges lead both ways, and none to itself",
    hint="a statement is not its own neighbour, whichever way you go",
):
    want = [[4, 2], [3, 1], [2, 4], [1, 3]]
    same(want, [[2, 0], [1, 1], [1, 3]], [4, 3, 2, 1], 1)
    want = [[4, 3], [4, 2], [4, 1], [3, 4], [3, 2], [3, 1]]
    want += [[2, 4], [2, 3], [1, 4], [1, 3]]
    same(want, [[2, 0], [1, 1], [1, 3], [0, 1]], [4, 3, 2, 1], 2)
### BEGIN HIDDEN TESTS
from collections import deque


def wanted(edges, codes, width):
    """Return the pairs, by a search from each statement."""
    beside = {i: set() for i in range(len(codes))}
    for a, b in edges:
        beside[a].add(b)
        beside[b].add(a)
    found = []
    for i in range(len(codes)):
        away, queue = {i: 0}, deque([i])
        while queue:
            at = queue.popleft()
            for to in beside[at] - away.keys():
                away[to] = away[at] + 1
                queue.append(to)
        near = sorted(j for j, d in away.items() if 0 < d <= width)
        found += [(codes[i], codes[j]) for j in near]
    return np.array(found, np.int64).reshape(-1, 2)


def expect(edges, codes, width):
    """Compare all pairs with the search's."""
    same(wanted(edges, codes, width), edges, codes, width)


def random_graph(n, m, seed):
    """Return edges and codes."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(n, size=(m, 2)).tolist()
    return edges, rng.integers(9, size=n).tolist()


with check.hidden_case(
    "a larger graph, several widths",
    hint="the shortest way decides; ways may lead in circles",
    essential=True,
):
    for n, m, width, seed in ((12, 14, 1, 0), (12, 14, 2, 1), (20, 22, 3, 2)):
        expect(*random_graph(n, m, seed), width)
with check.hidden_case(
    "rows twice, both directions, a triangle",
    hint="a pair of statements counts once, however many ways there are",
):
    expect([[0, 1], [0, 1], [1, 0], [1, 2]], [7, 8, 9], 1)
    expect([[0, 1], [1, 2], [2, 0], [2, 3]], [7, 8, 9, 6], 2)
    expect([[0, 1], [1, 3], [0, 2], [2, 3]], [7, 8, 9, 6], 2)
with check.hidden_case(
    "a long chain, and one that is not connected",
    hint="width edges and no more",
):
    chain = [[i, i + 1] for i in range(29)]
    for width in (1, 4, 29, 40):
        expect(chain, list(range(30)), width)
    expect([[0, 1], [2, 3]], [1, 1, 1, 1], 5)
with check.hidden_case(
    "ways by the hundred between two statements",
    hint="is there a way? not: how many?",
):
    whole = [[i, j] for i in range(16) for j in range(i)]
    expect(whole, list(range(16)), 20)
with check.hidden_case(
    "no edges, one statement, none",
    hint="two columns, even where there are no rows",
    guard=True,
):
    expect([], [3, 4], 2)
    expect([[0, 0]], [3], 1)
    expect([], [], 1)
with check.hidden_case(
    "arguments stay as they were, and so do earlier results",
    hint="write into new arrays",
    guard=True,
):
    edges = np.array([[2, 1], [1, 0], [2, 1]])
    codes = np.array([5, 8, 5])
    with check.unchanged(edges=edges, codes=codes):
        first = skipgram_pairs(edges, codes, 1)
        skipgram_pairs(edges, codes + 1, 1)
    want = wanted(edges.tolist(), codes.tolist(), 1)
    check.close(first, want, rtol=0, atol=0, dtype="int64", name="the first")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 6. Negative sampling (2 points)
#
# Each kind has two vectors, one as a centre and one as a context. Their product is a score: how well do they go together?
# A pair from the graph should score high. So that not all scores grow, $K$ contexts drawn at random should score low.
# For one centre $v$, its true context $u_0$ and the drawn $u_1, \dots, u_K$:
#
# $$L = -\log\sigma(v \cdot u_0) - \sum_{k=1}^{K} \log\sigma(-v \cdot u_k), \qquad \sigma(s) = \frac{1}{1 + e^{-s}}$$
#
# `negative_sampling(centre, others)` takes $v$ of $b$ pairs, `(b, d)`, and $u_0, \dots, u_K$ of each, `(b, K + 1, d)`, both float64.
# It returns three things: the mean of $L$ over the pairs, and its gradients with respect to `centre` and to `others`,
# in their shapes.

# %% [markdown]
# $K$ may be 0, $b$ is at least 1. Scores may be as large as $\pm 10^4$: loss and gradients have to be right.
# Remember $\frac{d}{ds}\log\sigma(s) = 1 - \sigma(s)$.
#
# `centre` = `[[1, 0]]` and `others` = `[[[0, 1], [2, 0]]]` have the scores 0 and 2, the loss 2.820075, and the
# gradients `[[1.761594, -0.5]]` and `[[[-0.5, 0], [0.880797, 0]]]`.
# About 8 lines; `np.logaddexp(0, s)` is $\log(1 + e^s)$.


# %% nbgrader={"grade_id": "negative-sampling", "solution": true}
def negative_sampling(centre: np.ndarray, others: np.ndarray):
    """Return the mean loss, and both gradients."""
    ### BEGIN SOLUTION
    scores = np.einsum("bd,bkd->bk", centre, others)
    sign = np.ones(scores.shape[1])
    sign[0] = -1
    cost = np.logaddexp(0, sign * scores)
    d_scores = sign * np.exp(sign * scores - cost) / len(centre)
    d_centre = np.einsum("bk,bkd->bd", d_scores, others)
    d_others = d_scores[:, :, None] * centre[:, None, :]
    return cost.sum() / len(centre), d_centre, d_others
    ### END SOLUTION


# %% explore=true
draw = np.random.default_rng(0)
centre, others = draw.normal(size=(2, 3)), draw.normal(size=(2, 4, 3))
loss, d_centre, d_others = negative_sampling(centre, others)
print(f"loss {loss:.4f}; gradient of the first centre {d_centre[0].round(4)}")
moved = centre.copy()
moved[0, 0] += 1e-6
change = (negative_sampling(moved, others)[0] - loss) / 1e-6
print(f"by a difference: {change:.4f}")

# %% nbgrader={"grade_id": "negative-sampling-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


def same(want, centre, others, *parts, tolerance=1e-5):
    """Compare the loss, and the gradients that are named."""
    found = negative_sampling(centre, others)
    check.equal(len(found), 3, name="parts of the result")
    names = ("loss", "gradient of centre", "gradient of others")
    near = {"rtol": tolerance, "atol": tolerance / 1e3}
    for i in parts or range(3):
        check.close(found[i], want[i], **near, name=names[i])


shown = np.array([[1.0, 0]]), np.array([[[0, 1.0], [2, 0]]])
with check.case(
    "the worked example: the loss",
    hint="which sign has each score in its logarithm? which shape have the "
    "scores, and their slopes?",
):
    same([2.820075], *shown, 0)
with check.case(
    "the worked example: the gradients",
    hint="the loss's slope in a score: which sign, and can it exceed 1? times "
    "which vector, still as given?",
):
    slopes = [[[-0.5, 0], [0.880797, 0]]]
    same([0, [[1.761594, -0.5]], slopes], *shown, 1, 2)
with check.case(
    "several pairs: means",
    hint="a mean over what, a sum over what? is it the loss of this call's "
    "arrays?",
    essential=True,
):
    centre = np.array([[1.0, 0], [0, -1]])
    others = np.array([[[0, 1.0], [2, 0]], [[1, 1], [0, 3]]])
    push = [[[-0.25, 0], [0.440399, 0]], [[0, 0.365529], [0, -0.023713]]]
    pull = [[0.880797, -0.25], [-0.365529, -0.294390]]
    same([2.090962, pull, push], centre, others, tolerance=1e-4)
### BEGIN HIDDEN TESTS
import math


def wanted(centre, others):
    """Return loss and gradients, number by number."""
    b = len(centre)
    loss, d_centre, d_others = 0.0, np.zeros_like(centre), np.zeros_like(others)
    for i in range(b):
        for k, u in enumerate(others[i]):
            s = -math.fsum(centre[i] * u) if k else math.fsum(centre[i] * u)
            tail = math.exp(-abs(s))
            loss += (math.log1p(tail) + max(-s, 0)) / b
            slope = (tail if s > 0 else 1) / (1 + tail) / b
            slope = slope if k else -slope
            d_centre[i] += slope * u
            d_others[i, k] += slope * centre[i]
    return loss, d_centre, d_others


def expect(centre, others, *parts):
    """Compare with loss and gradients computed number by number."""
    want = wanted(centre, others)
    same(want, centre, others, *parts, tolerance=1e-9)


def some(b, k, d, seed, wide=1.0):
    """Return b centres and their contexts."""
    rng = np.random.default_rng(seed)
    shapes = (b, d), (b, k + 1, d)
    return [wide * rng.normal(size=shape) for shape in shapes]


with check.hidden_case(
    "several pairs and contexts",
    hint="a mean over pairs, a sum over contexts",
    essential=True,
):
    expect(*some(5, 3, 4, 0))
with check.hidden_case(
    "gradients, each by itself",
    hint="the first context pulls, the others push",
    essential=True,
):
    expect(*some(7, 5, 6, 1, wide=1.5), 1)
    expect(*some(7, 5, 6, 1, wide=1.5), 2)
with check.hidden_case(
    "no drawn context, one pair, one dimension",
    hint="K may be 0",
):
    expect(*some(3, 0, 4, 2))
    expect(*some(1, 2, 1, 3))
    expect(*some(1, 0, 1, 4))
with check.hidden_case(
    "scores of thousands",
    hint="which of e^s and e^-s is small? np.logaddexp decides by itself",
):
    for score in (30.0, 800.0, 1e4):
        for a, b in ((score, -score), (-score, score), (score, score)):
            centre, others = np.array([[1.0]]), np.array([[[a], [b]]])
            expect(centre, others)
with check.hidden_case(
    "arguments stay as they were, and so do earlier results",
    hint="write into new arrays",
    guard=True,
):
    centre, others = some(2, 2, 3, 5)
    with check.unchanged(centre=centre, others=others):
        first = negative_sampling(centre, others)
        negative_sampling(centre + 1, others)
    for got, want in zip(first, wanted(centre, others), strict=True):
        check.close(got, want, rtol=1e-9, name="the first result")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Given: training the vectors
#
# Stochastic gradient descent over all pairs of the corpus.
# Contexts are drawn by their frequency to the power of 3/4, as in word2vec.
# In the end the mean is subtracted: what all kinds have in common tells none from another,
# and would bring all cosines near 1.


# %% explore=true
def pairs_of(programs, words, width=2):
    """Return the skip-gram pairs of all programs."""
    found = []
    for program in programs:
        edges = np.concatenate([program["data"], program["control"]])
        found.append(skipgram_pairs(edges, codes_of(program, words), width))
    return np.concatenate(found)


# %% explore=true
def train_vectors(pairs, n, seed=0, dim=24, epochs=8, rate=0.05, batch=64):
    """Return n vectors, and the mean loss of each epoch."""
    draw = np.random.default_rng(seed)
    centre, context = (draw.random((n, dim)) - 0.5) / dim, np.zeros((n, dim))
    chance = (1 + np.bincount(pairs[:, 0], minlength=n)) ** 0.75
    limits, losses = np.cumsum(chance / chance.sum())[:-1], []
    for _ in range(epochs):
        order, costs = draw.permutation(len(pairs)), []
        for first in range(0, len(pairs), batch):
            c, true = pairs[order[first : first + batch]].T
            drawn = np.searchsorted(limits, draw.random((len(c), 5)))
            ids = np.concatenate([true[:, None], drawn], axis=1)
            loss, dc, do = negative_sampling(centre[c], context[ids])
            np.subtract.at(centre, c, rate * len(c) * dc)
            np.subtract.at(context, ids, rate * len(c) * do)
            costs.append(loss)
        losses.append(np.mean(costs))
    return centre - centre.mean(axis=0), losses


# %% explore=true
pairs = pairs_of(corpus, words)
vectors, losses = train_vectors(pairs, len(words))
print(f"{len(pairs):,} pairs; losses {np.round(losses, 3)}")
unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
for start in ("<%ID> = fadd float", "<%ID> = load i64"):
    kind = next(name for name in words if name.startswith(start))
    near = np.argsort(-(unit @ unit[words[kind]]))[1:5]
    print(f"\n{kind} is nearest to")
    for i in near:
        print(f"   {unit[i] @ unit[words[kind]]:.2f} {list(words)[i]}")

# %% [markdown]
# All vectors begin near 0, where each of the six scores costs $\log 2$: 4.16 together.
# Most is learned in the first epoch. Then the loss hardly falls:
# a statement has neighbours of several kinds.
# So look at whom the vectors put together: do neighbours have the same type, or the same operation?
#
# ### Look: a map of statements
#
# Of the 24 dimensions, the two directions in which the vectors of arithmetic on two values differ most.


# %% explore=true
def two_values(kind):
    """Return (operation, type) of arithmetic on two values, or None."""
    match = re.fullmatch(r"<%ID> = (\w+) (\w+) <%ID>, <%ID>", kind)
    return match and match.groups()


def principal(vectors):
    """Return the two coordinates in which vectors differ most."""
    middle = vectors - vectors.mean(axis=0)
    return middle @ np.linalg.svd(middle, full_matrices=False)[2][:2].T


# %% explore=true
REALS, left, right = ("half", "float", "double"), *plot.panels(2)
for ax, types, title in (
    (left, (*REALS, "i16", "i32", "i64"), "Arithmetic, by its neighbours"),
    (right, REALS, "Floating point alone"),
):
    kinds = [k for k in words if two_values(k) and two_values(k)[1] in types]
    flat, points = principal(vectors[[words[k] for k in kinds]]), {}
    for name in types:
        mine = [i for i, k in enumerate(kinds) if two_values(k)[1] == name]
        points[name] = flat[mine, 0], flat[mine, 1]
    plot.scatter(
        points,
        title=title,
        xlabel="first direction",
        ylabel="second direction",
        ax=ax,
    )
    heaps = {name: np.mean(points[name], axis=1) for name in types}
    if ax is left:
        middle = np.mean([heaps.pop(k) for k in REALS], axis=0)
        heaps["half, float, double"] = middle
    for name, at in heaps.items():
        off = (-40, -20) if "," in name else (-10, 14)
        ax.annotate(name, at, off, textcoords="offset points")
    ax.get_legend().remove()
    ax.margins(0.25)

# %% [markdown]
# Nobody told the model what a type is. Integers lie apart from floating point, and one width of integers from another,
# because statements of one type hand each other values.
# (What lies on one heap on the left may be apart in other directions, as on the right: a mark is an operation.)
# Does it also know that `fmul` on floats is to `fmul` on doubles what `fadd` on floats is to `fadd` on doubles?

# %% [markdown]
# ### Task 7. Analogies (1 point)
#
# *a is to b as c is to ...?* `analogy(vectors, a, b, c)` takes float64 vectors, `(n, d)`, and the numbers of three different rows.
# It returns the number of the row $x$ whose cosine with $q = v_b - v_a + v_c$ is the largest:
# $\frac{v_x \cdot q}{|v_x|\,|q|}$. Rows `a`, `b` and `c` themselves do not count.
# A row of length 0 has cosine 0, and if $q$ has length 0, all have.
# Of exactly equal cosines the lowest row wins. Equal rows have equal cosines: compute each row's in the same way. There are at least four rows.
#
# For the rows `[1, 0]`, `[0, 1]`, `[2, 0]`, `[0, 9]`, `[1, 1]`: `analogy(vectors, 0, 1, 2)` is 4. About 5 lines.
#
# Analogies made word2vec's vectors famous. Few of yours will hold: look at three, then Experiment 1 counts.


# %% nbgrader={"grade_id": "analogy", "solution": true}
def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    """Return the row that is to row c what row b is to row a."""
    ### BEGIN SOLUTION
    lengths = np.linalg.norm(vectors, axis=1)
    lengths[lengths == 0] = 1
    cosines = vectors @ (vectors[b] - vectors[a] + vectors[c]) / lengths
    cosines[[a, b, c]] = -np.inf
    return int(np.argmax(cosines))
    ### END SOLUTION


# %% explore=true
def say(operation, kind):
    """Return the kind of arithmetic on two values."""
    return f"<%ID> = {operation} {kind} <%ID>, <%ID>"


names = list(words)
for a, b, c in (
    (("fmul", "float"), ("fmul", "double"), ("fadd", "float")),
    (("add", "i32"), ("add", "i64"), ("sdiv", "i32")),
    (("fadd", "half"), ("fdiv", "half"), ("fadd", "double")),
):
    found = analogy(vectors, *(words[say(*each)] for each in (a, b, c)))
    want = [y if x != y else z for x, y, z in zip(a, b, c, strict=True)]
    said = " ".join(two_values(names[found]) or [names[found]])
    print(" ".join(a), "is to", " ".join(b), "as", " ".join(c), "is to")
    print(f"   {' '.join(want)} (expected), {said} (found)")

# %% nbgrader={"grade_id": "analogy-check", "grade": true, "points": 1}
import numpy as np

from labkit import check


def same(want, vectors, *rows):
    """Compare the row."""
    check.equal(analogy(vectors, *rows), want, name=f"analogy of {rows}")


shown = np.array([[1.0, 0], [0, 1], [2, 0], [0, 9], [1, 1]])
with check.case(
    "the worked example", hint="b minus a plus c, then the nearest by cosine"
):
    same(4, shown, 0, 1, 2)
with check.case(
    "a cosine, not a distance, nor a product",
    hint="how long a row is must not matter",
    essential=True,
):
    rows = np.array([[1.0, 0], [0, 1], [1, 0.5], [0, 0.01], [9, 9], [0.2, 1.8]])
    same(3, rows, 0, 1, 2)
    same(4, rows, 1, 0, 2)
### BEGIN HIDDEN TESTS


def wanted(vectors, a, b, c):
    """Return the row of the largest cosine, one after the other."""
    q, best, found = vectors[b] - vectors[a] + vectors[c], -9.0, -1
    for x, v in enumerate(vectors):
        size = float(np.sqrt((v * v).sum()) * np.sqrt((q * q).sum()))
        cosine = float((v * q).sum()) / size if size else 0.0
        if x not in (a, b, c) and cosine > best:
            best, found = cosine, x
    return found


def expect(vectors, *rows):
    """Compare with a search of one row after the other."""
    same(wanted(vectors, *rows), vectors, *rows)


with check.hidden_case(
    "random vectors, any three rows",
    hint="a, b and c do not count, wherever they stand",
):
    for number, (n, d) in enumerate(((40, 5), (15, 3), (60, 2))):
        draw = np.random.default_rng(number)
        some = draw.normal(size=(n, d))
        for _ in range(4):
            chosen = draw.choice(n, 3, replace=False).tolist()
            expect(some, *chosen)
with check.hidden_case(
    "the three rows would be nearest",
    hint="is it found anew for these vectors? which rows may not be it, even "
    "if all cosines are negative?",
):
    rows = np.array([[1.0, 0], [1, 0.1], [3, 0], [-1, 5], [-1, -1]])
    for chosen in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        expect(rows, *chosen)
    rows = np.array([[-1.0, 2], [1, 0], [1, 1], [1, 2], [-2, 0], [-4, -1]])
    expect(rows, 3, 1, 2)
with check.hidden_case(
    "a row of zeros, equal cosines, q of length 0",
    hint="a cosine of 0 is larger than a negative one; the lowest row wins",
):
    rows = np.array([[1.0, 0], [2, 0], [4, 0], [-1, 0], [0, 0], [-2, 0]])
    expect(rows, 0, 1, 2)
    rows = np.array([[4.0, 0], [0, 2], [0, 0], [0, 2], [-2, 0], [-1, 0]])
    expect(rows, 1, 2, 3)
    rows = np.array([[1.0, 0], [0, 1], [2, 0], [0, 0], [1, 1], [-1, 0]])
    for chosen in ((0, 1, 2), (2, 3, 1), (3, 4, 5)):
        expect(rows, *chosen)
    rows = np.array([[0.0, 1], [8, 0], [1, 0], [2, 0], [0, 2], [4, 0]])
    expect(rows, 4, 0, 1)
    rows = np.array([[1.0, 1], [0, 1], [1, 2], [1, 3], [1, 1], [0, 0]])
    expect(rows, 2, 0, 1)
    expect(np.array([[1.0], [2], [4], [-1], [-2]]), 0, 1, 2)
with check.hidden_case(
    "vectors of any length",
    hint="only a row of zeros has no direction",
):
    small = np.random.default_rng(6).normal(size=(12, 4))
    small[::2] *= 1e-12
    for chosen in ((0, 2, 4), (1, 3, 5), (0, 1, 2)):
        expect(small, *chosen)
with check.hidden_case(
    "cosines that differ little",
    hint="compute in float64, as the vectors are",
):
    rows = np.array([[5.0, 0], [0, 4], [5, 0], [1, 1], [1, 1 + 1e-8], [-1, 0]])
    expect(rows, 0, 1, 2)
with check.hidden_case(
    "vectors stay as they were",
    hint="divide in a new array",
    guard=True,
):
    some = np.random.default_rng(5).normal(size=(9, 4))
    with check.unchanged(vectors=some):
        first = analogy(some, 0, 1, 2)
    check.equal(first, wanted(some, 0, 1, 2), name="row")
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### Experiment 1. How many analogies hold?
#
# All analogies of two operations and two types, for instance `fadd` and `fmul` on floats and doubles.
# The right answer has to win against more than a hundred other kinds.
# Vectors drawn at random are a weak control: whoever only knows the type, and guesses the operation, is often right, too.


# %% explore=true
def analogies(vectors, words):
    """Return the share that is right, of all pairs of operations and types."""
    by_name = {two_values(k): i for k, i in words.items() if two_values(k)}
    right = asked = 0
    for (op, t), a in by_name.items():
        for (op2, t2), x in by_name.items():
            b, c = by_name.get((op, t2)), by_name.get((op2, t))
            if op == op2 or t == t2 or b is None or c is None:
                continue
            right += analogy(vectors, a, b, c) == x
            asked += 1
    return right / asked


# %% explore=true
def types_right(vectors, words):
    """Return how often the type is right, and a guess within it would be."""
    names, by_name = list(words), {}
    by_name = {two_values(k): i for k, i in words.items() if two_values(k)}
    right, guess = [], []
    for (op, t), a in by_name.items():
        for op2, t2 in by_name:
            b, c = by_name.get((op, t2)), by_name.get((op2, t))
            if op != op2 and t != t2 and b is not None and c is not None:
                found = two_values(names[analogy(vectors, a, b, c)])
                right.append(bool(found) and found[1] == t2)
                guess.append(1 / (sum(kind == t2 for _, kind in by_name) - 1))
    return np.mean(right), np.mean(guess)


chance = np.random.default_rng(0).normal(size=vectors.shape)
typed, guess = types_right(vectors, words)
print(f"learned on the graph: {analogies(vectors, words):.1%}")
print(f"drawn at random:      {analogies(chance, words):.1%}")
print(f"type known, operation guessed: {guess:.1%}")
print(f"the learned answers have the right type: {typed:.1%}")

# %% [markdown]
# Look at the third line first: knowing the type alone is worth nearly as much as the learned vectors are.
# And the fourth: the type is right in about three of four,
# but then the operation in one of five.
# A float's `fadd` can stand where its `fmul` stands:
# the type is easy to learn from neighbours, the operation is not.

# %% [markdown]
# ## Which programs may be tested on?
#
# ### Task 8. A split by program (1 point)
#
# A measured collection has many rows of one program: its statements, its versions, other sizes of its input.
# If they are split at random, nearly every test row has a twin in training.
#
# `split_by_program(owners, n_test, seed)` takes a list that says for each row which program it belongs to
# (all numbers or all strings), how many *programs* to test on, and a seed.
# Number the programs in the order in which they first occur.
# `np.random.default_rng(seed).permutation(number of programs)` is an order of these numbers.
# The first `n_test` of it are for testing, all others for training.
#
# It returns the pair `(train, test)`: int64 arrays of the numbers of rows, ascending.
# `n_test` may be 0 or the number of programs; there may be no rows.

# %% [markdown]
# With the owners `["b", "a", "b", "c"]`, `n_test` 1 and a seed whose order is `[0, 2, 1]`,
# program 0 is `"b"`: `test` is `[0, 2]` and `train` is `[1, 3]`. About 6 lines.


# %% nbgrader={"grade_id": "split", "solution": true}
def split_by_program(owners: list, n_test: int, seed: int):
    """Return the rows to train on, and those of n_test other programs."""
    ### BEGIN SOLUTION
    programs = list(dict.fromkeys(owners))
    order = np.random.default_rng(seed).permutation(len(programs))
    tested = {programs[number] for number in order[:n_test]}
    mask = np.array([owner in tested for owner in owners], bool)
    return np.flatnonzero(~mask), np.flatnonzero(mask)
    ### END SOLUTION


# %% explore=true
for seed in range(3):
    train, test = split_by_program(["b", "a", "b", "c"], 1, seed)
    print(f"seed {seed}: train on rows {train}, test on rows {test}")

# %% nbgrader={"grade_id": "split-check", "grade": true, "points": 1}
import numpy as np

from labkit import check


def same(want, owners, n_test, seed):
    """Compare both arrays."""
    found = split_by_program(owners, n_test, seed)
    check.equal(len(found), 2, name="parts of the result")
    exact = {"rtol": 0, "atol": 0, "dtype": "int64"}
    for at, name in enumerate(("train", "test")):
        rows = np.array(want[at], np.int64)
        of = f" of {owners}, {n_test}, {seed}" if len(owners) < 7 else ""
        check.close(found[at], rows, **exact, name=name + of)


with check.case(
    "the worked example, for several seeds",
    hint="in which order are programs numbered, and drawn? is each row in "
    "one of the two parts, the last one too?",
):
    owners = ["b", "a", "b", "c"]
    same([[0, 1, 2], [3]], owners, 1, 0)
    same([[1, 3], [0, 2]], owners, 1, 1)
    same([[1], [0, 2, 3]], owners, 2, 0)
with check.case(
    "no program on both sides",
    hint="programs are drawn, not rows",
    essential=True,
):
    owners = [0, 1, 2, 3, 4] * 4
    parts = [np.array(part) for part in split_by_program(owners, 2, 7)]
    check.equal(sum(map(len, parts)), 20, name="rows in all")
    left, right = ({owners[i] for i in part} for part in parts)
    check.equal(left & right, set(), name="programs on both sides")
    check.equal(len(right), 2, name="programs in test")
### BEGIN HIDDEN TESTS


def wanted(owners, n_test, seed):
    """Return both lists of rows."""
    programs = []
    for owner in owners:
        if owner not in programs:
            programs.append(owner)
    order = np.random.default_rng(seed).permutation(len(programs)).tolist()
    tested = [programs[i] for i in order[:n_test]]
    rows = [[], []]
    for i, owner in enumerate(owners):
        rows[owner in tested].append(i)
    return rows


def expect(owners, n_test, seed):
    """Compare with both lists, made row by row."""
    same(wanted(owners, n_test, seed), owners, n_test, seed)


with check.hidden_case(
    "programs of many rows and of one, in any order",
    hint="the order of the first rows, not that of the names",
    essential=True,
):
    for seed in range(3):
        draw = np.random.default_rng(seed + 40)
        owners = (draw.integers(30, size=80) * 7 % 31).tolist()
        expect(owners, 9, seed + 11)
        expect([f"p{owner}" for owner in owners], 4, seed)
        expect(["p10", "p1", "p100", "p1", "1"], 2, seed)
with check.hidden_case(
    "none, all, one row, no rows",
    hint="both arrays are int64, also where they are empty",
):
    expect([4, 2, 4], 0, 1)
    expect([4, 2, 4], 2, 1)
    expect(["x"], 1, 0)
    expect(["x"], 0, 0)
    expect([], 0, 3)
with check.hidden_case(
    "the same seed, the same split; the list as it was",
    hint="one generator, made of the seed in each call",
    guard=True,
):
    owners, other = [5, 3, 5, 1, 3, 9], [5, 5, 3, 3, 1, 9]
    given = check.shared(list(owners))
    first = split_by_program(given, 2, 6)
    expect(owners, 2, 6)
    expect(other, 2, 6)
    check.separate(split_by_program(other, 2, 6), *first)
    check.equal(given, [5, 3, 5, 1, 3, 9], name="owners")
    for part, rows in zip(first, wanted(owners, 2, 6), strict=True):
        check.equal(np.array(part).tolist(), rows, name="the first split")
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### Experiment 2. The same classifier, much better?
#
# 60 programs in five versions each: other constants, other arrays, statements in another order, the same label.
# A classifier sees the *bag of statements* of a version: how often each kind occurs in it.
# It is a logistic regression, with a penalty chosen by cross-validation.
# Once the 300 rows are split at random, once by program: for the test, and for cross-validation as well,
# where a twin in another fold would deceive in the same way.


# %% explore=true
def bags(programs, words):
    """Return how often each kind occurs in each program."""
    n = len(words) + 1
    counts = [np.bincount(codes_of(p, words), minlength=n) for p in programs]
    return np.array(counts, float)


def bag_accuracy(x, y, x_test, y_test, owners=None):
    """Return the test accuracy of a logistic regression."""
    from sklearn import model_selection
    from sklearn.linear_model import LogisticRegression

    penalties = {"C": [0.003, 0.01, 0.03, 0.1, 0.3, 1]}
    kind = "StratifiedKFold" if owners is None else "StratifiedGroupKFold"
    folds = getattr(model_selection, kind)(5, shuffle=True, random_state=0)
    model = model_selection.GridSearchCV(
        LogisticRegression(max_iter=2000), penalties, cv=folds
    )
    return float(model.fit(x, y, groups=owners).score(x_test, y_test))


# %% explore=true
def two_splits(words, seed, n=60, versions=5, n_test=15):
    """Return a bag's accuracy by row and by program, and the static guess."""
    owners = np.repeat(np.arange(n), versions).tolist()
    rows = collect_versions(owners, versions, 500_000 + 1000 * seed)
    x = bags(rows, words)
    y = np.array([row["label"] for row in rows])
    by_program = split_by_program(owners, n_test, seed)
    everyone = list(range(len(rows)))  # as if each row were a program
    by_row = split_by_program(everyone, n_test * versions, seed)
    found = []
    for (a, b), who in ((by_row, everyone), (by_program, owners)):
        groups = np.array(who)[a]  # validation is split in the same way
        found.append(bag_accuracy(x[a], y[a], x[b], y[b], groups))
    guess = y[by_program[1]].mean()
    return [*found, max(guess, 1 - guess)]


def collect_versions(owners, versions, first):
    """Return a version of its program for each row."""
    return [
        understood(*random_program(first + owner, row % versions))
        for row, owner in enumerate(owners)
    ]


# %% explore=true
# (about half a minute)
found = np.array([two_splits(words, seed) for seed in range(3)])
splits = ("split by row", "split by program", "the test's majority")
ax = plot.bars(
    dict(zip(splits, found.mean(axis=0), strict=True)),
    runs=list(found.T),
    title="A bag of statements: one classifier, two splits",
    ylabel="test accuracy, three seeds",
    fmt=".2f",
)
ax.patches[2].set_color("lightgray")  # no classifier
guessed = predictions()["rows"]
ax.plot([-0.5, 0.5], [guessed, guessed], color="black", ls="--", lw=1)
ax.annotate("you predicted", (0.52, guessed), va="center")
print(f"split by row: {found[:, 0].mean():.2f}, predicted {guessed:g}")
twins = bags(collect_versions(np.repeat(range(20), 2).tolist(), 2, 0), words)
for name, x in (("version", twins[1::2]), ("program", twins[2::2])):
    shared = np.minimum(twins[::2][: len(x)], x).sum() / x.sum()
    print(f"another {name} has {shared:.0%} of a bag's statements")

# %% [markdown]
# Split by row, the classifier only has to recognise a program that it has seen:
# versions have almost the same bag, as the last lines show.
# A compiler will be asked about the next program.
# There the bag is, on average, no better than always saying the same device (`docs/claims.md` has ten seeds);
# on the three seeds above it may even be worse.
# (That guess was told which device is commoner in the very 15 programs of the test: a leak, too.)
# From here on every program has one version, and training and test share none: 200 and 300 of them.

# %% [markdown]
# ## An LSTM that reads statements
#
# ### Given: each statement with its inputs
#
# `with_inputs(e, data)` puts beside each statement's vector the mean vector of the statements whose results it uses (zero if there are none).
# So the reader sees at `fadd` whether it adds to a `phi` or to a product: one step of the graph.

# %% nbgrader={"grade_id": "with-inputs", "locked": true}


def with_inputs(e, data):
    """Return (n, 2 d): each vector, and the mean of those it uses."""
    use = np.zeros((len(e), len(e)))
    use[data[:, 1], data[:, 0]] = 1
    use /= np.maximum(use.sum(axis=1, keepdims=True), 1)
    return np.concatenate([e, use @ e], axis=1)


# %% [markdown]
# ### Task 9. LSTM (2 points)
#
# A *long short-term memory* reads $x_1, x_2, \dots$ and keeps a state $h$ and a cell $c$, both 0 at first. For each $x_t$,
#
# $$z = W_x x_t + W_h h_{t-1} + b$$
#
# has four parts of $h$'s length, in this order: $i, f, g, o$. Then
#
# $$c_t = \sigma(f) \odot c_{t-1} + \sigma(i) \odot \tanh(g), \qquad h_t = \sigma(o) \odot \tanh(c_t)$$
#
# `lstm_mean(x, lengths, w_x, w_h, b)` reads several programs at once.
# `x` is a tensor of shape `(p, T, d)`; program $k$ has `lengths[k]` statements, and what stands behind them is padding.
# The weights have the shapes `(4h, d)`, `(4h, h)` and `(4h,)`.
# It returns the mean of $h_1, \dots, h_{\mathrm{length}}$ of each program, `(p, h)`, in `x`'s dtype.

# %% [markdown]
# `lengths` is a list of integers from 1 to $T$, in any order; `x` and the weights are all float32 or all float64.
# Padding may be any numbers from -1000 to 1000; the result must not depend on it, and its gradient is 0.
# Write tensor operations, so that autograd can compute gradients.
# PyTorch's own LSTMs (`nn.LSTM`, `nn.LSTMCell`, `torch.lstm`, `torch.lstm_cell`) are not to be used.
# A loop over programs is right, but slow.
#
# For $d = h = 1$ with all weights 1 and $b = 0$, one program with $x_1 = 1$:
# $z$ is 1 four times, $c_1 = 0.731059 \cdot 0.761594 = 0.556770$, $h_1 = 0.731059 \cdot \tanh(c_1) = 0.369606$.
# About 12 lines: a loop over the steps, all programs at once.


# %% nbgrader={"grade_id": "lstm-mean", "solution": true}
def lstm_mean(x, lengths, w_x, w_h, b):
    """Return the mean state of an LSTM over each program, (p, h)."""
    ### BEGIN SOLUTION
    h = c = total = x.new_zeros(len(x), w_h.shape[1])
    lengths = torch.as_tensor(lengths)[:, None]
    for t in range(x.shape[1]):
        z = x[:, t] @ w_x.T + h @ w_h.T + b
        i, f, g, o = z.chunk(4, dim=1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        total = total + torch.where(t < lengths, h, 0)
    return total / lengths.to(x.dtype)
    ### END SOLUTION


# %% [markdown]
# For the check and the look cell: `lstm_gradients` returns your result, and the gradients of the sum of its squares;
# `library_calls` the names of PyTorch's recurrent functions that your code calls.

# %% nbgrader={"grade_id": "lstm-gradients", "locked": true}


def lstm_gradients(x, lengths, *weights):
    """Return the result, and gradients of x and the three weights."""
    leaves = [a.detach().clone().requires_grad_() for a in (x, *weights)]
    result = lstm_mean(leaves[0], lengths, *leaves[1:])
    (result**2).sum().backward()
    return [result.detach(), *(leaf.grad for leaf in leaves)]


# %% nbgrader={"grade_id": "library-calls", "locked": true}
from torch.overrides import TorchFunctionMode


class Calls(TorchFunctionMode):
    """Notes which of PyTorch's functions are called."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """Note the name, then call the function."""
        self.names.add(getattr(function, "__name__", ""))
        return function(*args, **(kwargs or {}))


def library_calls(x, lengths, *weights):
    """Return the names of PyTorch's recurrent functions that are called."""
    with Calls() as calls:
        lstm_mean(x, lengths, *weights)
    recurrent = re.compile(r"lstm|gru|rnn", re.IGNORECASE)
    return sorted(filter(recurrent.search, calls.names))


# %% explore=true
torch.manual_seed(0)
library = nn.LSTM(5, 4, batch_first=True)
x, lengths = torch.randn(3, 7, 5), [4, 7, 2]
bias = (library.bias_ih_l0 + library.bias_hh_l0).detach()
weights = library.weight_ih_l0.detach(), library.weight_hh_l0.detach(), bias
mine, *gradients = lstm_gradients(x, lengths, *weights)
for k, length in enumerate(lengths):
    states = library(x[k : k + 1, :length])[0][0]
    off = float((mine[k] - states.mean(dim=0)).abs().max().detach())
    print(
        f"program {k}, {length} statements: differs by {off:.1e} from nn.LSTM"
    )
    (states.mean(dim=0) ** 2).sum().backward()
off = float((gradients[2] - library.weight_hh_l0.grad).abs().max())
print(f"the gradient of the state's weights differs by {off:.1e}")

# %% nbgrader={"grade_id": "lstm-mean-check", "grade": true, "points": 2}
import numpy as np
import torch

from labkit import check


def same(want, arrays, lengths, dtype="float64", tolerance=1e-5):
    """Compare the means."""
    x, *weights = arrays
    found = lstm_mean(x, lengths, *weights)
    close = {"rtol": tolerance, "atol": tolerance, "dtype": dtype}
    check.close(found, want, **close, name="mean states")


def tensors(x, dtype=torch.float64):
    """Return programs of numbers (p, T, 1), and fixed weights."""
    weights = [[1.0], [2], [-1], [0.5]], [[0.5], [-1], [2], [1]]
    numbers = x, *weights, [0.0, 1, 0.5, -1]
    return [torch.tensor(a, dtype=dtype) for a in numbers]


one = [torch.ones(s, dtype=torch.float64) for s in ((1, 1, 1), (4, 1), (4, 1))]
with check.case(
    "the worked example",
    hint="z's four parts are i, f, g, o: which products make z, and what meets "
    "what in c and in h?",
):
    zeros = torch.zeros(4, dtype=torch.float64)
    same([[0.369606]], [*one, zeros], [1])
with check.case(
    "several steps of one program",
    hint="one step: which weights, with which signs? several: what goes on to "
    "the next, and what is averaged?",
    more="the forget gate is the second part, the candidate the third",
    essential=True,
):
    same([[-0.02763642]], tensors([[[1.0], [-2], [0.5]]]), [3])
with check.case(
    "two programs of different lengths",
    hint="which statements are a program's own? what do those behind them add "
    "to the sum, and to the count?",
):
    two = [[[2.0], [-1], [9]], [[1.0], [-2], [0.5]]]
    same([[-0.17301314], [-0.02763642]], tensors(two), [2, 3])
with check.case(
    "states of two numbers, inputs of three",
    hint="z is w_x times x and w_h times h: h has the size of w_h's columns",
    more="the four parts of z stand one after the other, h numbers each",
):
    sizes = 18, 24, 16, 8
    numbers = [torch.arange(n).double() / n - 0.4 for n in sizes]
    shapes = (2, 3, 3), (8, 3), (8, 2), (8,)
    pairs = zip(numbers, shapes, strict=True)
    arrays = [a.reshape(shape) for a, shape in pairs]
    want = [[-0.00449087, 0.00186935], [0.06981634, 0.17428062]]
    same(want, arrays, [2, 3])
with check.case(
    "float32 stays float32",
    hint="which dtype have the first state and cell, each step's result, and "
    "the mean that comes back?",
):
    x, *weights = tensors([[[-1.0], [2]]], torch.float32)
    found = lstm_mean(x, [2], *weights)
    check.close(found, [[-0.10464251]], rtol=1e-5, dtype="float32", name="mean")
with check.case(
    "a gradient reaches w_h",
    hint="no .data, .detach(), .item() or NumPy on the way",
):
    x, *weights = tensors([[[2.0], [1], [-1]]])
    found = lstm_gradients(x, [3], *weights)[3]
    want = [[-0.000268099], [-0.001649674], [0.001814697], [-0.010139970]]
    check.close(found, want, rtol=1e-4, name="gradient")
with check.case(
    "PyTorch's own LSTMs are not used",
    hint="write the four parts and the two lines yourself",
    guard=True,
    essential=True,
):
    x, *weights = tensors([[[1.0], [-2], [0.5]]])
    check.equal(library_calls(x, [3], *weights), [], name="calls")


### BEGIN HIDDEN TESTS
def sigmoid(s):
    """Return the logistic function."""
    return 1 / (1 + np.exp(-s))


def wanted(x, lengths, w_x, w_h, b):
    """Return the means, one program and one step after the other."""
    x, w_x, w_h, b = (np.asarray(a, np.float64) for a in (x, w_x, w_h, b))
    found = []
    for rows, length in zip(x, lengths, strict=True):
        h = c = np.zeros(w_h.shape[1])
        states = []
        for row in rows[:length]:
            i, f, g, o = np.split(w_x @ row + w_h @ h + b, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            states.append(h)
        found.append(np.mean(states, axis=0))
    return np.array(found)


def some(p, steps, d, h, seed, dtype=torch.float64):
    """Return programs and weights."""
    rng = np.random.default_rng(seed)
    shapes = (p, steps, d), (4 * h, d), (4 * h, h), (4 * h,)
    return [torch.tensor(rng.normal(size=s), dtype=dtype) for s in shapes]


def expect(arrays, lengths, dtype="float64", tolerance=1e-9):
    """Compare with the means of one program after the other."""
    x, *weights = arrays
    same(wanted(x, lengths, *weights), arrays, lengths, dtype, tolerance)


with check.hidden_case(
    "several steps of vectors",
    hint="a state of several numbers: products with matrices",
    essential=True,
):
    expect(some(1, 6, 3, 2, 0), [6])
    expect(some(2, 5, 3, 4, 1), [5, 2])
with check.hidden_case(
    "many programs, lengths in any order",
    hint="divide by each program's own length",
    essential=True,
):
    expect(some(6, 9, 4, 3, 2), [4, 9, 1, 7, 2, 9])
    expect(some(3, 8, 2, 5, 3), [3, 1, 2])
with check.hidden_case(
    "any padding",
    hint="what stands behind a program's statements must not matter",
):
    arrays = some(3, 6, 2, 2, 4)
    for k, length in enumerate((2, 6, 3)):
        arrays[0][k, length:] = (-1e3, 1, 1e3)[k]
    expect(arrays, [2, 6, 3])
with check.hidden_case(
    "one step, one number, one unit",
    hint="all sizes may be 1",
):
    expect(some(4, 1, 3, 2, 5), [1, 1, 1, 1])
    expect(some(2, 4, 1, 1, 6), [4, 3])
with check.hidden_case(
    "float32, several programs",
    hint="zeros of x's dtype at the start",
):
    arrays = some(3, 7, 4, 3, 7, torch.float32)
    expect(arrays, [7, 1, 5], "float32", 1e-5)
with check.hidden_case(
    "autograd reaches x and all weights",
    hint="no .data, .detach() or NumPy on the way",
):
    arrays, lengths = some(2, 4, 2, 2, 8), [4, 2]
    found = lstm_gradients(arrays[0], lengths, *arrays[1:])
    check.equal(len(found), 5, name="result and gradients")
    for at, name in enumerate(("x", "w_x", "w_h", "b")):
        numbers = [a.numpy().copy() for a in arrays]

        def squares(value, at=at, numbers=numbers):
            changed = [*numbers[:at], value, *numbers[at + 1 :]]
            return float((wanted(changed[0], [4, 2], *changed[1:]) ** 2).sum())

        check.gradient(squares, numbers[at], found[at + 1], name=name)
with check.hidden_case(
    "autograd reaches the first of seventy steps",
    hint="state and cell stay part of the graph from step to step",
):
    x = np.random.default_rng(12).normal(size=(1, 70, 1))
    keeps = [[1.0], [0], [1], [0]], [[0.0], [0], [0], [0.5]], [-3.0, 6, 0, 1]
    arrays = [torch.tensor(a, dtype=torch.float64) for a in (x, *keeps)]
    found = lstm_gradients(arrays[0], [70], *arrays[1:])[1]

    def of_first(value):
        changed = np.concatenate([value, x[0, 1:]])
        return float((wanted(changed[None], [70], *keeps) ** 2).sum())

    check.gradient(of_first, x[0, :1], found[0, :1], name="the first step of x")
with check.hidden_case(
    "arguments stay as they were, and so do earlier results",
    hint="no operation in place on x, the weights or a result",
    guard=True,
):
    x, w_x, w_h, b = some(2, 3, 2, 2, 9)
    lengths = check.shared([1, 3])
    with check.unchanged(x=x, w_x=w_x, w_h=w_h, b=b):
        first = lstm_mean(x, lengths, w_x, w_h, b)
        check.equal(lengths, [1, 3], name="lengths")
        second = lstm_mean(-x, [1, 2], w_x, w_h, b)
    check.close(first, wanted(x, [1, 3], w_x, w_h, b), name="the first means")
    check.close(second, wanted(-x, [1, 2], w_x, w_h, b), name="the second")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Experiment 3. Faster on which device?
#
# The reader: an LSTM of 24 units over the statements, its mean state, and a linear layer to one score.
# A positive score says GPU. It trains on 200 programs; 300 others are the test.
# First label ten of these yourself, by the carried cycle and the slow statements: is it easy, seen like that?
# The loop below uses `nn.LSTM`, which computes the same as yours but all steps in one call; `own=True` takes yours.


# %% explore=true
class Reader(nn.Module):
    """An LSTM over statements, and a score from its mean state."""

    def __init__(self, d, h=24, own=False):
        super().__init__()
        self.lstm, self.own = nn.LSTM(d, h, batch_first=True), own
        self.score = nn.Linear(h, 1)

    def forward(self, x, lengths):
        if self.own:
            lstm = self.lstm
            b = lstm.bias_ih_l0 + lstm.bias_hh_l0
            weights = lstm.weight_ih_l0, lstm.weight_hh_l0, b
            mean = lstm_mean(x, lengths, *weights)
        else:
            lengths = torch.as_tensor(lengths, device=x.device)[:, None]
            mask = torch.arange(x.shape[1], device=x.device) < lengths
            mean = (self.lstm(x)[0] * mask[:, :, None]).sum(1) / lengths
        return self.score(mean)[:, 0]


def padded(arrays):
    """Return one tensor of all arrays, and their lengths."""
    tensors = [torch.tensor(a, dtype=torch.float32) for a in arrays]
    lengths = [len(a) for a in arrays]
    return nn.utils.rnn.pad_sequence(tensors, batch_first=True), lengths


# %% explore=true
def read(train, y, test, y_test, seed=0, epochs=40, own=False):
    """Train a reader on arrays (n, d) of statements; return its accuracy."""
    torch.manual_seed(seed)
    scale = np.concatenate(train).std(axis=0) + 1e-6
    x, lengths = padded([a / scale for a in train])
    lengths, labels = np.array(lengths), torch.tensor(y, dtype=torch.float32)
    reader = Reader(x.shape[2], own=own)
    optimizer = torch.optim.Adam(
        reader.parameters(), lr=0.01, weight_decay=1e-4
    )
    for _ in range(epochs):
        for rows in torch.randperm(len(y)).split(32):
            scores = reader(x[rows], lengths[rows].tolist())
            loss = nn.functional.binary_cross_entropy_with_logits(
                scores, labels[rows]
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    x, lengths = padded([a / scale for a in test])
    with torch.no_grad():
        found = reader(x, lengths).numpy() > 0
    return float(np.mean(found == y_test))


# %% explore=true
def arrays_of(programs, words, vectors, inputs=True):
    """Return each program's statements as vectors, with their inputs."""
    known = np.vstack([vectors, np.zeros(vectors.shape[1])])  # unknown: 0
    found = []
    for program in programs:
        e = known[codes_of(program, words)]
        found.append(with_inputs(e, program["data"]) if inputs else e)
    return found


def labels_of(programs):
    """Return the labels, 1 for GPU."""
    return np.array([program["label"] for program in programs])


# %% explore=true
train_set = collect(range(20_000, 20_200))
test_set = collect(range(40_000, 40_300))
y, y_test = labels_of(train_set), labels_of(test_set)
print(f"faster on the GPU: {y.mean():.0%} in training,", end=" ")
print(f"{y_test.mean():.0%} in test")


# %% explore=true
def by_eye(number):
    """Return a program's carried cycle, and its slow statements."""
    statements = parse(random_program(number)[0])
    ring = cycles(statements, flow_graph(statements)[0])[0]
    said = [operation.split()[0] for *_, operation in statements]
    slow = [s for s in said if re.search("div|rem|call|load", s)]
    counts = ", ".join(f"{slow.count(s)} {s}" for s in sorted(set(slow)))
    return " > ".join(said[k] for k in ring), counts


yours = "CCCCCCCCCC"  # your guesses: G where you would take the GPU
for number in range(40_000, 40_010):
    around, slow = by_eye(number)
    print(f"{number}: {around.replace('getelementptr', 'address')}; {slow}")
hits = sum((g == "G") == y_test[k] for k, g in enumerate(yours))
print(f"your guesses: {hits} of {len(yours)} right")

# %% explore=true
graph = [arrays_of(p, words, vectors) for p in (train_set, test_set)]
with_graph = read(graph[0], y, graph[1], y_test)
bag = bags(train_set, words), y, bags(test_set, words), y_test
with_bag = bag_accuracy(*bag)
static = max(y_test.mean(), 1 - y_test.mean())
print(f"always the same device: {static:.3f}")
said = predictions()
print(f"bag of statements: {with_bag:.3f} (predicted {said['bag']:g})")
print(f"vectors and graph: {with_graph:.3f} (predicted {said['graph']:g})")
mine = read(graph[0], y, graph[1], y_test, epochs=3, own=True)
same = read(graph[0], y, graph[1], y_test, epochs=3)
print(f"three epochs with your LSTM {mine:.3f}, with nn.LSTM {same:.3f}")

# %% [markdown]
# *Always the same device* is what the talk calls a static guess
# (here of the test's own labels; training has the same majority).
# The bag knows about slow operations, lookups and types.
# Whether a loop is serial, it cannot see.

# %% [markdown]
# ### Experiment 4. Was it the graph?
#
# Take things away, one at a time:
#
# * *bag of edges*: counts of data edges, by the kinds at both ends, beside the counts of kinds. A graph, but no vectors.
# * *no inputs*: the reader sees each statement's vector alone. The vectors still come from the graph.
# * *random vectors*: the reader sees inputs, but vectors are drawn, not learned.
# * *shuffled edges*: in every program the edges' beginnings are dealt out anew. Every statement keeps its number of edges.
#   Also for one of the two uses of the graph alone, learning vectors or reading inputs.


# %% explore=true
def shuffled(programs, draw):
    """Return programs whose edges begin at each other's beginnings."""
    found = []
    for program in programs:
        mixed = dict(program)
        for name in ("data", "control"):
            edges = program[name]
            starts = draw.permutation(edges[:, 0])
            mixed[name] = np.stack([starts, edges[:, 1]], axis=1)
        found.append(mixed)
    return found


def bags_with_edges(programs, words, known=None):
    """Return counts of kinds and of data edges, and the edges' numbers."""
    grow = known is None
    known, counts = {} if grow else known, []
    for program in programs:
        codes = codes_of(program, words)
        ends = [tuple(codes[edge].tolist()) for edge in program["data"]]
        if grow:
            for end in ends:
                known.setdefault(end, len(known))
        numbers = [known[end] for end in ends if end in known]
        counts.append(np.bincount(numbers, minlength=len(known)))
    n = len(known)
    extra = np.array([np.pad(c, (0, n - len(c))) for c in counts], float)
    return np.hstack([bags(programs, words), extra]), known


# %% explore=true
def shuffles(seed, learned, words, draw, sets, reader):
    """Return accuracies with shuffled edges: for vectors, inputs, both."""
    corpus, train, test = (shuffled(programs, draw) for programs in sets)
    wrong = train_vectors(pairs_of(corpus, words), len(words), seed)[0]
    return {
        "shuffled for vectors": reader(wrong),
        "shuffled for inputs": reader(learned, train, test),
        "shuffled edges": reader(wrong, train, test),
    }


# %% explore=true
def compare(seed, n_train=200, n_test=300, n_corpus=600):
    """Return each way's test accuracy, and analogies: learned, drawn."""
    first = 100_000 * seed
    corpus = collect(range(first, first + n_corpus))
    train = collect(range(first + 20_000, first + 20_000 + n_train))
    test = collect(range(first + 40_000, first + 40_000 + n_test))
    words, draw = vocabulary(corpus), np.random.default_rng(seed)
    y, y_test = labels_of(train), labels_of(test)

    def reader(vectors, train=train, test=test, inputs=True):
        both = [arrays_of(p, words, vectors, inputs) for p in (train, test)]
        return read(both[0], y, both[1], y_test, seed)

    found = {"always the same": float(max(y_test.mean(), 1 - y_test.mean()))}
    two = [bags(p, words) for p in (train, test)]
    found["bag of statements"] = bag_accuracy(two[0], y, two[1], y_test)
    edges, known = bags_with_edges(train, words)
    more, _ = bags_with_edges(test, words, known)
    found["bag of edges"] = bag_accuracy(edges, y, more, y_test)
    learned = train_vectors(pairs_of(corpus, words), len(words), seed)[0]
    found["vectors and graph"] = reader(learned)
    found["no inputs"] = reader(learned, inputs=False)
    found["random vectors"] = reader(drawn := draw.normal(size=learned.shape))
    found["random, no inputs"] = reader(drawn, inputs=False)
    found |= shuffles(seed, learned, words, draw, (corpus, train, test), reader)
    return found, (analogies(learned, words), analogies(drawn, words))


# %% explore=true
# (a minute or two on an idle machine, some more on a busy one)
runs = [compare(seed)[0] for seed in range(3)]
results = {name: np.array([run[name] for run in runs]) for name in runs[0]}
print("mean of three seeds, and the seeds")
for name, found in results.items():
    print(f"{name:22} {found.mean():.3f}   {found.round(3)}")


# %% explore=true
def parallel_is_gpu(seed, n=300):
    """Return how often "GPU unless serial" is right for a seed's test."""
    first = 100_000 * seed + 40_000
    draws = (np.random.default_rng(first + i) for i in range(n))
    plans = [programs.plan(draw) for draw in draws]
    return np.mean([faster_on_gpu(p) != p["serial"] for p in plans])


rule = np.array([parallel_is_gpu(seed) for seed in range(3)])
told = {"always the same": results["always the same"], "rule": rule}
ranked = {k: found for k, found in results.items() if k not in told}
ranked = dict(sorted(ranked.items(), key=lambda pair: pair[1].mean()))
SEES = {
    "nothing of the graph": ("bag of statements", "random, no"),
    "a part of it": ("bag of edges", "no inputs", "random vectors"),
    "all of it": ("vectors and graph",),
    "a wrong graph": ("shuffled",),
}

# %% explore=true
points = {}
for what, starts in SEES.items():
    places = [i for i, name in enumerate(ranked) if name.startswith(starts)]
    points[what] = [list(ranked.values())[i].mean() for i in places], places
ax = plot.scatter(
    points,
    title="Which device is faster? Colour: what is seen of the graph",
    xlabel="test accuracy: mean of three seeds, and each of them",
)
for i, found in enumerate(ranked.values()):
    ax.plot(found, [i] * len(found), "|", color="black", zorder=3)
for name, found in told.items():
    ax.axvline(found.mean(), color="#666666", ls="--", lw=1, zorder=0)
    at = found.mean(), len(ranked) - 0.6
    ax.annotate(name, at, rotation=90, ha="left", va="top", size=9)
ax.set_ylim(-0.5, len(ranked) - 0.5)
ax.set_yticks(range(len(ranked)), list(ranked))
ax.figure.set_size_inches(7, 4.2)
kinds = len(bags_with_edges(train_set, words)[1])
print(f"{kinds} kinds of edges in 200 programs, {len(words)} of statements")

# %% [markdown]
# * *No inputs* is still better than the bag: what it knows of the graph is in the vectors.
#   (It sees the text's order, too, but so does *random, no inputs*, hardly better than the bag.)
# * *Shuffled edges*: on average the advantage is gone.
# * *Random vectors* with the right inputs are above the bag, but below learned ones:
#   what `fadd` on halves has to do with `fadd` on floats has to be learned from 200 labels.
#   Vectors learned on a wrong graph ("shuffled for vectors") are worth about as much.
# * The *bag of edges* has the graph and is above the bag of statements, but sees most kinds of edges rarely.
# * The rule "GPU unless serial" is told which loops are serial, and nothing else: *vectors and graph* is beyond it.

# %% [markdown]
# ### Serial and parallel apart
#
# Does the gain come from the serial loops? The plans of seed 0 are known: its test, in two parts.
# No serial program in it is faster on the GPU.

# %% explore=true
plans = [programs.plan(np.random.default_rng(40_000 + i)) for i in range(300)]
kept = np.flatnonzero([plan["serial"] for plan in plans])
rest = len(plans) - len(kept)
alone = [arrays_of(p, words, vectors, False) for p in (train_set, test_set)]
print(f"faster on the GPU: {y_test[kept].sum()} of {len(kept)} serial ones,")
gpu = y_test.sum() - y_test[kept].sum()
print(f"  {gpu} of {rest} parallel ones")
guess = max(y_test[kept].mean(), 1 - y_test[kept].mean())
print(f"each part's guess {guess:.3f}", end=" of serial, ")
print(f"{max(gpu, rest - gpu) / rest:.3f} of parallel")
for name, both in (
    ("bag of statements", None),
    ("no inputs", alone),
    ("vectors and graph", graph),
):
    if both:
        test = [both[1][i] for i in kept]
        found = read(both[0], y, test, y_test[kept])
    else:
        found = bag_accuracy(*bag[:2], bag[2][kept], y_test[kept])
    # what is right among all, less what is right among the serial ones
    others = (len(plans) * results[name][0] - len(kept) * found) / rest
    print(f"{name:17} {found:.3f} of serial, {others:.3f} of parallel")

# %% [markdown]
# Read the guesses first. Whoever says CPU to each serial program is always right there, and all three are below that:
# their errors are false alarms, serial programs sent to the GPU. The bag has many;
# the vectors mend much of that, and the inputs some more: most of the gain is here.
# In the parallel part something is left to decide: see who is above its guess. There the inputs,
# the reader's step along the graph, need not help and may cost a little. (One seed.)

# %% [markdown]
# Three seeds decide little. Ten (`benchmarks/lab17.py` of the course's repository) had, on average:
#
# | | | | |
# |---|---|---|---|
# | always the same | .60 | shuffled for inputs | .68 |
# | bag of statements | .70 | shuffled for vectors | .74 |
# | bag of edges | .73 | shuffled edges | .68 |
# | random vectors | .74 | vectors and graph | .84 |
#
# With inputs shuffled it made no difference whether the vectors were right:
# half of what the reader sees of a statement is noise then, and 200 labels seem too few to learn to overlook it.

# %% [markdown]
# ### Experiment 5. How many labels?
#
# A label costs a measurement on two devices; a program without one costs nothing.
# Do vectors from 600 programs without labels still help where there are many labels?
# Beside them: random vectors with the same inputs, trained for as many steps. (About half a minute.)

# %% explore=true
sizes = [25, 50, 100, 200, 400]
many = collect(range(20_000, 20_000 + sizes[-1]))
y_many = labels_of(many)
drawn = np.random.default_rng(0).normal(size=vectors.shape)
seen = {
    name: [arrays_of(programs, words, v) for programs in (many, test_set)]
    for name, v in (("vectors and graph", vectors), ("random vectors", drawn))
}
read_many = seen["vectors and graph"][0]
bags_many, bags_test = bags(many, words), bags(test_set, words)
curves = {name: [] for name in (*seen, "bag of statements")}
for n in sizes:
    epochs = 280 // -(-n // 32)  # for all sizes about as many steps
    for name, (a, b) in seen.items():
        accuracy = read(a[:n], y_many[:n], b, y_test, 0, epochs)
        curves[name].append(accuracy)
    accuracy = bag_accuracy(bags_many[:n], y_many[:n], bags_test, y_test)
    curves["bag of statements"].append(accuracy)
band = dict.fromkeys(curves, [0.025] * len(sizes))
curves["static guess"] = [static] * len(sizes)
ax = plot.curves(
    {name: (np.array(sizes, float), np.array(c)) for name, c in curves.items()},
    title="Accuracy on 300 other programs",
    xlabel="labelled programs",
    ylabel="test accuracy",
    logx=True,
    spread=band,
)

# %% [markdown]
# (One seed; a band is ± .025, about the standard error of 300 test programs: differences of some hundredths mean nothing.
# The axis begins near the guess, so small gains look large.)
# With 25 or 50 labels the vectors need not beat the bag, and random ones may well lose to it. With 400 the reader of learned vectors is far ahead,
# of random ones as well: more labels did not replace the vectors.
# The bag gains little: no number of labels tells it which statement hands its result to which.

# %% [markdown]
# ### What inst2vec did beyond this
#
# Its corpus was real programs, its vectors had 200 dimensions, and the vocabulary was some 65 times ours.
# It read OpenCL kernels measured on a CPU and two GPUs (our labels are a model's),
# with the sizes of data and work group beside the statements.
# Its LSTM saw the statements as our *no inputs* does: the graph was in the vectors alone.

# %% [markdown]
# ### With a GPU
#
# The next cell reads 4,096 programs at once, on the CPU and on a GPU where there is one.
# An LSTM is itself a serial loop: a step waits for the last one's state, on a GPU as well.
# What a GPU computes side by side are the 4,096 programs, and from them comes its factor
# (340 in the recorded run). Copying them to it is not timed.

# %% explore=true
from labkit import recorded

import time

batch, lengths = padded(read_many[:64])
batch, lengths = batch.repeat(64, 1, 1), lengths * 64
for name in dict.fromkeys(["cpu", device()]):
    reader, x = Reader(batch.shape[2], h=256).to(name), batch.to(name)
    with torch.no_grad():
        reader(x, lengths)
        torch.cuda.synchronize() if name == "cuda" else None
        begin = time.perf_counter()
        scores = reader(x, lengths)
        scores.sum().item()  # waits for the GPU
    taken = time.perf_counter() - begin
    print(f"{name}: {len(x) / taken:,.0f} programs a second, 256 units")
if device() != "cuda":
    print("No CUDA GPU here: skipped the same on a GPU.")
    print(recorded("17_code_embeddings"))

# %% [markdown]
# ## Open task: read better (2 points)
#
# Change how programs are read, and show whether it helps. For instance:
# inputs of inputs, or users beside inputs; another width of context;
# a walk along the longest cycle in place of the text's order; directions or types of edges in the skip-gram pairs;
# a network that passes messages along edges; fewer dimensions;
# programs from a plan of your own in place of `programs.plan`, of which training has seen none.

# %% [markdown]
# Hand in, in the next cell, in place of the example, and in the cell after it
# (a person reads both, and the output that you have stored; five seeds take some minutes):
#
# 1. your variant, for at least five seeds, beside *vectors and graph* and one control of Experiment 4.
#    Each seed has its own programs, as in `compare`, and within a seed all three read the same
#    (the example below only starts the reader anew);
#    a figure with the spread over seeds and labelled axes;
# 2. three or four sentences: what you changed and expected, whether the difference is larger than the spread,
#    and what you would try next.


# %% explore=true
# Change this cell: your own way to read.
def with_inputs_of_inputs(e, data):
    """Return (n, 3 d): vectors, their inputs, and those one step further."""
    once = with_inputs(e, data)
    further = with_inputs(once[:, e.shape[1] :], data)
    return np.concatenate([once, further[:, e.shape[1] :]], axis=1)


known = np.vstack([vectors, np.zeros(vectors.shape[1])])
both = [
    [with_inputs_of_inputs(known[codes_of(p, words)], p["data"]) for p in part]
    for part in (train_set, test_set)
]
seeds = (0, 1, 2)  # of the reader's weights alone; yours draw programs, too
runs = {
    "inputs": [read(graph[0], y, graph[1], y_test, s) for s in seeds],
    "and theirs": [read(both[0], y, both[1], y_test, s) for s in seeds],
}
ax = plot.scatter(
    {name: ([k] * 3, found) for k, (name, found) in enumerate(runs.items())},
    title="An example: the reader's seeds alone, on the same programs",
    ylabel="test accuracy",
)
ax.get_legend().remove()
ax.set_xticks(range(2), [f"{k}: {np.mean(v):.3f}" for k, v in runs.items()])
ax.set_xlim(-0.5, 1.5)
_ = ax.set_ylim(min(0.75, *runs["inputs"]), max(0.9, *runs["and theirs"]))

# %% [markdown] nbgrader={"grade_id": "own-reading", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# I let each statement see its inputs and the inputs of its inputs: one more step along the data edges, 72 numbers a statement where there were 48.
# (The numbers are from a run of the whole experiment, measured on two cores.)
# I expected it to find long cycles better: with one step `fadd` sees a `phi`, with two it sees what that `phi` got from the last iteration.
# Over five seeds, each with its own 600, 200 and 300 programs, one step has accuracies of .807 to .860 (mean .840), two steps .837 to .900 (mean .877),
# and two steps on shuffled edges .640 to .693. On the same programs the second step gains .037 on average, and its gains spread by .034:
# four of five seeds are better, one is worse. I would not bet on it without more seeds. That the edges have to be the right ones is beyond doubt.
# Next I would walk along the longest cycle and read only that, since a third step would add 24 more numbers and few statements are three steps apart.
#
# **Rubric.**
#
# * 1 point: the figure; a variant of their own beside *vectors and graph* and a control, five seeds each, the same programs for all.
#   Half a point for fewer seeds, without a control, or if test programs were trained on, the corpus included.
# * 1 point: what was changed, and why it should help (half); a conclusion that the spread supports, and a next step (half).
#
# Whether it helps earns nothing. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ### In your words (2 points)
#
# An advertisement: *Our network reads programs. It chooses the faster device for 90 % of all kernels.*
# The small print: 2,000 measured rows are 200 kernels with ten input sizes each. 20 % of the rows, drawn at random, are the test.
# 84 % of the rows are faster on the GPU. The embeddings were trained on the flow graphs of all 200 kernels. One training, one seed.
#
# 1. A test row's kernel has nine other rows. How likely is it that none of them is in training
#    (take each to be there with probability 0.8)? How accurate is the static guess, and what do 90 % mean beside it?
# 2. Which two experiments would show whether the network has understood anything of the graphs? What would come out of each if it has not?
#
# About 120 words, with numbers.

# %% [markdown] nbgrader={"grade_id": "advertisement", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# $0.2^9 = 5 \cdot 10^{-7}$: every test row has siblings in training, and it is enough to recognise the kernel and to say what its other sizes say.
# The static guess, GPU always, is right for 84 %. 90 % is six points more: the errors fell from 16 % to 10 %, on kernels that were seen before.
# For new kernels the number says nothing.
#
# I would ask for a split by kernel, embeddings from other programs than the test's, ten seeds with the spread, and the static guess and a bag of statements beside it.
# If the network only recognises kernels, it falls to the static guess or to the bag.
# And for shuffled edges (or random embeddings): if it has learned nothing from the graph, they make no difference.
#
# **Rubric.**
#
# * 1 point: nearly never, $0.2^9$ or about $5 \cdot 10^{-7}$ (half); static guess 84 %, so six points, or three eighths of the errors (half).
# * 1 point: two of split by kernel, bag of statements, shuffled edges, random embeddings, embeddings from other programs (half); for each, what comes out if nothing was understood (half).
#
# Half a point off for claims without a number or a reason. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## Your result card
#
# What the graph is worth on this machine: accuracy beyond the bag of statements, from Experiment 4.

# %% explore=true
gained = results["vectors and graph"] - results["bag of statements"]
means = {name: float(found.mean()) for name, found in results.items()}
result_card(
    "accuracy gained over a bag of statements by vectors and graph",
    float(gained.mean()),
    n=len(gained),
    spread=float(gained.std(ddof=1)),
    source="B, slide 33: predicts which device is faster",
    lab="17_code_embeddings",
    note=f"{means['vectors and graph']:.3f} with, "
    f"{means['shuffled edges']:.3f} with shuffled edges, "
    f"{means['random vectors']:.3f} with random vectors, "
    f"{means['bag of statements']:.3f} for the bag.",
)

# %% [markdown]
# ## What you take along
#
# * A program is a graph; its text is one of many orders in which the graph can be written down.
# * Statements get their meaning from their neighbours: vectors come without labels. Labels are still needed.
# * Split by program. A row whose twin is in training tests memory.
# * Beside an accuracy belong a static guess, a model that does not see the structure, and the structure destroyed.
# * What a mean, a bag or a text's order throws away, no training brings back.
# * Can a network read programs? These, a little: it sees who feeds whom (.84 against .70 of the bag, over ten seeds),
#   and still sends some serial programs to the GPU.
# * Labels that are counted teach the model's rules. For a compiler, measure.
