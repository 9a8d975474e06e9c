"""Speeds of other networks and other codes than MLPerf's, held out and predicted."""
