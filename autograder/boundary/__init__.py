"""The boundary between test cells and the code that they test: two processes, and only data between them.

The *student's process* runs the student's code and, while a test cell runs, serves requests (`agent`). The *trusted
process* runs the test cells (`cells`), in which each of the student's objects is a proxy (`proxy`). Both speak the
format of `wire` over one socket, which neither the grader nor anybody else looks into.
"""

__all__ = ["DESCRIPTOR"]

DESCRIPTOR = "AUTOGRADER_TESTS"
"""The environment variable of the student's process that holds the number of its socket."""
