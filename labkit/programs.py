"""Random programs in LLVM's intermediate representation (IR) for lab 17, written as a naive compiler would.

Each is one loop. Its iterations compute two expressions. The *stored* one goes to an array, the *carried* one changes
a variable that the next iteration sees. In a serial program that variable goes through all operations; in a parallel
one it meets the last alone. Both kinds are made of the same statements, which are mixed at random.

Importing this module needs NumPy alone; ``text`` needs llvmlite.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict

import numpy as np

try:
    from llvmlite import binding, ir
except ModuleNotFoundError:  # the lab's tasks and checks do without
    binding = ir = None

__all__ = ["BYTES", "ITERATIONS", "MISSING", "SLOW", "UNARY", "Plan", "available", "plan", "text"]

MISSING = (
    "llvmlite is missing, and without it there are no programs. "
    "Run %pip install 'llvmlite>=0.50,<0.51', then restart the kernel."
)
"""What to say where there is no llvmlite."""

BYTES = {"half": 2, "float": 4, "double": 8, "i16": 2, "i32": 4, "i64": 8}
"""Bytes of a value by the name of its type in the IR."""

ITERATIONS = 2**20
"""Of a program's loop."""

CHEAP = {True: ("fadd", "fsub", "fmul"), False: ("add", "sub", "mul", "and_", "or_", "xor")}
SLOW = {True: ("fdiv", "sqrt", "exp", "sin"), False: ("sdiv", "udiv", "srem", "urem")}
"""Slow operations of floating-point numbers (True) and of integers (False)."""

GATHERS = {True: ("fadd", "fmul"), False: ("add", "mul", "and_", "or_", "xor")}
UNARY = ("sqrt", "exp", "sin", "lookup")
"""Operations without another operand; a lookup reads a table at the place that its operand names."""

Step = tuple[str, bool]
"""An operation, and whether its other operand is loaded (it is a constant if not)."""


class Plan(TypedDict):
    """What a random program computes: of which type, and its operations."""

    kind: str
    """The type of all values, a key of ``BYTES``."""
    real: bool
    """Whether that is one of floating-point numbers."""
    carried: list[Step]
    """1 to 3 operations of the carried expression, before the last."""
    last: str
    """The operation that changes the carried variable; it is associative."""
    serial: bool
    """Whether the carried variable goes through all operations, or meets the last alone."""
    stored: list[Step]
    """1 to 4 operations of the stored expression."""
    branch: bool
    """Whether the result is stored under a condition only."""


def available() -> bool:
    """Return whether llvmlite is installed."""
    return ir is not None


def _steps(draw: np.random.Generator, real: bool, n: int) -> list[Step]:
    found = []
    for _ in range(n):
        group = draw.choice(3, p=(0.45, 0.4, 0.15))
        names = (CHEAP[real], SLOW[real], ("lookup",))[group]
        found.append((str(draw.choice(names)), bool(draw.random() < 0.7)))
    return found


def plan(draw: np.random.Generator) -> Plan:
    """Return what a random program is to compute; the same state of the generator gives the same plan."""
    kind = str(draw.choice(list(BYTES)))
    real = kind in ("half", "float", "double")
    carried = _steps(draw, real, int(draw.integers(1, 4)))
    last = str(draw.choice(GATHERS[real]))
    if all(operation == last for operation, _ in carried):  # s + x + y is no chain
        carried[0] = ("fsub" if real else "sub", carried[0][1])
    return {
        "kind": kind,
        "real": real,
        "carried": carried,
        "last": last,
        "serial": bool(draw.random() < 0.33),
        "stored": _steps(draw, real, int(draw.integers(1, 5))),
        "branch": bool(draw.random() < 0.3),
    }


def text(plan: Plan, draw: np.random.Generator) -> str:
    """Return a program for a plan as text of the IR, in static single assignment (SSA) form, verified by LLVM.

    The generator chooses constants, places, the order of operands and how the two expressions' statements are mixed.
    Raises ModuleNotFoundError with ``MISSING`` where there is no llvmlite.
    """
    if not available():
        raise ModuleNotFoundError(MISSING)
    return _in_ssa_form(_Writer(plan, draw).module)


