"""The server and what meets a request before Flask does: front, limits, access log."""
