"""What a rank of a graded collective does, and how the student's function comes to it.

The student's process packs the function; a rank, which another process has started (see rank_host), unpacks it behind
its wall and answers what the test asks. Unpacking may run the student's code (`__reduce__`), which could patch all that
is to be done in this process: so nothing is left to do then.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import itertools
import json
import linecache
import os
import pickle
import pickletools
import shutil
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.boundary.absent import without_slow
from autograder.boundary.foreseen import Foreseen, import_named
from autograder.boundary.frames import Connection, ProcessDied
from autograder.boundary.kept_modules import LIBRARIES, modules_of
from autograder.boundary.peer import Peer
from autograder.boundary.resident import make_resident, mapped_files
from labkit._collective import keep_to_itself
from labkit._launch.confinement import leave_no_trace, write_nothing
from labkit._launch.pack import copied, lines_of_cells

__all__ = ["answer_of_rank", "answer_until_end", "packed", "waiting"]

_EVERYWHERE = {"autograder", "labkit"}
"""Packages that a rank finds where it is, wherever they lie."""
_MATPLOTLIB = "MPLCONFIGDIR"
_LATE = ("torch.utils.serialization",)
"""What torch imports with the first tensor that is saved, and asks for its own source: no file is there by then."""
_MOST_OWN, _LONGEST_OWN = 100, 1 << 20
"""So many modules beside the notebook go along, of so many bytes each."""
_CELL = 1
"""The number of the only conversation that a rank has."""


def packed(fn: Any) -> bytes:
    """Return a function with what it needs of the process that it comes from. Raises TypeError if it cannot be copied.

    Modules beside the notebook go along, for cells may have written them: as texts that a rank imports, as it does in a
    notebook, and as objects, for one that reads a file when it is imported.
    """
    importlib.invalidate_caches()  # a cell may have written a module just now
    foreseen = Foreseen(fn)
    here: list[Any] = []
    own = _texts(itertools.islice(modules_of(Path.cwd()), _MOST_OWN))
    while new := [module for module in _here() if module not in here]:
        here += new
        loaded = _texts((module.__name__, str(module.__file__)) for module in new)
        own |= loaded
        for _, text in loaded.values():
            foreseen.read(text)  # which may import more of them
    forms = [form for form in (_form(fn, ()), _form(fn, here) if here else None) if form is not None]
    if not forms:
        copied("collective", fn)  # which raises
    texts = {text for form in forms for _, text, _ in pickletools.genops(form) if isinstance(text, str)}
    names = (foreseen.modules | texts) & sys.modules.keys() - {module.__name__ for module in here}
    head = {
        "path": [*map(str, sys.path)],
        "environment": dict(os.environ),
        "lines": lines_of_cells(),
        "modules": sorted(names, key=lambda name: (name.count("."), name)),
        "codecs": sorted(foreseen.codecs),
        "own": own,
        "sizes": [*map(len, forms)],
    }
    return json.dumps(head).encode() + b"\n" + b"".join(forms)


def _form(fn: Any, modules: Sequence[Any]) -> bytes | None:
    """Return the function as bytes, with these modules as objects; None if it cannot be copied so."""
    import cloudpickle

    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        return copied("collective", fn)
    except TypeError:
        return None
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _unpacked(forms: bytes, sizes: list[int]) -> Any:
    """Return the function of the first form that can be read. Raises what the first has raised."""
    raised: Exception | None = None
    for place, size in enumerate(sizes):
        try:
            return pickle.loads(forms[(start := sum(sizes[:place])) : start + size])
        except Exception as error:
            raised = raised or error
    raise raised or TypeError("no function came")


def _here() -> list[Any]:
    return [module for module in list(sys.modules.values()) if _lies_here(module)]


def _texts(files: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return the file and the text of modules beside the notebook; not of too long ones, nor of what is no text."""
    texts: dict[str, tuple[str, str]] = {}
    for name, file in files:
        with contextlib.suppress(OSError, ValueError):
            if Path(file).stat().st_size <= _LONGEST_OWN:
                texts[name] = file, Path(file).read_text(encoding="utf-8")
    return texts


def _lies_here(module: Any) -> bool:
    file, name = getattr(module, "__file__", None), getattr(module, "__name__", None)
    if not isinstance(file, str) or not isinstance(name, str) or name.partition(".")[0] in _EVERYWHERE:
        return False
    return Path(file).is_relative_to(Path.cwd()) and "site-packages" not in file


