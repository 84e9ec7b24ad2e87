"""Starts CUDA in a sandbox and ends with 0; with what the driver says if it does not start."""

from __future__ import annotations

import ctypes
import sys


def main() -> str:
    """Return why CUDA cannot be used here; "" if it can."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"the driver's library does not load: {error}"
    count = ctypes.c_int()
    for name, arguments in (("cuInit", (0,)), ("cuDeviceGetCount", (ctypes.byref(count),))):
        code = getattr(driver, name)(*arguments)
        if code:
            said = ctypes.c_char_p()
            known = driver.cuGetErrorString(code, ctypes.byref(said)) == 0 and said.value
            return f"{name} fails with error {code}" + (f", {said.value.decode()}" if known and said.value else "")
    return "" if count.value else "the driver sees no GPU"


if __name__ == "__main__":
    sys.exit(main() or 0)
