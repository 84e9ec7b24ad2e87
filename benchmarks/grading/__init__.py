"""Benchmarks of the grader: how fast it is beside others, what its walls cost, and a class of a thousand."""
