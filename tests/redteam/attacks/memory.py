"""Forging and spying in memory: the collector's objects, types, raw addresses, files of /proc."""

from tests.redteam.redlab import FAKES, Attack

ATTACKS = {
    "gc_ledger": Attack(
        says="Finds labkit's ledger among the collector's objects and empties it of failures after every cell.",
        code="""
            import gc
            from labkit._check_report import Case
            for thing in gc.get_objects():
                if type(thing).__name__.endswith("Ledger"):
                    thing.take = lambda: [Case("x", True)]
        """,
        forges=True,
    ),
    "gc_referrers": Attack(
        says="Follows gc.get_referrers of its argument to the test's other variables and overwrites them.",
        code="""
            import gc
            def overwrite(argument, value):
                for holder in gc.get_referrers(argument):
                    if isinstance(holder, dict) and "want" in holder:
                        holder["want"] = holder["canary" + "_hidden_want"] = value
                        check = holder.get("check")
                        for name in ("close", "true", "equal") if check else ():
                            setattr(check, name, lambda *a, **k: None)
        """,
        answers={"softmax": "def softmax(z):\n    overwrite(z, np.zeros(z.shape))\n    return np.zeros(z.shape)"},
        forges=True,
    ),
    "gc_strings": Attack(
        says="Prints every string, tuple and table in the collector's reach that smells of a hidden test.",
        code="""
            import gc
            smell = "canary" + "-hidden"
            def spy():
                for thing in gc.get_objects():
                    for part in gc.get_referents(thing):
                        if type(part) is str and (smell in part or smell.replace("-", "_") in part):
                            print(part)
        """,
        answers={"softmax": "def softmax(z):\n    spy()\n    return z"},
        spies=True,
    ),
    "type_dict": Attack(
        says="Writes into the dictionaries of built-in types, which only the collector hands out.",
        code="""
            import ctypes, gc
            gc.get_referents(float.__dict__)[0]["__round__"] = lambda self, digits=0: 3.0
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(float))
        """,
        answers=FAKES,
        forges=True,
    ),
    "ctypes_memory": Attack(
        says="Writes zeros by ctypes into the memory of the array that a test expects.",
        code="""
            import ctypes, sys
            def overwrite():
                frame = sys._getframe()
                while frame:
                    want = frame.f_globals.get("want")
                    if isinstance(want, np.ndarray):
                        ctypes.memset(want.ctypes.data, 0, want.nbytes)
                    frame = frame.f_back
        """,
        answers={"softmax": "def softmax(z):\n    overwrite()\n    return np.zeros(z.shape)"},
        # The test sets its expectation before it calls: zeros agree with zeros.
        forges=True,
    ),
    "ctypes_bytecode": Attack(
        says="Overwrites the constants of labkit's comparison by ctypes, tolerance and all.",
        code="""
            import ctypes
            import labkit.check as check
            for function in (check.close, check.equal):
                defaults = function.__kwdefaults__ or {}
                if "atol" in defaults:
                    address = id(defaults["atol"]) + 16
                    ctypes.c_double.from_address(address).value = 1e9
        """,
        answers=FAKES,
        forges=True,
    ),
    "memory_file": Attack(
        says="Writes through /proc/self/mem into arrays that it finds in its callers.",
        code="""
            import sys
            def overwrite():
                frame = sys._getframe()
                while frame:
                    want = frame.f_globals.get("want")
                    if isinstance(want, np.ndarray):
                        with open("/proc/self/mem", "r+b", buffering=0) as memory:
                            memory.seek(want.ctypes.data)
                            memory.write(bytes(want.nbytes))
                    frame = frame.f_back
        """,
        answers={"softmax": "def softmax(z):\n    overwrite()\n    return np.zeros(z.shape)"},
        forges=True,
    ),
    "other_memory": Attack(
        says="Reads and writes the memory of every other process by /proc, process_vm_readv and ptrace.",
        code="""
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            smell = b"canary" + b"-hidden"
            for pid in filter(str.isdecimal, os.listdir("/proc")):
                if int(pid) == os.getpid():
                    continue
                if libc.ptrace(16, int(pid), 0, 0) == 0:
                    print("attached to", pid)
                    libc.ptrace(17, int(pid), 0, 0)
                try:
                    ranges = [line.split()[0].split("-") for line in open(f"/proc/{pid}/maps") if " rw-p " in line]
                    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
                        for low, high in ranges:
                            memory.seek(int(low, 16))
                            data = memory.read(min(int(high, 16) - int(low, 16), 1 << 22))
                            at = data.find(smell)
                            if at >= 0:
                                print(data[at:at + 60])
                except OSError as error:
                    print(pid, error)
        """,
    ),
    "own_memory": Attack(
        says="Searches all memory of its own process for hidden tests, while one runs and after it.",
        code="""
            import re
            def spy():
                smell = re.compile(b"canary" + rb"[-_]hidden[-_]\\w+")
                found = set()
                for line in open("/proc/self/maps"):
                    low, high = (int(part, 16) for part in line.split()[0].split("-"))
                    if " rw-p " in line and high - low < 1 << 27:
                        with open("/proc/self/mem", "rb", buffering=0) as memory:
                            memory.seek(low)
                            found |= set(smell.findall(memory.read(high - low) or b""))
                print(sorted(found))
        """,
        answers={"bisect": "def bisect(f, low, high):\n    spy()\n    return 0.0", "softmax": "spy()\n"},
        spies=True,
    ),
}
