"""Microsoft Azure: the public retail price API."""
