"""How fast language models train, in tokens, and the memory that they need."""
