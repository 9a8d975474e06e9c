"""What it costs, and how long it takes, to train a model to an accuracy: the engine."""
