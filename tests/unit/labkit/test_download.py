"""fetch: mirrors, resuming, digests, locks and what it says when it fails."""

from __future__ import annotations

import hashlib
import io
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from labkit import _download
from labkit._download import DownloadError, fetch, matches

if TYPE_CHECKING:
    from tests.mirror import Mirror

BODY = bytes(range(256)) * 4096  # 1 MiB, several pieces
SHA256 = hashlib.sha256(BODY).hexdigest()


def get(*urls: str, to: Path) -> Path:
    return fetch(urls, to, size=len(BODY), sha256=SHA256, hint="use the glyphs")


@pytest.fixture
def closed_url() -> str:
    """A URL that nobody serves."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}/data"


def test_a_file_arrives_whole_and_leaves_no_part(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = BODY
    path = get(mirror.url + "data", to=tmp_path / "new" / "data")
    assert path.read_bytes() == BODY
    assert not path.with_name("data.part").exists()


def test_a_file_that_is_there_is_not_asked_for_again(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = BODY
    for _ in range(2):
        get(mirror.url + "data", to=tmp_path / "data")
    assert mirror.asked == [None]


def test_a_damaged_file_is_replaced(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = BODY
    (tmp_path / "data").write_bytes(b"?" + BODY[1:])
    assert get(mirror.url + "data", to=tmp_path / "data").read_bytes() == BODY


def test_only_the_missing_bytes_travel_after_an_interruption(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = BODY
    mirror.cut_at = 300_000
    path = get(mirror.url + "data", to=tmp_path / "data")
    assert path.read_bytes() == BODY
    assert mirror.asked == [None, "bytes=300000-", "bytes=600000-", "bytes=900000-"]
    assert mirror.sent == len(BODY)


def test_a_later_call_goes_on_where_an_earlier_one_stopped(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = BODY
    (tmp_path / "data.part").write_bytes(BODY[:1_000_000])
    get(mirror.url + "data", to=tmp_path / "data")
    assert mirror.asked == ["bytes=1000000-"]
    assert mirror.sent == len(BODY) - 1_000_000


def test_what_arrived_is_kept_when_every_mirror_fails(mirror: Mirror, tmp_path: Path, closed_url: str) -> None:
    mirror.files["data"] = BODY
    mirror.cut_at = 300_000
    mirror.ranges = False
    with pytest.raises(DownloadError, match="the connection ended early"):
        get(mirror.url + "data", closed_url, to=tmp_path / "data")
    assert (tmp_path / "data.part").read_bytes() == BODY[:300_000]
    assert not (tmp_path / "data").exists()


def test_a_server_that_ignores_ranges_sends_all_of_it(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = BODY
    mirror.ranges = False
    (tmp_path / "data.part").write_bytes(BODY[:1000])
    assert get(mirror.url + "data", to=tmp_path / "data").read_bytes() == BODY
    assert mirror.sent == len(BODY)


def test_a_missing_file_on_the_first_mirror_is_taken_from_the_second(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = BODY
    assert get(mirror.url + "absent", mirror.url + "data", to=tmp_path / "data").read_bytes() == BODY


def test_wrong_content_is_thrown_away_and_the_next_mirror_tried(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files = {"forged": b"!" * len(BODY), "data": BODY}
    assert get(mirror.url + "forged", mirror.url + "data", to=tmp_path / "data").read_bytes() == BODY
    assert mirror.asked == [None, None]


def test_wrong_content_everywhere_leaves_nothing_behind(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = b"!" * len(BODY)
    with pytest.raises(DownloadError, match="SHA-256 differs"):
        get(mirror.url + "data", to=tmp_path / "data")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == []


def test_wrong_content_in_pieces_does_not_go_on_for_ever(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = b"!" * len(BODY)
    mirror.cut_at = 600_000
    with pytest.raises(DownloadError, match="SHA-256 differs"):
        get(mirror.url + "data", to=tmp_path / "data")
    assert mirror.asked == [None, "bytes=600000-"]


def test_a_bad_part_of_an_earlier_call_costs_one_more_try(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = BODY
    (tmp_path / "data.part").write_bytes(b"!" * 1000)
    assert get(mirror.url + "data", to=tmp_path / "data").read_bytes() == BODY
    assert mirror.asked == ["bytes=1000-", None]


@pytest.mark.parametrize("size", [len(BODY), len(BODY) + 5])
def test_a_part_that_is_full_but_wrong_is_started_again(mirror: Mirror, tmp_path: Path, size: int) -> None:
    mirror.files["data"] = BODY
    (tmp_path / "data.part").write_bytes(b"!" * size)
    assert get(mirror.url + "data", to=tmp_path / "data").read_bytes() == BODY


@pytest.mark.parametrize("length", [True, False])
def test_a_larger_file_is_refused_at_once(mirror: Mirror, tmp_path: Path, length: bool) -> None:
    mirror.files["data"] = BODY + b"more"
    mirror.length = length
    with pytest.raises(DownloadError, match="has another file"):
        get(mirror.url + "data", to=tmp_path / "data")
    assert not (tmp_path / "data.part").exists()


def test_a_larger_file_is_refused_when_resuming_too(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = BODY + b"more"
    (tmp_path / "data.part").write_bytes(BODY[:1000])
    with pytest.raises(DownloadError, match="answered with another range"):
        get(mirror.url + "data", to=tmp_path / "data")


def test_the_error_says_what_happened_with_each_mirror_and_what_works_offline(
    mirror: Mirror, tmp_path: Path, closed_url: str
) -> None:
    with pytest.raises(DownloadError) as error:
        get(mirror.url + "absent", closed_url, "http://no-such-host.invalid/data", to=tmp_path / "data")
    assert str(error.value).splitlines() == [
        "data: no mirror delivered it",
        f"  {mirror.url}absent: 404 Not Found",
        f"  {closed_url}: connection refused",
        "  http://no-such-host.invalid/data: its name cannot be looked up (no network?)",
        "hint: use the glyphs",
    ]


def test_a_mirror_that_does_not_answer_is_given_up(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.files["data"] = BODY
    mirror.delay_s = 0.5
    monkeypatch.setattr(_download, "_READ_TIMEOUT_S", 0.1)
    with pytest.raises(DownloadError, match="no answer"):
        get(mirror.url + "data", to=tmp_path / "data")


def test_a_full_disk_is_noticed_before_the_download(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(DownloadError, match=r"1\.0 MB to download, 0\.0 MB free\nhint: .*LABKIT_DATA"):
        get(mirror.url + "data", to=tmp_path / "data")
    assert mirror.asked == []


def test_a_folder_that_cannot_be_made_is_a_clear_error(mirror: Mirror, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DownloadError, match=r"cannot be written \(.+\)\nhint: .*LABKIT_DATA"):
        get(mirror.url + "data", to=tmp_path / "file" / "data")


def test_two_processes_download_once(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files["data"] = BODY
    mirror.delay_s = 1.0
    call = f"fetch([{mirror.url + 'data'!r}], Path({str(tmp_path / 'data')!r}), size={len(BODY)}, sha256={SHA256!r})"
    command = [sys.executable, "-c", f"from pathlib import Path; from labkit._download import fetch; {call}"]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    messages = sorted(process.communicate(timeout=60)[1] for process in processes)
    assert [process.returncode for process in processes] == [0, 0]
    assert matches(tmp_path / "data", SHA256)
    assert mirror.asked == [None]
    assert messages[0].startswith("data: waiting for another process")


def test_progress_is_a_line_now_and_then_when_nobody_sits_at_a_terminal(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror.files["data"] = BODY
    monkeypatch.setattr(_download, "_LINE_EVERY_S", 0.0)
    get(mirror.url + "data", to=tmp_path / "data")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == f"{mirror.url}data: downloading 1.0 MB"
    assert err.splitlines()[-1] == "data: 1.0 MB of 1.0 MB"


def test_progress_is_a_bar_on_a_terminal(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    mirror.files["data"] = BODY
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    get(mirror.url + "data", to=tmp_path / "data")
    assert "1.0/1.0 MB" in screen.getvalue()
