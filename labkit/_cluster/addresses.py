"""This machine's network interfaces and their addresses, without a name server."""

from __future__ import annotations

import socket

import psutil

__all__ = ["address_of", "interface_of", "interfaces"]

_FAMILIES = (socket.AF_INET, socket.AF_INET6)


def interfaces() -> dict[str, list[str]]:
    """Return the addresses of each interface, those of version 4 first."""
    found: dict[str, list[str]] = {}
    for name, addresses in psutil.net_if_addrs().items():
        kinds = [[a.address.partition("%")[0] for a in addresses if a.family == f] for f in _FAMILIES]
        found[name] = [address for own in kinds for address in own]
    return found


def interface_of(address: str) -> str:
    """Return the interface that has this address, or "" if none has: behind address translation, for example."""
    plain = address.partition("%")[0]
    return next((name for name, addresses in interfaces().items() if plain in addresses), "")


def address_of(interface: str) -> str:
    """Return the first address of an interface, or "" if there is no such interface or it has none."""
    return next(iter(interfaces().get(interface, [])), "")
