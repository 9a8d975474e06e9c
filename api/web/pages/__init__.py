"""What people look at: the first screen, one estimate explained, lists and the interface, rendered here and useful without
scripts."""
