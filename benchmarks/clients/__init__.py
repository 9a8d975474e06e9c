"""Clients that ask a running service a mix of questions."""
