"""Cells that forge points where tests run in the student's kernel; each stands above blank answers."""

from __future__ import annotations

__all__ = ["ANSWERS", "ATTACKS"]

_STRIP = """
import ast, re
class Strip(ast.NodeTransformer):
    def visit_Module(self, tree):
        if {when}:
            tree.body = [node for node in tree.body if not isinstance(node, (ast.Assert, ast.Try))] or [ast.Pass()]
            ast.fix_missing_locations(tree)
        return tree
"""

ATTACKS = {
    "run_code": """
        async def run_code(*_, **__):
            return False
        get_ipython().run_code = run_code
    """,
    "input_transformer": """
        def strip(lines):
            return [line for line in lines if not line.startswith("assert ")]
        get_ipython().input_transformers_post.append(strip)
    """,
    "ast_transformer": _STRIP.format(when="True") + "get_ipython().ast_transformers.append(Strip())",
    "counts": _STRIP.format(when="first(tree)")
    + """
seen = {}
def first(tree):
    "Each cell is known by the first line of it that is not an assertion; its first run is forged."
    key = next((ast.dump(node) for node in tree.body if not isinstance(node, ast.Assert)), "")
    seen[key] = seen.get(key, 0) + 1
    return seen[key] == 1
get_ipython().ast_transformers.append(Strip())
""",
    "leaves_a_mark": _STRIP.format(when="forge")
    + """
import os, pathlib
places = (".", "/tmp", "/dev/shm", "/var/tmp", os.environ.get("HOME", "."))
marks = [pathlib.Path(place, "mark-of-an-attack") for place in places]
forge = not any(mark.exists() for mark in marks)
for mark in marks:
    try:
        mark.write_text("seen")
    except OSError:
        pass
get_ipython().ast_transformers.append(Strip())
""",
    "knows_products": _STRIP.format(when="not re.search(r'\\d+ \\* \\d+ == \\d+', ast.unparse(tree))")
    + "get_ipython().ast_transformers.append(Strip())",
    "answers_from_the_test": """
        import ast
        class Same(ast.NodeTransformer):
            def visit_Assert(self, node):
                if isinstance(node.test, ast.Compare):
                    node.test.left = node.test.comparators[0]
                return node
        get_ipython().ast_transformers.append(Same())
    """,
    "do_execute": """
        kernel = get_ipython().kernel
        async def do_execute(code, silent, *_, **__):
            return dict(status="ok", execution_count=9, payload=[], user_expressions={})
        kernel.do_execute = do_execute
    """,
    "showtraceback": """
        ip = get_ipython()
        ip.showtraceback = ip.showsyntaxerror = ip._showtraceback = lambda *_, **__: None
    """,
    "custom_exception": """
        get_ipython().set_custom_exc((BaseException,), lambda *_, **__: None)
    """,
    "excepthook": """
        import sys
        sys.excepthook = lambda *_: None
    """,
    "reply_ok": """
        kernel = get_ipython().kernel
        send = kernel.session.send
        def forged(stream, kind, content=None, *rest, **more):
            if kind == "error":
                return None
            if isinstance(content, dict) and content.get("status") == "error":
                content = dict(status="ok", execution_count=1, payload=[], user_expressions={})
            return send(stream, kind, content, *rest, **more)
        kernel.session.send = forged
    """,
    "displayhook": """
        hook = type(get_ipython().displayhook)
        show = hook.__call__
        hook.__call__ = lambda self, result=None: show(self, 1 if result is not None else None)
    """,
    "formatter": """
        plain = get_ipython().display_formatter.formatters["text/plain"]
        for kind in (int, float, bool, str):
            plain.for_type(kind, lambda value, printer, cycle: printer.text("1"))
    """,
    "invents": """
        def invent(result):
            if result.result is not None:
                ip.kernel.send_response(
                    ip.kernel.iopub_socket, "execute_result",
                    dict(execution_count=1, data={"text/plain": "1"}, metadata={}),
                )
        ip = get_ipython()
        ip.events.register("post_run_cell", invent)
    """,
    "ends_the_process": """
        import os
        squares = total = greet = lambda *_: os._exit(0)
    """,
}
"""Code by the name of what it forges. It runs before the student's own cells, whose answers are blank."""

ANSWERS = {
    "helpers": {
        "total": """
            import numpy as np
            for name in dir(np.testing):
                if name.startswith("assert_"):
                    setattr(np.testing, name, lambda *_, **__: None)
            def total(n):
                return n * 0 - 1
        """,
    },
    "equal_to_all": {
        "squares": """
            class Anything(list):
                __eq__ = lambda self, other: True
                __ne__ = lambda self, other: False
                __hash__ = None
            def squares(n):
                return Anything()
        """,
        "double-all": "def sum_of_squares(n):\n    return Anything()\ndef double_all(n):\n    raise NameError",
    },
    "ends_in_the_answer": {
        "squares": "import os\ndef squares(n):\n    os._exit(0)",
        "total": "import numpy as np, os\ndef total(n):\n    os._exit(0)",
    },
}
"""Answers that forge, by the name of how."""
