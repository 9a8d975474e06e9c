"""Tasks of published benchmarks beside ImageNet: what was trained, how far, on what and how fast, and what follows from it."""
