"""From an instructor's source to the students' notebook: read, checked, cleared of what is theirs to find."""
