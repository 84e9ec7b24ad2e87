"""This machine's network interfaces and their addresses, without a name server (Linux)."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct
from pathlib import Path

__all__ = ["address_of", "interface_of", "interfaces"]

_SIOCGIFADDR = 0x8915


def interfaces() -> dict[str, list[str]]:
    """Return the addresses of each interface, those of version 4 first."""
    found = {name: _version_4(name) for _, name in socket.if_nameindex()}
    with contextlib.suppress(OSError):  # no IPv6 on this machine
        for line in Path("/proc/net/if_inet6").read_text(encoding="ascii").splitlines():
            digits, *_, name = line.split()
            found.setdefault(name, []).append(str(ipaddress.IPv6Address(bytes.fromhex(digits))))
    return found


def interface_of(address: str) -> str:
    """Return the interface that has this address, or "" if none has: behind address translation, for example."""
    plain = address.partition("%")[0]
    return next((name for name, addresses in interfaces().items() if plain in addresses), "")


def address_of(interface: str) -> str:
    """Return the first address of an interface, or "" if there is no such interface or it has none."""
    return next(iter(interfaces().get(interface, [])), "")


def _version_4(interface: str) -> list[str]:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", interface.encode()[:15]))
        except OSError:  # the interface is down, or has none
            return []
    return [socket.inet_ntoa(answer[20:24])]
