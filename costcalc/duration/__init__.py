"""Hours: recipes on clusters, overheads, interruptions of spot machines, and the calendar."""
