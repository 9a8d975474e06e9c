"""What the paths about prices answer: the sheet of current rates, its changes and the history of a machine."""
