"""Rules for test cells: whose names they use, how they end, what may stand outside a case, what nothing satisfies."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator

from autograder.boundary.locked import all_statements
from autograder.boundary.parsing import syntax_tree
from autograder.errors import SourceError
from autograder.markers import strip_hidden
from autograder.release.loops import uncounted_checks
from autograder.release.source import LabSource, SourceCell
from autograder.release.vacuous import vacuous_checks

__all__ = ["check_tests", "defined_names"]

_CASES = {"case", "hidden_case"}
_OUTSIDE_A_CASE = {*_CASES, "counted", "score"}
"""What a test cell may call of `check` outside a case; an expectation there would end the cell when it fails."""

_BESIDE = {*_OUTSIDE_A_CASE, "operators", "raises", "shared", "unchanged"}
"""What compares no result with what is right."""

_NO_ANSWER = {"check", "default_rng", "manual_seed"}
"""What a helper uses that checks or draws: it is no answer to a task."""


def check_tests(source: LabSource) -> None:
    """Raise SourceError for the first test cell that trusts a name it should not, or is not scored as it says."""
    written = {name for cell in source.cells if cell.solution for name in defined_names(cell)}
    given = {name for cell in source.cells if cell.solution for name in _given(cell)}
    student = written | {name for cell in source.cells if cell.locked for name in _functions(cell)}
    shown = {name for cell in source.cells if cell.test for name in _shown(cell)[1]}
    for cell in source.cells:
        if cell.test:
            tree = syntax_tree(cell.source)
            _check_names(source, cell, tree, student)
            _check_given(source, cell, tree, given)
            _check_score(source, cell, tree)
            _check_hidden(source, cell, tree)
            _check_open(source, cell, tree, shown)
            _check_cases(source, cell, tree, student)
            _check_guards(source, cell, tree)
            _check_vacuous(source, cell, tree, written, student)


def defined_names(cell: SourceCell) -> set[str]:
    """Return the names that a code cell gives to values of its own at its top level; what it imports is not its own."""
    if cell.cell_type != "code":
        return set()
    symbols = symtable.symtable(cell.source, "cell", "exec").get_symbols()
    return {s.get_name() for s in symbols if s.is_assigned() and not s.is_imported()}


def _functions(cell: SourceCell) -> set[str]:
    """Return the functions and classes that a locked cell gives to students; a test may call them in their process."""
    return {each.name for each in all_statements((cell.source,)) if each.defines} if cell.cell_type == "code" else set()


def _given(cell: SourceCell) -> set[str]:
    """Return the functions and classes of a solution cell that are handed out whole: no block of it lies in them."""
    if cell.cell_type != "code":
        return set()
    begins = [block.begin + 1 for block in cell.blocks]
    nodes = [node for node in syntax_tree(cell.source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    inside = {node.name for node in nodes if any(node.lineno <= b <= (node.end_lineno or 0) for b in begins)}
    return {node.name for node in nodes} - inside


# --------------------------------------------------------------------------------------------------------------- names
def _check_given(source: LabSource, cell: SourceCell, tree: ast.Module, given: set[str]) -> None:
    """What measures an answer must not stand where the answer may be written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in given:
            raise SourceError(
                f"{source.where(cell, node.lineno)}: the test uses {node.id!r}, which a solution cell hands out whole",
                hint="move it into a locked cell of its own: students may change a solution cell as they like",
            )


def _check_names(source: LabSource, cell: SourceCell, tree: ast.Module, allowed: set[str]) -> None:
    table = symtable.symtable(cell.source, "cell", "exec")
    own = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    known = own | allowed | set(dir(builtins))
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for name, begin in _global_names(table):
        if name not in known:
            line = min((node.lineno for node in uses if node.id == name and node.lineno >= begin), default=begin)
            raise SourceError(
                f"{source.where(cell, line)}: the test uses {name!r}, which it neither imports nor defines",
                hint="names that a test imports or defines are the grader's, others the student's: import this one",
            )
        if name in allowed and hasattr(builtins, name) and name not in own:
            raise SourceError(
                f"{source.where(cell, begin)}: the test uses {name!r}, which is a built-in name and a task's as well",
                hint="give the task another name: in a test, built-in names are the grader's",
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            raise SourceError(f"{source.where(cell, node.lineno)}: a star import", hint="import each name")


def _global_names(table: symtable.SymbolTable) -> Iterator[tuple[str, int]]:
    """Yield each name that is looked up among the cell's globals, and the line where the scope that does so begins."""
    module = table.get_type() == "module"
    for symbol in sorted(table.get_symbols(), key=lambda s: s.get_name()):
        if symbol.is_referenced() and (module or symbol.is_global()):
            yield symbol.get_name(), table.get_lineno()
    for child in table.get_children():
        yield from _global_names(child)


# ------------------------------------------------------------------------------------------------------ score and cases
def _check_score(source: LabSource, cell: SourceCell, tree: ast.Module) -> None:
    wanted = f"check.score({cell.points:g})"
    scores = [node.lineno for node, name in _calls(tree) if name == "score"]
    last = len(cell.lines)
    if cell.lines[-1] != wanted or scores != [last]:
        raise SourceError(
            f"{source.where(cell, last)}: a test cell ends with its score, said once", hint=f"end it with {wanted}"
        )


def _check_hidden(source: LabSource, cell: SourceCell, tree: ast.Module) -> None:
    for node, name in _calls(tree):
        inside = any(block.begin < node.lineno - 1 < block.end for block in cell.blocks)
        if name in _CASES and inside != (name == "hidden_case"):
            problem = "check.case in a hidden block" if inside else "check.hidden_case outside a hidden block"
            raise SourceError(
                f"{source.where(cell, node.lineno)}: {problem}",
                hint="hidden blocks use check.hidden_case, so that feedback shows no values",
            )


def _check_open(source: LabSource, cell: SourceCell, tree: ast.Module, shown: set[str]) -> None:
    """Refuse a function that computes what hidden cases expect, and that students can read.

    Not one that checks or draws; nor one that an open case of any test uses under this name.
    """
    for name, node in _shown(cell)[0].items():
        inner = {id(n) for n in ast.walk(node)}
        if name in shown or not isinstance(node, ast.FunctionDef) or _NO_ANSWER & _names(node):
            continue
        if any(isinstance(n, ast.Name) and n.id == name and id(n) not in inner for n in ast.walk(tree)):
            raise SourceError(
                f"{source.where(cell, node.lineno)}: students can read {name}, which hidden cases alone use",
                hint="put it below ### BEGIN HIDDEN TESTS: what computes the expected is an answer",
            )


def _names(node: ast.AST) -> set[str]:
    """Return the names and attributes in this code."""
    found = (n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute))
    return {n.id if isinstance(n, ast.Name) else n.attr for n in found}


