"""Measures on this machine how fast networks train; the only room that imports PyTorch."""
