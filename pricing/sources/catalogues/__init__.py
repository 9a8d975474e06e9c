"""Price collections that other people publish: second-hand rates, no credentials."""
