"""What a student handed in: read, repaired, and made harmless to look at."""
