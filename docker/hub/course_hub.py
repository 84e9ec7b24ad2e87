"""Accounts that only the instructor opens; for each student a uid, by which an exchange tells them apart."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from nativeauthenticator import NativeAuthenticator  # type: ignore[import-not-found]

__all__ = ["Accounts", "Uids", "make_exchange"]

# The image's own user is the instructor; students' uids are in nobody's way on the host.
INSTRUCTOR_UID, GROUP, FIRST_UID = 1000, 100, 20001
# bcrypt reads no further, and newer versions of it refuse to.
_LONGEST_PASSWORD = 72


class Accounts(NativeAuthenticator):  # type: ignore[misc]
    """Sign-up with a password; the instructor's own account is there before anybody can sign up under its name."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in sorted(self.admin_users):
            if not self.user_exists(name):
                self._open(name)

    def _open(self, name: str) -> None:
        password = os.environ.get("HUB_ADMIN_PASSWORD", "")
        if self.create_user(name, password) is None:
            raise ValueError(
                f"HUB_ADMIN_PASSWORD: {'not set' if not password else 'too short, too long or too common'}\n"
                f"hint: set it to a password of {self.minimum_password_length} to {_LONGEST_PASSWORD} characters "
                f"for the account {name}; it is read once, when the account is made"
            )

    def is_password_strong(self, password: str) -> bool:
        """Refuse what is too short, too common, or longer than bcrypt reads."""
        return len(password.encode()) <= _LONGEST_PASSWORD and bool(super().is_password_strong(password))

    async def authenticate(self, handler: Any, data: dict[str, str]) -> str | None:
        """Return the user's name if the password is right and the instructor has let them in."""
        if len(data["password"].encode()) > _LONGEST_PASSWORD:
            return None
        name: str | None = await super().authenticate(handler, data)
        return name


class Uids:
    """A uid for each student, given out once and kept; a copy tells the instructor's container whose file is whose."""

    def __init__(self, path: Path, public: Path) -> None:
        self.path, self.public = path, public

    def of(self, name: str) -> int:
        """Return the uid that this student's processes and files have."""
        known: dict[str, int] = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        if name not in known:
            known[name] = max([FIRST_UID - 1, *known.values()]) + 1
            _write(self.path, known)
        _write(self.public, known)
        return known[name]


def _write(path: Path, values: dict[str, int]) -> None:
    """Replace a file as a whole: a hub that is killed leaves the old one or the new one."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(values, indent=1), encoding="utf-8")
    new.replace(path)


def make_exchange(root: Path, course_id: str) -> None:
    """Make nbgrader's exchange: its root is everyone's, as nbgrader asks, the course the instructor's."""
    root.chmod(0o1777)  # sticky: nobody can move what is another's
    course = root / course_id
    course.mkdir(exist_ok=True)
    course.chmod(0o755)
    os.chown(course, INSTRUCTOR_UID, GROUP)
