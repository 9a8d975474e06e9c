"""The Slack slash command and price alerts."""
