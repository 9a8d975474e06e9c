"""Epochs to a target accuracy: measured curves, which recipes reach it, and the chance that another run would."""
