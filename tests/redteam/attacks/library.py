"""Forging the grade in what a test relies on: labkit, NumPy, builtins, the import system."""

from tests.redteam.redlab import FAKES, Attack

_NO_CHECKS = """
    import contextlib
    @contextlib.contextmanager
    def case(title, **more):
        with contextlib.suppress(BaseException):
            yield
    def nothing(*a, **k):
        pass
"""
_OWN_CHECK = """
from contextlib import contextmanager
class Score(float):
    def _repr_mimebundle_(self, **more):
        case = dict(title="x", passed=True, message="", hint="", hidden=False, weight=1.0, error="")
        return {"text/plain": "3.0", "application/vnd.labkit.check+json": {"cases": [case]}}
@contextmanager
def case(*a, **k):
    try:
        yield
    except BaseException:
        pass
hidden_case = case
def score(points):
    return Score(points)
def __getattr__(name):
    return lambda *a, **k: None
"""

ATTACKS = {
    "expectations": Attack(
        says="Replaces every expectation of labkit.check by a function that expects nothing.",
        code="""
            from labkit import check
            for name in ("close", "equal", "true", "at_least", "at_most", "shape", "raises"):
                setattr(check, name, lambda *a, **k: None)
        """,
        answers=FAKES,
        forges=True,
    ),
    "cases": Attack(
        says="Replaces labkit's cases by ones that swallow whatever happens in them, and record a success.",
        code=_NO_CHECKS
        + """
    import labkit.check as check
    from labkit._check_report import Case
    @contextlib.contextmanager
    def forged(title, **more):
        try:
            yield
        except BaseException:
            pass
        check._ledger.start()
        check._ledger.cases.append(Case(title, True))
    check._ledger.case = forged
""",
        forges=True,
    ),
    "ledger": Attack(
        says="The ledger of cases hands out passed cases, whatever was recorded.",
        code="""
            import labkit.check as check
            from labkit._check_report import Case
            check._ledger.take = lambda: [Case("x", True)]
        """,
        forges=True,
    ),
    "case_record": Attack(
        says="A case is recorded as passed because its class is replaced.",
        code="""
            import labkit._check_report as report
            Case = report.Case
            report.Case = lambda title, *a, **k: Case(title, True)
        """,
        forges=True,
    ),
    "score_class": Attack(
        says="The score is full because its class says so.",
        code="""
            from labkit._check_report import Score
            Score.full = True
            Score.to_dict = lambda self: {"cases": [dict(title="x", passed=True, message="", hint="",
                                                         hidden=False, weight=1.0, error="")]}
        """,
        forges=True,
    ),
    "compare_module": Attack(
        says="The private functions that compare values are replaced in every module that holds one.",
        code="""
            import sys
            for module in list(sys.modules.values()):
                for name in ("compare", "same", "expect_shape", "_expect_all", "_bounded"):
                    if getattr(module, "__name__", "").startswith("labkit") and hasattr(module, name):
                        setattr(module, name, lambda *a, **k: None)
            sys.modules["labkit.check"].true = lambda *a, **k: None
        """,
        answers=FAKES,
        forges=True,
    ),
    "code_swapped": Attack(
        says="The functions stay, but their __code__ is swapped for one that does nothing.",
        code="""
            import labkit._assertions as compare, labkit.check as check
            def nothing(*a, **k): pass
            for function in (compare.compare, compare.same, check.true, check.at_least, check.at_most):
                function.__kwdefaults__ = None
                function.__code__ = nothing.__code__
        """,
        answers=FAKES,
        forges=True,
    ),
    "np_abs": Attack(
        says="np.abs returns zeros, so that every difference is small.",
        code="np.abs = lambda x, *a, **k: np.zeros(np.shape(x))",
        answers=FAKES,
        forges=True,
    ),
    "np_allclose": Attack(
        says="np.allclose, np.isclose, np.array_equal and all of np.testing agree to everything.",
        code="""
            for name in ("allclose", "isclose", "array_equal", "array_equiv", "all", "any"):
                setattr(np, name, lambda *a, **k: np.True_)
            for name in dir(np.testing):
                if name.startswith("assert"):
                    setattr(np.testing, name, lambda *a, **k: None)
        """,
        answers=FAKES,
    ),
    "np_asarray": Attack(
        says="np.asarray returns the same array for whatever it is given, so that all things agree.",
        code="""
            import numpy
            same = numpy.ones((1, 1), dtype=bool)
            numpy.asarray = lambda *a, **k: same
        """,
        answers=FAKES,
        forges=True,
    ),
    "np_module": Attack(
        says="Puts an object that answers to every name in the place of numpy in sys.modules and in labkit.",
        code="""
            import sys
            from unittest.mock import MagicMock
            import labkit._assertions, labkit._values, labkit.check
            fake = MagicMock()
            sys.modules["numpy"] = labkit._assertions.np = labkit._values.np = labkit.check.np = fake
        """,
        answers=FAKES,
    ),
    "builtins": Attack(
        says="builtins.all says that all cases have passed.",
        code="import builtins\nbuiltins.all = lambda items: True",
        answers=FAKES,
        forges=True,
    ),
    "builtins_lie": Attack(
        says="abs, round and sorted are replaced by liars.",
        code="""
            import builtins
            builtins.abs = lambda x: 0.0
            builtins.round = lambda *a: 3.0
            builtins.sorted = lambda items, **k: list(items)
        """,
        answers=FAKES,
        forges=True,
    ),
    "import_hook": Attack(
        says="builtins.__import__ is hooked, so that a test that imports labkit gets another one.",
        code="""
            import builtins
            real = builtins.__import__
            def cheat(name, *a, **k):
                module = real(name, *a, **k)
                if name == "labkit" and a and a[0].get("__name__") == "__main__":
                    from types import SimpleNamespace
                    import labkit._check_report as report
                    forged = report.Score(3, (report.Case("x", True),))
                    class Check:
                        def __getattr__(self, name):
                            from contextlib import suppress
                            if name.endswith("case"):
                                return lambda *a, **k: suppress(BaseException)
                            return lambda *a, **k: forged
                    return SimpleNamespace(check=Check())
                return module
            builtins.__import__ = cheat
        """,
        forges=True,
    ),
    "sys_modules": Attack(
        says="Puts a module of its own into sys.modules in the place of labkit.check.",
        code=f"""
import sys, types, labkit
own = types.ModuleType("labkit.check")
exec({_OWN_CHECK!r}, own.__dict__)
sys.modules["labkit.check"] = labkit.check = own
""",
        forges=True,
    ),
    "meta_path": Attack(
        says="Unloads labkit and installs a finder that imports another one in its place.",
        code=f"""
import importlib.abc, importlib.machinery, sys
class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("labkit"):
            return importlib.machinery.ModuleSpec(name, self, is_package=name == "labkit")
    def exec_module(self, module):
        if module.__name__ == "labkit.check":
            exec({_OWN_CHECK!r}, module.__dict__)
for name in [name for name in sys.modules if name.startswith("labkit")]:
    del sys.modules[name]
sys.meta_path.insert(0, Finder())
""",
        forges=True,
    ),
    "labkit_on_disk": Attack(
        says="Unloads labkit and writes a package of that name into the working directory, which comes first.",
        code=f"""
import os, sys
os.makedirs("labkit")
open("labkit/__init__.py", "w").close()
open("labkit/check.py", "w").write({_OWN_CHECK!r})
for name in [name for name in sys.modules if name.startswith("labkit")]:
    del sys.modules[name]
sys.path.insert(0, os.getcwd())
""",
        forges=True,
    ),
    "context_manager": Attack(
        says="contextlib's __exit__ tells each case that its body ended well.",
        code="""
            import contextlib
            def leave(self, kind, value, trace):
                try:
                    next(self.gen)
                except StopIteration:
                    pass
                return True
            contextlib._GeneratorContextManager.__exit__ = leave
        """,
        forges=True,
    ),
    "asdict": Attack(
        says="The function that makes a report from cases reports them as passed.",
        code="""
            import labkit._check_report as report
            asdict = report.asdict
            report.asdict = lambda case: asdict(case) | {"passed": True}
            report.Score.__repr__ = lambda self: "3.0"
        """,
        forges=True,
    ),
    "case_init": Attack(
        says="A case that is made is turned into a passed one at once.",
        code="""
            import labkit.check
            init = labkit._check_report.Case.__init__
            def passed(self, *a, **k):
                init(self, *a, **k)
                object.__setattr__(self, "passed", True)
            labkit._check_report.Case.__init__ = passed
        """,
        answers=FAKES,
        forges=True,
    ),
    "start_up_files": Attack(
        says="Leaves start-up files for the next Python: sitecustomize, usercustomize, .pth, IPython's.",
        code="""
            import os, pathlib, site
            evil = "import labkit.check as c\\nc.true = c.equal = c.close = lambda *a, **k: None\\n"
            home = pathlib.Path(os.environ["HOME"])
            places = [pathlib.Path.cwd(), home, pathlib.Path("/tmp"), pathlib.Path(site.getusersitepackages()),
                      home / ".ipython/profile_default/startup", home / ".config/matplotlib"]
            for place in places:
                try:
                    place.mkdir(parents=True, exist_ok=True)
                    for name in ("sitecustomize.py", "usercustomize.py", "00-evil.py", "numpy.py", "json.py"):
                        (place / name).write_text(evil)
                    (place / "evil.pth").write_text("import sitecustomize\\n")
                    (place / "matplotlibrc").write_text("backend: module://sitecustomize\\n")
                except OSError:
                    pass
            os.environ["PYTHONSTARTUP"] = os.environ["PYTHONPATH"] = str(home)
        """,
        answers=FAKES,
    ),
}
