"""A web server on this machine that misbehaves in the ways that mirrors do."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Mirror:
    """Serves `files`; records the range that each request asked for and counts the bytes that travelled."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True  # honours Range
    length: bool = True  # sends Content-Length
    cut_at: int | None = None  # hangs up after this many bytes of an answer
    delay_s: float = 0.0  # before an answer
    asked: list[str | None] = field(default_factory=list)
    sent: int = 0


class _Handler(BaseHTTPRequestHandler):
    mirror: Mirror

    def do_GET(self) -> None:
        mirror = self.mirror
        mirror.asked.append(self.headers["Range"])
        time.sleep(mirror.delay_s)
        body = mirror.files.get(self.path.removeprefix("/"))
        if body is None:
            self.send_error(404)
            return
        start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-")) if self.headers["Range"] else 0
        start = start if mirror.ranges else 0
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if mirror.length:
            self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        piece = body[start:][: mirror.cut_at]
        mirror.sent += len(piece)  # before: the client may be through before this thread goes on
        with contextlib.suppress(ConnectionError):  # the client may refuse the rest
            self.wfile.write(piece)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet."""


@contextlib.contextmanager
def serving() -> Iterator[Mirror]:
    """Yield a running mirror; its `url` ends with a slash."""
    mirror = Mirror()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"mirror": mirror}))
    mirror.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield mirror
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
