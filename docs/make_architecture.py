"""Writes the tree of rooms and modules into docs/architecture.md, each with the first sentence of its docstring."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_PAGE = Path(__file__).with_name("architecture.md")
_ROOT = _PAGE.parents[1]
_BEGIN, _END = "<!-- tree: made by make docs -->\n", "\n<!-- end -->"


def render(text: str) -> str:
    """Return the page with the tree as it is now."""
    before, _, rest = text.partition(_BEGIN)
    tree = "\n".join(_lines())
    return f"{before}{_BEGIN}{tree}{_END}{rest.partition(_END)[2]}"


def _lines() -> Iterator[str]:
    for package in ("autograder", "labkit"):
        yield from (f"### {package}/\n", "| module | what it is |", "|---|---|")
        folder = _ROOT / package
        rooms = sorted(path.parent for path in folder.rglob("__init__.py"))
        for room in rooms:
            name = room.relative_to(folder).as_posix()
            if room != folder:
                yield f"| **{name}/** | {_sentence(room / '__init__.py')} |"
            for path in sorted((*room.glob("*.py"), *room.glob("*.html"))):
                if path.name != "__init__.py":
                    yield f"| {'' if room == folder else '&emsp;'}{path.name} | {_sentence(path)} |"
        yield ""


def _sentence(path: Path) -> str:
    if path.suffix == ".html":
        return f"The page that `{path.stem}.py` fills in."
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).rstrip(":").replace("|", "\\|")


if __name__ == "__main__":
    _PAGE.write_text(render(_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
