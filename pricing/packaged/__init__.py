"""The tables that ship with the code: dated rates, and facts about providers, machines and names."""