def answer_of_rank(rank: int, world_size: int, door: str, packed: bytes) -> None:
    """Be one rank: answer until the test hangs up.

    What ranks tell each other goes through the test, which counts it. Libraries are imported, by their names, before
    there is anything of the student's here; then the wall, for what the rank will know must not outlast it.
    """
    from autograder.boundary.student import Agent

    with waiting(socket.socket(socket.AF_UNIX)) as stream:
        stream.connect(door)
        stream.sendall(bytes([rank]))
        head, forms = packed.split(b"\n", 1)
        about = json.loads(head)
        with _scratch(Path(door).parent) as scratch:
            write_nothing(but_in=scratch)
            _prepare(about["modules"], about["codecs"])
        write_nothing()
        keep_to_itself()  # says why, before the kernel says no
        leave_no_trace()
        for name, (file, text) in about["own"].items():
            LIBRARIES.keep_source(name, file, text)
        sys.meta_path.insert(0, LIBRARIES)
        sys.path[:] = about["path"]
        os.environ.update({name: value for name, value in about["environment"].items() if name not in os.environ})
        linecache.cache.update({name: tuple(entry) for name, entry in about["lines"].items()})
        owner = Agent()
        owner.begin({"fn": _unpacked(forms, about["sizes"])})
        peer = Peer(Connection(stream), owner, writable=True, only_when_asked=True)
        peer.begin(_CELL)
        peer.send("here")
        answer_until_end(peer)


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[str]:
    """Give libraries a place for the temporary files without which some are not imported; it goes with the folder."""
    place, before, configuration = tempfile.mkdtemp(dir=folder), tempfile.tempdir, os.environ.pop(_MATPLOTLIB, None)
    os.environ[_MATPLOTLIB] = tempfile.tempdir = place
    try:
        yield place
    finally:
        tempfile.tempdir = before
        del os.environ[_MATPLOTLIB]
        os.environ |= {_MATPLOTLIB: configuration} if configuration is not None else {}
        for file in Path(place).iterdir():
            with contextlib.suppress(OSError):
                shutil.rmtree(file) if file.is_dir() else file.unlink()


def _prepare(modules: list[str], codecs: list[str]) -> None:
    """Import what the function needs, from where libraries lie, and keep nothing open and no page of a file unread.

    The names are the student's choice. So nothing of his may run by them: modules of his are not found, and what a
    library looks for in the folder that it is in, or on its command line, is not there.
    """
    faulthandler.disable()
    faulthandler.unregister(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    mapped, path, here, words = mapped_files(), [*sys.path], Path.cwd(), [*sys.argv]
    sys.path[:], sys.argv[:] = _of_libraries(path), [""]
    os.chdir(here.root)
    modules = without_slow(modules)
    import_named([*modules, *(_LATE if "torch" in {*modules, *sys.modules} else ())], codecs)
    if pyplot := sys.modules.get("matplotlib.pyplot"):  # which imports what draws with the first figure
        with contextlib.suppress(Exception):
            pyplot.switch_backend("agg")
            pyplot.close(pyplot.subplots()[0])
    LIBRARIES.keep(modules)
    os.chdir(here)
    sys.path[:], sys.argv[:] = path, words
    if torch := sys.modules.get("torch"):  # there are no threads to set
        torch.set_num_threads(1)
        torch.set_num_threads = torch.set_num_interop_threads = lambda _: None  # type: ignore[attr-defined]
    make_resident(mapped_files() - mapped)
    _close_files()


def _of_libraries(path: list[str]) -> list[str]:
    """Return where modules are looked for, but for where files that were handed in lie; "" is here, too."""
    here = Path.cwd()
    return [place for place in path if "site-packages" in place or not (here / place).is_relative_to(here)]


def _close_files() -> None:
    """Close what is open of files: for writing, which no wall sees, or for reading, which the kernel remembers."""
    descriptors = Path("/proc/self/fd")
    for number in [int(place.name) for place in descriptors.iterdir()] if descriptors.exists() else ():
        with contextlib.suppress(OSError):
            if number > 2 and not stat.S_ISSOCK(os.fstat(number).st_mode):
                os.close(number)


def waiting(stream: socket.socket) -> socket.socket:
    """Return a socket that waits as long as it takes, whatever the student's code has made the default."""
    stream.settimeout(None)
    return stream


def answer_until_end(peer: Peer) -> bool:
    """Answer what the test asks until it ends, or hangs up; return whether those below go on with objects of its.

    An interrupt ends that too, the grader's or one that the student's code raises itself: the test hears of it.
    """
    try:
        while (message := peer.next())[0].get("k") != "end":
            peer.answer(*message)
        return message[0].get("holds") is True
    except ProcessDied:
        return False
    except KeyboardInterrupt:
        with contextlib.suppress(ProcessDied):
            peer.send("gone")
        return False
