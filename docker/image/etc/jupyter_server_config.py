"""The server in the container: it listens on every address of it or on JUPYTER_IP, and asks for a token or password."""

import os

c = get_config()  # type: ignore[name-defined]  # noqa: F821 (Jupyter defines it)

c.ServerApp.ip = os.environ.get("JUPYTER_IP", "0.0.0.0")
c.ServerApp.port = int(os.environ.get("JUPYTER_PORT", "8888"))
c.ServerApp.port_retries = 0
c.ServerApp.open_browser = False
c.ServerApp.root_dir = os.environ.get("PRACTICUM_COURSE") or os.environ["HOME"]
c.LabApp.default_url = "/lab/tree/README.md"
# Deleted files are gone: a trash can in a container fills its disk unseen.
c.FileContentsManager.delete_to_trash = False
