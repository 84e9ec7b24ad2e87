"""Forging the grade in the kernel: IPython's hooks, the kernel's handlers, the messages it sends."""

from tests.redteam.redlab import FAKES, Attack

_FORGED = """
from labkit._check_report import Case, Score
forged = Score(3, (Case("forged", True),))
ip = get_ipython()
"""
_MIME = "application/vnd.labkit.check+json"
_BUNDLE = f"""
case = dict(title="x", passed=True, message="", hint="", hidden=False, weight=1.0, error="")
bundle = {{"text/plain": "3.0", "{_MIME}": dict(protocol=1, points=3.0, max_points=3.0, cases=[case])}}
ip = get_ipython()
kernel = ip.kernel
"""

ATTACKS = {
    "run_code": Attack(
        says="Replaces the shell's run_code by one that shows a forged score for every cell.",
        code=_FORGED
        + """
async def run_code(code, result=None, *, async_=False):
    ip.displayhook(forged)
    return False
ip.run_code = run_code
""",
        forges=True,
    ),
    "run_ast_nodes": Attack(
        says="Replaces the shell's run_ast_nodes, so that a cell's statements are dropped and a score is shown.",
        code=_FORGED
        + """
async def run_ast_nodes(nodes, *a, **k):
    ip.displayhook(forged)
    return False
ip.run_ast_nodes = run_ast_nodes
""",
        forges=True,
    ),
    "input_transformer": Attack(
        says="An input transformer rewrites each test cell to one that shows a forged score.",
        code="""
def cheat(lines):
    if any("check.score" in line for line in lines):
        return ["from labkit._check_report import Case, Score\\n", "Score(3, (Case('x', True),))\\n"]
    return lines
get_ipython().input_transformers_cleanup.append(cheat)
""",
        forges=True,
    ),
    "input_transformer_post": Attack(
        says="A late input transformer replaces the checks' arguments in the text of the test cell.",
        code="""
import re
def cheat(lines):
    return [re.sub(r"check\\.(close|equal|true|at_least|at_most)\\(", "(lambda *a, **k: 0)(", line) for line in lines]
get_ipython().input_transformers_post.append(cheat)
""",
        answers=FAKES,
        forges=True,
    ),
    "ast_transformer": Attack(
        says="An AST transformer empties the body of every case.",
        code="""
import ast
class Empty(ast.NodeTransformer):
    def visit_With(self, node):
        node.body = [ast.copy_location(ast.Pass(), node)]
        return node
get_ipython().ast_transformers.append(Empty())
""",
        forges=True,
    ),
    "compiler": Attack(
        says="Replaces the shell's compiler by one that compiles another source for test cells.",
        code="""
ip = get_ipython()
parse = ip.compile.ast_parse
def cheat(source, *a, **k):
    if "check.score" in source:
        source = "from labkit._check_report import Case, Score\\nScore(3, (Case('x', True),))"
    return parse(source, *a, **k)
ip.compile.ast_parse = cheat
""",
        forges=True,
    ),
    "pre_run_event": Attack(
        says="Before each cell runs, an event handler puts other expectations into labkit.check.",
        code="""
def cheat(info):
    from labkit import check
    for name in ("close", "equal", "true", "at_least", "at_most", "shape"):
        setattr(check, name, lambda *a, **k: None)
get_ipython().events.register("pre_run_cell", cheat)
""",
        answers=FAKES,
        forges=True,
    ),
    "post_run_event": Attack(
        says="After each cell an event handler clears the output and publishes a forged score in its place.",
        code=_BUNDLE
        + """
def cheat(result):
    from IPython.display import clear_output
    clear_output()
    content = dict(execution_count=ip.execution_count, data=bundle, metadata={})
    kernel.send_response(kernel.iopub_socket, "execute_result", content)
ip.events.register("post_run_cell", cheat)
""",
        forges=True,
    ),
    "display_formatter": Attack(
        says="The display formatter writes a forged report, whatever it is asked to show.",
        code=_BUNDLE + "ip.display_formatter.format = lambda *a, **k: (bundle, {})",
        forges=True,
    ),
    "mimebundle": Attack(
        says="The score's mimebundle is replaced by one that reports passed cases.",
        code=_BUNDLE
        + """
import labkit._check_report
labkit._check_report.Score._repr_mimebundle_ = lambda *a, **k: bundle
labkit._check_report.Score.__repr__ = lambda self: "3.0"
""",
        forges=True,
    ),
    "displayhook": Attack(
        says="The shell's display hook shows a forged score in place of every value.",
        code=_FORGED
        + """
hook = type(ip.displayhook)
show = hook.__call__
hook.__call__ = lambda self, result=None: show(self, forged)
""",
        forges=True,
    ),
    "sys_displayhook": Attack(
        says="sys.displayhook and the display trap's hook are replaced by ones that publish a forged result.",
        code=_BUNDLE
        + """
import sys
def cheat(value):
    content = dict(execution_count=ip.execution_count, data=bundle, metadata={})
    kernel.send_response(kernel.iopub_socket, "execute_result", content)
sys.displayhook = ip.display_trap.hook = cheat
""",
        forges=True,
    ),
    "publishes": Attack(
        says="Publishes forged reports of every kind of output from its own cell and from inside a test.",
        code=_BUNDLE
        + f"""
from IPython.display import display
def cheat():
    display(bundle, raw=True, display_id="x")
    display(bundle, raw=True, update=True, display_id="x")
    for kind in ("execute_result", "display_data", "update_display_data"):
        content = dict(execution_count=1, data=bundle, metadata={{}}, transient=dict(display_id="x"))
        kernel.send_response(kernel.iopub_socket, kind, content)
    print("{_MIME}", bundle)
cheat()
""",
        answers={"windows": "def windows(items, n):\n    cheat()\n    return []"},
    ),
    "do_execute": Attack(
        says="Replaces the kernel's do_execute, so that no later cell runs at all.",
        code=_BUNDLE
        + """
async def do_execute(code, *a, **k):
    content = dict(execution_count=9, data=bundle, metadata={})
    kernel.send_response(kernel.iopub_socket, "execute_result", content)
    return dict(status="ok", execution_count=9, payload=[], user_expressions={})
kernel.do_execute = do_execute
""",
        forges=True,
    ),
    "shell_handler": Attack(
        says="Replaces the kernel's handler of execute requests and answers them itself.",
        code=_BUNDLE
        + """
async def execute(stream, ident, parent):
    kernel.session.send(kernel.iopub_socket, "execute_input", dict(code="", execution_count=9), parent=parent)
    kernel.session.send(kernel.iopub_socket, "execute_result",
                        dict(execution_count=9, data=bundle, metadata={}), parent=parent)
    reply = dict(status="ok", execution_count=9, payload=[], user_expressions={})
    kernel.session.send(stream, "execute_reply", reply, parent, ident=ident)
kernel.shell_handlers["execute_request"] = execute
""",
        forges=True,
    ),
    "session_pack": Attack(
        says="The kernel's session turns every failed case into a passed one while it packs a message.",
        code="""
session = get_ipython().kernel.session
pack = session.pack
def cheat(content):
    if isinstance(content, dict) and "data" in content:
        for key, report in content["data"].items():
            if key.endswith("check+json"):
                for case in report["cases"]:
                    case["passed"] = True
                content["data"]["text/plain"] = "3.0"
    return pack(content)
session.pack = cheat
""",
        forges=True,
    ),
    "custom_exception": Attack(
        says="A custom exception handler of the shell swallows every error and shows a forged score.",
        code=_FORGED
        + """
import labkit.check
ip.set_custom_exc((BaseException,), lambda shell, kind, value, tb, tb_offset=None: shell.displayhook(forged))
del labkit.check.score
""",
        forges=True,
    ),
    "stop_on_error": Attack(
        says="Silences tracebacks and makes every later cell end quietly, as if nothing had been asked.",
        code="""
ip = get_ipython()
ip.showtraceback = ip.showsyntaxerror = lambda *a, **k: None
ip.kernel.do_execute = None
""",
    ),
    "history": Attack(
        says="Rewrites In, Out and the history, and gives the next cells forged execution counts.",
        code="""
ip = get_ipython()
In[:] = ["check.score(3)"] * 50
Out.update({n: 3.0 for n in range(50)})
ip.execution_count = 10**6
ip.user_ns["_oh"] = ip.user_ns["_"] = 3.0
""",
    ),
}
