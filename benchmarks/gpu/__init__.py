"""What the labs do on a machine with a GPU: every solution run there, and the claims that need one measured."""