class _Writer:
    """Writes one plan into ``module``: one function of four arrays, with one loop."""

    def __init__(self, plan: Plan, draw: np.random.Generator) -> None:
        self.plan, self.draw = plan, draw
        self.module, self.wide, self.type = ir.Module(), ir.IntType(64), _type(plan["kind"])
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), [ir.PointerType()] * 4), "kernel")
        for argument, name in zip(function.args, ("x", "y", "table", "out"), strict=True):
            argument.name = name
        *self.inputs, self.table, self.out = function.args
        entry, loop, leave = map(function.append_basic_block, ("entry", "loop", "exit"))
        self.b = ir.IRBuilder(entry)
        counter, variable = self.b.alloca(self.wide), self.b.alloca(self.type)
        self.b.store(self.wide(0), counter)
        self.b.store(self.type(1), variable)
        self.b.branch(loop)
        self.b.position_at_end(loop)
        self._body(counter, variable, loop, leave)
        self.b.position_at_end(leave)
        self.b.store(self.b.load(variable), self.out)
        self.b.ret_void()

    def _body(self, counter: Any, variable: Any, loop: Any, leave: Any) -> None:
        """Write an iteration: both expressions, mixed at random, then the store and the jump."""
        at, found = self.b.load(counter), list[Any]()
        strands = [self._carried(at, variable), self._stored(at, found)]
        while strands:
            strand = strands[int(self.draw.integers(len(strands)))]
            if next(strand, "done") == "done":
                strands.remove(strand)
        place = self.b.gep(self.out, [at], inbounds=True, source_etype=self.type)
        after = self.b.add(at, self.wide(1))
        if self.plan["branch"]:
            compare = self.b.fcmp_ordered if self.plan["real"] else self.b.icmp_signed
            with self.b.if_then(compare("<", found[0], self._constant())):
                self.b.store(found[0], place)
        else:
            self.b.store(found[0], place)
        self.b.store(after, counter)
        self.b.cbranch(self.b.icmp_signed("<", after, self.wide(ITERATIONS)), loop, leave)

    def _carried(self, at: Any, variable: Any) -> Iterator[None]:
        """Write the carried expression, one operation at a time."""
        serial, old = self.plan["serial"], self.b.load(variable, typ=self.type)
        x = old if serial else self._fresh(at)
        for operation, loaded in self.plan["carried"]:
            yield
            x = self._apply(operation, x, at, loaded)
        yield
        pair = [x, self._fresh(at) if serial else old]
        if self.draw.random() < 0.5:
            pair.reverse()
        self.b.store(getattr(self.b, self.plan["last"])(*pair), variable)

    def _stored(self, at: Any, found: list[Any]) -> Iterator[None]:
        """Write the stored expression, one operation at a time; append its value."""
        x = self._fresh(at)
        for operation, loaded in self.plan["stored"]:
            yield
            x = self._apply(operation, x, at, loaded)
        found.append(x)

    def _apply(self, operation: str, x: Any, at: Any, loaded: bool) -> Any:
        """Write one operation on x, and what it needs."""
        if operation == "lookup":
            if self.plan["real"]:
                x = self.b.fptosi(x, self.wide)
            elif self.plan["kind"] != "i64":
                x = self.b.sext(x, self.wide)
            return self._load(self.table, self.b.and_(x, self.wide(65535)))
        if operation in UNARY:
            return self.b.call(self.module.declare_intrinsic(f"llvm.{operation}", [self.type]), [x])
        return getattr(self.b, operation)(x, self._fresh(at) if loaded else self._constant())

    def _fresh(self, at: Any) -> Any:
        """Load an entry of one of the two arrays, here or a little ahead."""
        array = self.inputs[int(self.draw.integers(2))]
        if self.draw.random() < 0.3:
            at = self.b.add(at, self.wide(int(self.draw.integers(1, 9))))
        return self._load(array, at)

    def _load(self, array: Any, at: Any) -> Any:
        return self.b.load(self.b.gep(array, [at], inbounds=True, source_etype=self.type), typ=self.type)

    def _constant(self) -> Any:
        value = int(self.draw.integers(2, 90))
        return self.type(value + 0.5 if self.plan["real"] else value)


def _type(kind: str) -> Any:
    """Return llvmlite's object for a type's name."""
    if kind.startswith("i"):
        return ir.IntType(int(kind[1:]))
    return {"half": ir.HalfType, "float": ir.FloatType, "double": ir.DoubleType}[kind]()


def _in_ssa_form(module: Any) -> str:
    """Return a module's text, verified by LLVM, with its variables turned into values and dead code dropped."""
    binding.initialize_native_target()
    parsed = binding.parse_assembly(str(module))
    parsed.verify()
    target = binding.Target.from_default_triple().create_target_machine()
    passes = binding.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_dead_code_elimination_pass()
    passes.run(parsed, binding.create_pass_builder(target, binding.create_pipeline_tuning_options(speed_level=1)))
    return str(parsed)
