"""Scores of what answers say of epochs, of curves, and of the chance to reach a target."""
