"""Commands about trainings that run."""
