"""Pages: a student's feedback, a class's report."""
