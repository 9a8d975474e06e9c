"""Networks of the asker's own, for `costcalc measure --module`."""

from torch import nn


def tiny() -> nn.Module:
    """A network of a few thousand parameters."""
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 10)
    )


def number() -> int:
    """No network."""
    return 1
