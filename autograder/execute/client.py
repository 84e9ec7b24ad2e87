"""A notebook client that keeps a bounded amount of output and ignores all that is not output."""

from __future__ import annotations

from typing import Any

import nbformat
from nbclient import NotebookClient

from autograder.execute.marks import append_error

__all__ = ["Client", "note_error"]

_OUTPUTS = {"stream", "display_data", "execute_result", "error", "update_display_data"}
_LEAST_BYTES = 256
"""What an output costs at least: the objects that hold it take more than the few bytes it may consist of."""
_LAST_BYTES = 256 * 1024
"""What may still end a cell after too much output."""


class Client(NotebookClient):  # type: ignore[misc]
    """See the module's docstring."""

    left_bytes = 0
    flooded = False
    ended = False
    """Whether the messages of the cell that ran last have all come."""

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        kind = msg["msg_type"]
        self.ended = kind == "status" and msg["content"]["execution_state"] == "idle"
        if kind in _OUTPUTS and not self._keep(kind, len(str(msg["content"])), cell):
            return None
        return super().process_message(msg, cell, cell_index)

    def _keep(self, kind: str, size: int, cell: Any) -> bool:
        self.left_bytes -= max(size, _LEAST_BYTES)
        if self.left_bytes >= 0:
            return True
        self.flooded = True
        # How a cell ends is kept all the same: a print left in a loop must not cost the checks that come after it.
        ending = kind in {"execute_result", "error"} and all(o.output_type != kind for o in cell.outputs)
        return ending and size <= _LAST_BYTES

    def handle_comm_msg(self, outs: Any, msg: Any, cell_index: int) -> None:
        """Widgets have nobody to look at them here, and their state no bounds."""


def note_error(cell: nbformat.NotebookNode, cell_index: int, execute_reply: Any) -> None:
    """Leave an error in a cell that failed without showing one, as when a student has switched tracebacks off."""
    reply = execute_reply["content"]
    if reply["status"] != "ok" and all(output.output_type != "error" for output in cell.outputs):
        append_error(cell, str(reply.get("ename", "Error")), str(reply.get("evalue", "the cell did not run")))
