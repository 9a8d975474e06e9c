"""Prices in memory: columns of offers, and which of them are current at a date."""
