"""Writes the tables of what may cross the boundary into docs/grading.md, between their marks."""

from __future__ import annotations

from pathlib import Path

from autograder.boundary.operations import FROM_STUDENT, FROM_TEST, as_markdown

_PAGE = Path(__file__).with_name("grading.md")


def main() -> None:
    """Replace both tables."""
    text = _PAGE.read_text(encoding="utf-8")
    for mark, rows in (("from-test", FROM_TEST), ("from-student", FROM_STUDENT)):
        begin, end = f"<!-- {mark}: made by make docs -->\n", "\n<!-- end -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}{as_markdown(rows)}{end}{rest.partition(end)[2]}"
    _PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
