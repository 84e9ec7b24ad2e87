"""What a look cell says in a notebook in which a task is not finished: one line, in place of a traceback of ours."""

from __future__ import annotations

import symtable
from types import TracebackType
from typing import Any

__all__ = ["watch"]

_LOOK_CELL = "# explore"
"""How release begins a cell for looking; students change what follows."""

_LONGEST = 120


def watch(shell: Any) -> None:
    """Let look cells of an IPython shell say in one line that a task they show is not implemented yet.

    The cell has failed all the same, with the same error: a front end that stops at errors goes on only where the cell
    is tagged raises-exception, as `autograder release` tags look cells.
    """
    shell.set_custom_exc((NotImplementedError, NameError), _Handler())


class _Handler:
    """Shows an exception of these kinds. IPython calls it as if it were a method of the shell."""

    def __init__(self) -> None:
        self._missing: dict[str, str] = {}
        """Names that look cells would have defined, and what these stopped at."""

    def __call__(
        self,
        shell: Any,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType,
        tb_offset: int | None = None,
    ) -> None:
        if line := self._line(shell, error):
            shell._showtraceback(kind, error, [line])
        else:
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    def _line(self, shell: Any, error: BaseException) -> str:
        """Return what is said in place of the traceback; nothing where that is wanted."""
        what = str(error)
        cell = (shell.user_ns.get("In") or [""])[-1]
        if not str(cell).lstrip().startswith(_LOOK_CELL) or len(what) > _LONGEST or "\n" in what:
            return ""
        if isinstance(error, NotImplementedError):
            self._missing |= dict.fromkeys(_defined(str(cell)), what)
            return f"not implemented yet: {what}"
        stopped_at = self._missing.get(getattr(error, "name", None) or "")
        if stopped_at is None:
            return ""
        self._missing |= dict.fromkeys(_defined(str(cell)), stopped_at)  # a third cell may miss what this one defines
        return f"{what}: a cell above stopped at {stopped_at}"


def _defined(cell: str) -> list[str]:
    """Return the names that a cell would define; none if it is no plain Python."""
    try:
        symbols = symtable.symtable(cell, "cell", "exec").get_symbols()
    except (SyntaxError, ValueError):
        return []
    return [symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()]
