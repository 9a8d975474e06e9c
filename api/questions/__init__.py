"""From text to a checked question: parameters, names, suggestions, links, errors."""
