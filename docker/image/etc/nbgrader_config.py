"""nbgrader where a hub mounts an exchange that its users share: PRACTICUM_EXCHANGE is its folder."""

import json
import os
from pathlib import Path
from typing import Any

c = get_config()  # type: ignore[name-defined]  # noqa: F821 (Jupyter defines it)


def collect_by_owner(uids: Path) -> Any:
    """Return nbgrader's collect for an exchange whose users have uids of their own.

    A submission's name is written by the student; its owner is not. Each is filed under whom its files belong to.
    """
    from nbgrader.exchange.default import ExchangeCollect

    class CollectByOwner(ExchangeCollect):  # type: ignore[misc]
        """Collect what each student has handed in, also if it bears another student's name."""

        def _path_to_record(self, path: str) -> dict[str, Any]:
            record: dict[str, Any] = super()._path_to_record(path)
            names = {uid: name for name, uid in json.loads(uids.read_text(encoding="utf-8")).items()}
            # lstat: a link may lead to what another student handed in.
            owner = names.get(os.lstat(path).st_uid, "") or f"nobody-{os.lstat(path).st_uid}"
            if owner != record["username"]:
                self.log.warning("%s names %s but belongs to %s", path, record["username"], owner)
            return record | {"username": owner}

    return CollectByOwner


if exchange := os.environ.get("PRACTICUM_EXCHANGE"):
    c.Exchange.root = exchange
    c.Exchange.assignment_dir = os.path.join(os.environ["HOME"], "labs")  # noqa: PTH118
    c.CourseDirectory.course_id = os.environ.get("PRACTICUM_COURSE_ID", "dl-scale")
    if os.environ.get("PRACTICUM_COURSE"):
        c.ExchangeFactory.collect = collect_by_owner(Path(exchange) / "uids.json")
        # It knows owners by the system's accounts only, and files a submission under the name that it bears.
        c.ExchangeCollect.check_owner = False
