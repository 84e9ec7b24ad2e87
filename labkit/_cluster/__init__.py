"""One script in ranks on several machines, which are reached by ssh."""
