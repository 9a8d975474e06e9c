"""What the machine around the accelerators allows: its processors, its disks and its network."""
