"""The server and what meets a request before Flask does: front, limits, memory of answers, compression, access log."""
