"""What the kit takes on disk: nbgrader, the grader alone, the labs' frameworks, and which packages those are.

Usage: python -m benchmarks.installation, in an environment with all of the kit. Nothing is installed or imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

__all__ = ["KIT", "closure", "megabytes"]

KIT = "dl-scale-practicum"


def closure(requirements: Iterable[str]) -> dict[str, metadata.Distribution]:
    """Return the distributions that pip would install for these, theirs included, as this environment has them."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [(Requirement(line), "") for line in requirements]
    seen: set[tuple[str, str]] = set()
    while waiting:
        wanted, extra = waiting.pop()
        if wanted.marker and not wanted.marker.evaluate({"extra": extra}):
            continue
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        for asked in ("", *wanted.extras):
            if (name, asked) in seen:
                continue
            seen.add((name, asked))
            found[name] = metadata.distribution(name)
            waiting += [(Requirement(line), asked) for line in found[name].requires or []]
    return found


def megabytes(distributions: Iterable[metadata.Distribution]) -> float:
    """Return what their files take, 10**6 bytes each."""
    files = {Path(str(file.locate())) for found in distributions for file in found.files or []}
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def main() -> None:
    """Print the sizes: nbgrader's own installation, then what the kit adds to it."""
    nbgrader, grader, labs = (closure([line]) for line in ("nbgrader", KIT, f"{KIT}[labs]"))
    print(f"nbgrader                   {megabytes(nbgrader.values()):7.0f} MB  {len(nbgrader)} packages")
    for name, found, before in (("the grader alone", grader, nbgrader), ("the labs' frameworks", labs, grader)):
        more = {key: found[key] for key in sorted(found.keys() - before.keys())}
        print(f"{name:<25} +{megabytes(more.values()):7.0f} MB  {len(more)} packages: {', '.join(more)}")


if __name__ == "__main__":
    main()
