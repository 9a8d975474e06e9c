"""Clouds of one API or page each: one file each."""
