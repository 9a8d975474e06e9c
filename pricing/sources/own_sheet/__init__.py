"""Finance's own rates, from a CSV file or its web address."""
