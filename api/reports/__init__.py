"""What each path answers, as typed documents."""
