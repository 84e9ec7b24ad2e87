"""A notebook client that keeps a bounded amount of harmless output and ignores all that is not output.

It writes into the cell that it is given to run, and into what such cells displayed before: never into a notebook.
"""

from __future__ import annotations

import logging
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete

from autograder.execution.marks import append_error
from autograder.protocol import MIME
from autograder.submission.sanitize_outputs import MAX_BYTES, received

__all__ = ["Client", "Displays", "note_error"]

_OUTPUTS = {"stream", "display_data", "execute_result", "error", "update_display_data"}
_ENDINGS = {"execute_result", "error"}
_LEAST_BYTES = 256
"""What an output costs at least: the objects that hold it take more than the few bytes it may consist of."""
_LAST_BYTES = 256 * 1024
"""What may still end a cell after too much output."""
_MAX_PRINTED = 64 * 1024
"""What is kept of the text that a cell prints, in characters: what a person would read."""
_MAX_OUTPUTS = 200
_MAX_KEPT = 4 * 2**20
"""What is kept of the outputs of all cells together, in characters."""
_MAX_DISPLAYS = 1000
_MAX_ID = 200


class Client(NotebookClient):  # type: ignore[misc]
    """See the module's docstring. A `Run` sets what is not nbclient's, and calls `begin` and `finish` for each cell."""

    left_bytes = 0
    flooded = False
    ended = False
    """Whether the messages of the cell that ran last have all come."""

    def __init__(self, **options: Any) -> None:
        # nbclient puts each cell that it has run into a notebook: into one that nobody reads.
        empty = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell()])
        super().__init__(empty, log=logging.getLogger(__name__), **options)
        self._displays = Displays()
        self._left_kept = _MAX_KEPT
        self.begin(1)

    def begin(self, count: int, *, reports: bool = False) -> None:
        """Prepare for a cell.

        count: its number; what the kernel says about that is not believed. reports: it is a test that runs in the
        kernel, and what labkit reports in it is kept.
        """
        self._count = count
        self._media_type = MIME if reports else ""
        self._left_printed, self._left_cell = _MAX_PRINTED, MAX_BYTES
        self._left_out = [0, 0]
        self._clear_first = False

    def finish(self, cell: Any) -> None:
        """Say in a cell how much of its output was left out."""
        characters, outputs = self._left_out
        words = [f"{characters:,} characters"] * (characters > 0) + [f"{outputs:,} outputs"] * (outputs > 0)
        if words:
            text = f"\n[{' and '.join(words)} more were left out]\n"
            cell.outputs.append(nbformat.v4.new_output("stream", name="stdout", text=text))
        self._left_out = [0, 0]

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> None:
        """Take one message of the kernel's; nothing but output counts. CellExecutionComplete: it was the last one."""
        kind, content = msg["msg_type"], msg["content"]
        self.ended = kind == "status" and content["execution_state"] == "idle"
        if self.ended:
            raise CellExecutionComplete
        if kind == "clear_output":
            self._clear_first = bool(content.get("wait"))
            if not self._clear_first:
                self._clear(cell)
        elif kind in _OUTPUTS:
            name = _display_id(content) if kind in {"display_data", "update_display_data"} else ""
            if self._keep(kind, len(str(content)) * max(1, self._displays.number(name)), cell):
                self._take(kind, content, name, cell)
            elif kind == "stream":
                self._left_out[0] += len(str(content.get("text", "")))
            else:
                self._left_out[1] += 1

    def handle_comm_msg(self, outs: Any, msg: Any, cell_index: int) -> None:
        """Widgets have nobody to look at them here, and their state no bounds."""

    def _keep(self, kind: str, size: int, cell: Any) -> bool:
        self.left_bytes -= max(size, _LEAST_BYTES)
        if self.left_bytes >= 0:
            return True
        self.flooded = True
        # How a cell ends is kept all the same: a print left in a loop must not cost the checks that come after it.
        ending = kind in _ENDINGS and all(o.output_type != kind for o in cell.outputs)
        return ending and size <= _LAST_BYTES

    def _take(self, kind: str, content: dict[str, Any], name: str, cell: Any) -> None:
        node = received(kind, content, self._count, self._media_type)
        if node is None:
            return
        if name:
            self._left_kept -= self._displays.update(name, node, self._left_kept)
        if kind == "update_display_data":
            return
        if self._clear_first:
            self._clear(cell)
            self._clear_first = False
        if kind == "stream":
            self._print(node, cell)
        elif self._fits(kind, node, cell):
            cell.outputs.append(node)
            if name:
                self._displays.add(name, node)

    def _fits(self, kind: str, node: nbformat.NotebookNode, cell: Any) -> bool:
        size = _size(node)
        fits = size <= min(self._left_cell, self._left_kept) and len(cell.outputs) < _MAX_OUTPUTS
        if not fits and (kind not in _ENDINGS or any(o.output_type == kind for o in cell.outputs)):
            self._left_out[1] += 1
            return False
        self._left_cell -= size
        self._left_kept -= size
        return True

    def _print(self, node: nbformat.NotebookNode, cell: Any) -> None:
        last: Any = cell.outputs[-1] if cell.outputs else None
        joins = bool(last) and last.output_type == "stream" and last.name == node.name
        room = joins or len(cell.outputs) < _MAX_OUTPUTS
        kept = node.text[: max(0, min(self._left_printed, self._left_cell, self._left_kept))] if room else ""
        self._left_out[0] += len(node.text) - len(kept)
        self._left_printed -= len(kept)
        self._left_cell -= len(kept)
        self._left_kept -= len(kept)
        if joins:
            last.text += kept
        elif kept:
            node.text = kept
            cell.outputs.append(node)

    def _clear(self, cell: Any) -> None:
        self._displays.forget(cell.outputs)
        held = sum(map(_size, cell.outputs))
        self._left_kept += held
        self._left_cell += held
        cell.outputs = []
        self._left_out = [0, 0]
        self._left_printed = _MAX_PRINTED


