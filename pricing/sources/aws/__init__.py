"""Amazon Web Services: on demand, reserved, spot, Savings Plans and capacity blocks."""
