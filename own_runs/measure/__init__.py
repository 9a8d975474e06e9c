"""Measures on this machine how fast networks train; the only room that imports PyTorch."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Threads that wait for one which other programs keep from the processor sleep instead of counting as work. GCC's OpenMP, with
which PyTorch is built, reads it when PyTorch is loaded: gcc.gnu.org/onlinedocs/libgomp/OMP_005fWAIT_005fPOLICY.html"""
