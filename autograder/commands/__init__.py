"""The verbs of the command line: each a file with its options, its work, and what it prints."""
