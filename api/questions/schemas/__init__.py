"""The parameters of every path."""
