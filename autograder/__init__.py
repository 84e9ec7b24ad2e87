"""The instructors' package: release labs, run submissions in a sandbox, score them, store and report the grades."""
