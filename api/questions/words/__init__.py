"""Questions in people's words: one parser for the terminal, HTTP, the page and Slack."""
