"""What it costs, and how long it takes, to train a model to an accuracy: the engine."""


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(name)
    from importlib.metadata import version  # 20 ms that a question from a terminal need not wait for

    return version("costcalc")
