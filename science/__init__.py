"""Offline: learns the fitted parameters and scores the estimates; nothing that serves imports it, and no wheel holds it."""
