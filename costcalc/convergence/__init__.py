"""Epochs to a target accuracy: measured curves, schedules between measured lengths, and the chance of success."""