def _shown(cell: SourceCell) -> tuple[dict[str, ast.stmt], set[str]]:
    """Return the helpers of a test that students can read, and all names that what they can read uses."""
    body = syntax_tree(strip_hidden(cell.source)).body
    helpers = {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    used: set[str] = set()
    follow: list[ast.stmt] = [node for node in body if node not in helpers.values()]
    while follow:
        names = {node.id for node in ast.walk(follow.pop()) if isinstance(node, ast.Name)}
        follow += [helpers[name] for name in sorted(names & helpers.keys() - used)]
        used |= names
    return dict(helpers), used


def _check_cases(source: LabSource, cell: SourceCell, tree: ast.Module, student: set[str]) -> None:
    """What a student wrote, or an expectation, could end the cell and cost the cases after it."""
    risky = set(student) - defined_names(cell)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            uses = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            if uses & risky or {name for _, name in _calls(statement)} - _OUTSIDE_A_CASE:
                risky.add(statement.name)
    for node in _outside_cases(tree):
        problem = ""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in risky:
            problem = f"{node.id} is used outside a case"
        elif (name := _called(node)) and name not in _OUTSIDE_A_CASE:
            problem = f"check.{name} is called outside a case"
        if problem:
            raise SourceError(
                f"{source.where(cell, node.lineno)}: {problem}",
                hint="move it into `with check.case(...)`: an exception there costs one case, not the cell",
            )


def _check_guards(source: LabSource, cell: SourceCell, tree: ast.Module) -> None:
    """A case that compares nothing passes when nothing is done."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    comparing: set[str] = set()
    for _ in functions:  # those that compare, or call one that does
        comparing |= {function.name for function in functions if _compares(function, comparing)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.With):
            continue
        for item in node.items:
            if _called(item.context_expr) in _CASES and isinstance(item.context_expr, ast.Call):
                guards = any(word.arg == "guard" for word in item.context_expr.keywords)
                if not guards and not any(_compares(part, comparing) for part in node.body):
                    raise SourceError(
                        f"{source.where(cell, node.lineno)}: the case compares nothing with what is right",
                        hint="compare a result as well, or say guard=True: then it counts beside another case only",
                    )


def _compares(node: ast.AST, comparing: set[str]) -> bool:
    names = {call.func.id for call in ast.walk(node) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}
    asserts = any(isinstance(part, ast.Assert) for part in ast.walk(node))
    return asserts or bool(names & comparing) or any(name not in _BESIDE for _, name in _calls(node))


def _check_vacuous(
    source: LabSource, cell: SourceCell, tree: ast.Module, written: set[str], students: set[str]
) -> None:
    for found in (*vacuous_checks(tree, written), *uncounted_checks(tree, students)):
        raise SourceError(f"{source.where(cell, found.line)}: {found.problem}", hint=found.hint)


def _outside_cases(node: ast.AST) -> Iterator[ast.expr]:
    """Yield every expression that is evaluated outside any case; the body of a function is where it is called."""
    if isinstance(node, ast.With) and any(_called(item.context_expr) in _CASES for item in node.items):
        return
    if isinstance(node, ast.expr):
        yield node
    parts = ast.iter_child_nodes(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        parts = iter([node.args, *getattr(node, "decorator_list", [])])
    for part in parts:
        yield from _outside_cases(part)


def _calls(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield each call of a function of `check`, and the function's name."""
    return ((node, _called(node)) for node in ast.walk(tree) if isinstance(node, ast.expr) and _called(node))


def _called(node: ast.AST) -> str:
    """Return the name of the function of `check` that this node calls, or nothing."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "check":
        return function.attr
    return ""
