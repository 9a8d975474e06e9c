"""Money: bills, exact and as arrays, the order of candidates, storage and egress, commitments."""
