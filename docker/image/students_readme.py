"""Print what of the README is for students: in their image there is nothing to clone, make or grade.

Usage: python students_readme.py README.md
"""

from __future__ import annotations

import sys
from pathlib import Path

SECTIONS = ("For students", "The labs")


def students_readme(text: str) -> str:
    """Return the title, the introduction and the students' sections; raise KeyError if one of them is not there."""
    first, *others = text.split("\n## ")
    sections = {section.partition("\n")[0]: section.strip() for section in others}
    return "\n\n## ".join([first.strip(), *(sections[name] for name in SECTIONS)]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(students_readme(Path(sys.argv[1]).read_text(encoding="utf-8")))