class Displays:
    """The outputs that code gave a name, to change them later: only those of the student's own cells are ever here."""

    def __init__(self) -> None:
        self._named: dict[str, list[nbformat.NotebookNode]] = {}
        self._left = _MAX_DISPLAYS

    def add(self, name: str, node: nbformat.NotebookNode) -> None:
        """Remember an output, while there are not too many."""
        if self._left > 0:
            self._left -= 1
            self._named.setdefault(name, []).append(node)

    def number(self, name: str) -> int:
        """Return how many outputs have this name."""
        return len(self._named.get(name, ()))

    def update(self, name: str, new: nbformat.NotebookNode, left: int) -> int:
        """Show something else in the outputs of this name; return how many characters they have more, at most left."""
        more = sum(len(str(new.data)) - len(str(node.data)) for node in self._named.get(name, ()))
        if more > left:
            return 0
        for node in self._named.get(name, ()):
            node.data = nbformat.from_dict(dict(new.data))
        return more

    def forget(self, outputs: list[nbformat.NotebookNode]) -> None:
        """Forget outputs that are no longer shown."""
        gone = {id(output) for output in outputs}
        for name, nodes in list(self._named.items()):
            self._named[name] = [node for node in nodes if id(node) not in gone]
            self._left += len(nodes) - len(self._named[name])
            if not self._named[name]:
                del self._named[name]


def note_error(cell: nbformat.NotebookNode, cell_index: int, execute_reply: Any) -> None:
    """Leave an error in a cell that failed without showing one, as when a student has switched tracebacks off."""
    reply = execute_reply["content"]
    if reply["status"] != "ok" and all(output.output_type != "error" for output in cell.outputs):
        append_error(cell, str(reply.get("ename", "Error")), str(reply.get("evalue", "the cell did not run")))


def _size(node: nbformat.NotebookNode) -> int:
    return len(node.text if node.output_type == "stream" else str(node))


def _display_id(content: dict[str, Any]) -> str:
    """Return the name that code gave to what it displays; empty if it gave none."""
    about = content.get("transient")
    name = about.get("display_id") if isinstance(about, dict) else None
    return name if isinstance(name, str) and len(name) <= _MAX_ID else ""
