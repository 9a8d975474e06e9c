"""The answers as tools for an assistant, over the Model Context Protocol."""
