"""Rates that somebody else's costcalc read and published."""
