"""The edges: HTTP, command line, CSV and Slack."""
