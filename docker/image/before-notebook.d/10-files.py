#!/opt/kit/bin/python
"""Give the user a copy of what is not there yet; what is there, also changed or empty, stays as it is.

A student gets labs/, docs/ and README.md in the home directory; an instructor the whole course in PRACTICUM_COURSE.
A student's labs that an older image brought become those of this one as `labkit work` does it: no answer is lost.
"""

import os
import shutil
import sys
from pathlib import Path

from labkit._work import WorkError, bring_up_to_date

SOURCE = Path("/opt/practicum")
# Of these, single entries that are missing come back: a newer image brings newer labs.
BY_ENTRY = ("labs", "solutions")


def copy(source: Path, target: Path) -> None:
    """Copy a file or folder to a place where nothing is; it appears whole or not at all."""
    if target.exists() or target.is_symlink():
        return
    partial = target.with_name(f".{target.name}.partial")
    if source.is_dir():
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(source, partial)
    else:
        shutil.copy(source, partial)
    partial.rename(target)


def update(labs: Path, own: Path) -> None:
    """Bring the labs of an older image up to date and say what changed; a lab that cannot be stops no container."""
    try:
        for lab in bring_up_to_date(labs, own):
            if lab.what in ("updated", "as it was"):
                print(f"labs/{lab.lab}: {lab.what}", *lab.notes, sep="\n  ", file=sys.stderr)
    except WorkError:
        pass  # on a hub labs come from nbgrader's exchange, and there are none here
    except OSError as error:
        print(f"{own}: not brought up to date: {error}", file=sys.stderr)


def main() -> None:
    """Copy everything that the image holds for its user."""
    home = Path(os.environ.get("PRACTICUM_COURSE") or os.environ["HOME"])
    home.mkdir(exist_ok=True)
    for source in sorted(SOURCE.iterdir()):
        if source.name in BY_ENTRY:
            (home / source.name).mkdir(exist_ok=True)
            for entry in sorted(source.iterdir()):
                copy(entry, home / source.name / entry.name)
        else:
            copy(source, home / source.name)
    if not os.environ.get("PRACTICUM_COURSE"):
        update(SOURCE / "labs", home / "labs")


if __name__ == "__main__":
    main()
