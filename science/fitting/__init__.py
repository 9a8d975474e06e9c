"""Learns the fitted parameters of the throughput models (`make fit`)."""
