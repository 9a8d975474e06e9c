"""What can be typed after `costcalc`. Each command imports what it does only when it runs."""
