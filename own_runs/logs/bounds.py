"""How much of a stranger's file is read, in bytes, lines, values and points: whatever it holds, reading it ends soon."""

MOST_TEXT_BYTES = 64 * 2**20
MOST_UNPACKED_BYTES = 4 * 2**20
"""Of text in gzip, of which few bytes may hold much."""
MOST_EVENT_BYTES = 2**30
MOST_RECORD_BYTES = 64 * 2**20
"""Of an event file."""
LARGEST_SCALARS_BYTES = 2**16
"""Records beyond have pictures, histograms or graphs."""
MOST_LINES = 1_000_000
LONGEST_LINE = 8_000
"""The signs of a line of text that are looked at; lines of CSV and JSON are whole."""
MOST_POINTS = 200_000
MOST_VALUES = 50_000
"""Kept of an event file."""
MOST_METRICS = 2_000
MOST_CLOCKS = 40
"""Names of times."""
LONGEST_NAME = 100
"""Of a metric."""
MOST_EPOCHS = 1e6
MOST_STEPS = 1e12
MOST_SECONDS = 3600.0 * 24 * 366
