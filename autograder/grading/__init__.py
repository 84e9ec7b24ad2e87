"""Submissions run, scored and stored: one, many side by side, and where each test runs."""
