"""What ranks on one machine and ranks on several have in common: their environment, their messages, their end."""
