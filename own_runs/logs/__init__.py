"""Reads the training logs that other tools write."""
