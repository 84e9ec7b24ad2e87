"""What the grader asks of the inside of a sandbox: one typed message, which the guest reads once and completely.

It travels in a memory file, which no other process can look up as it could a command line. The grader writes it and
the guest believes it; it is marshalled, because that is the one format that a bare Python reads without importing
anything, and the same interpreter stands at both ends.
"""

# pathlib, typing and dataclasses would double the time that the launcher takes to start.

from __future__ import annotations

import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypedDict, TypeVar

    _Request = TypeVar("_Request", bound="Start")
else:
    TypedDict = dict

__all__ = ["ColdStart", "ForkStart", "Rules", "Start", "pack", "read"]


class Rules(TypedDict):
    """What Landlock leaves a program: the arguments of `landlock.confine`."""

    read: list[str]
    write: list[str]
    devices: list[str]
    ports: list[int] | None
    thread_names: str


class Start(TypedDict):
    """What both ways to start a program have in common.

    work, home: directories to be made; the program starts in the first.
    files: what is in this directory is copied to the working directory; "" if there are none.
    fonts: the file with matplotlib's font list, copied to its place below the home directory; or "".
    uid: the user to continue as; None to stay who one is.
    in_user_namespace: whether that uid is one of a user namespace of its own, else the machine's.
    limits: resource limits, soft and hard, by the name that the module `resource` gives them.
    filter: the filter of system calls, an array of struct sock_filter; b"" for none.
    """

    work: str
    home: str
    files: str
    fonts: str
    uid: int | None
    in_user_namespace: bool
    limits: dict[str, int]
    filter: bytes


class ColdStart(Start):
    """A program that a new interpreter runs: for `launcher.py`.

    command: what to become in the end.
    tmp: one more directory to be made, or "".
    read_all: with a uid of the machine's: keep the capability to read files that only root may read.
    tmpfs, inodes: let each tmpfs mounted at these places hold so many files; that asks for the right to mount.
    proc: in a user namespace: where a /proc that can be written to is mounted, or can be; afterwards it is gone.
    seal: in a user namespace: forbid further ones below it.
    supervise: stay as the parent of all that follows, and end all of it with the command or with this process; or None.
    landlock: what Landlock leaves the command; None for no such wall.
    """

    command: list[str]
    tmp: str
    read_all: bool
    tmpfs: list[str]
    inodes: int
    proc: str
    seal: bool
    supervise: int | None
    landlock: Rules | None


class ForkStart(Start):
    """A program that a fork of the pre-warmed process runs: for `zygote_main.py` and `namespaces.py`.

    files is not "" if a descriptor of the directory comes with the request.

    arguments: its command line, after the program's name.
    descriptors: under which numbers it inherits the descriptors that come with the request.
    environment: all its variables.
    own: the directory in which the program is shown to itself.
    sizes: the size in bytes of the tmpfs on each of these directories.
    inodes: how many files and directories each of them may hold.
    kept: what is to be seen below such a directory nevertheless, as before.
    etc: the contents of these files in /etc.
    own_proc: whether a /proc of its own can be mounted.
    devices: device nodes that it may write to, beside the usual ones.
    """

    arguments: list[str]
    descriptors: list[int]
    environment: dict[str, str]
    own: str
    sizes: dict[str, int]
    inodes: int
    kept: list[str]
    etc: dict[str, str]
    own_proc: bool
    devices: list[str]


def pack(request: Mapping[str, object]) -> bytes:
    """Return a request as `read` takes it."""
    return marshal.dumps({name: dict(value) if isinstance(value, dict) else value for name, value in request.items()})


def read(descriptor: int, kind: type[_Request]) -> _Request:
    """Read a request of this kind and close its file; OSError if a field is missing or unknown."""
    with open(descriptor, "rb") as file:
        fields = marshal.loads(file.read())
    names = {name for each in kind.__mro__ for name in vars(each).get("__annotations__", ())}
    if wrong := names ^ set(fields):
        raise OSError(f"{kind.__name__}: not as the grader and this file understand it: {', '.join(sorted(wrong))}")
    return kind(**fields)
