"""Imported by a process off which others are forked that will launch: each of them forks its own server at once.

Nothing else imports it, so that nothing else makes every fork start a server, which imports torch.
"""

from labkit._launch import server

__all__ = ["server"]
