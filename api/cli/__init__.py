"""The costcalc command."""
