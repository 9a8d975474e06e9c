"""The errors of a question, each with its HTTP status and the parameters at fault."""

from __future__ import annotations

Errors = dict[str, list[str]]


class Refused(Exception):
    """A request that gets an error status; `errors` names the parameters at fault. In a traceback every kind has the name that
    people catch it by."""

    __module__ = "costcalc"

    def __init_subclass__(cls) -> None:
        cls.__module__, cls.__qualname__ = "costcalc", "Refused"

    def __init__(self, status: int, detail: str, errors: Errors | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = errors or {}

    @property
    def by_field(self) -> Errors:
        """The errors for a form, by its field; without a parameter at fault the whole message."""
        return self.errors or {"": [self.detail]}

    @property
    def lines(self) -> list[str]:
        """The errors as lines that begin with their parameter; without one at fault the whole message."""
        return _lines(self.errors) or [self.detail]


class BadParameters(Refused):
    """400: parameters that are missing, misspelt or out of range, each with what to type instead."""

    def __init__(self, errors: Errors) -> None:
        super().__init__(400, "; ".join(_lines(errors)), errors)


class NotFound(Refused):
    """404: a model or path we do not have; `parameter` names the one that asked for it."""

    def __init__(self, detail: str, parameter: str | None = None) -> None:
        super().__init__(404, detail, {parameter: [detail]} if parameter else None)


class NotReady(Refused):
    """503: no price snapshot is loaded yet."""

    def __init__(self, detail: str) -> None:
        super().__init__(503, detail)


def _lines(errors: Errors) -> list[str]:
    return [f"{name}: {message}" for name, messages in errors.items() for message in messages]
