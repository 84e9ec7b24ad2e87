"""How often code that forges gets past the watch on tests in the student's kernel: python -m benchmarks.forging."""
