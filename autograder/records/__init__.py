"""What was graded, kept so that a later change is found."""
