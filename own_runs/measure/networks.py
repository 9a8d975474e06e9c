"""The network to measure: torchvision's or timm's of a name, or one of the user's own."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import Any

import torch

from own_runs.measure.devices import CannotMeasure

OTHER_BUILD = (
    "torchvision was built for another PyTorch than {}: {}. Install both from one place, without CUDA pip install "
    "--force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/cpu"
)


def build(names: Iterable[str], module: str | None = None) -> Any:
    """A new network: what `module`, `package.module:factory`, returns, else torchvision's or timm's of the first name that they
    know. Raises CannotMeasure."""
    return _own(module) if module else _published(tuple(names))


def _own(module: str) -> Any:
    path, colon, name = module.partition(":")
    if not (path and colon and name):
        raise CannotMeasure(f"--module must be package.module:factory, such as mynets.vision:small; got {module}")
    sys.path.insert(0, "")  # as `python -m` finds modules in the current folder
    try:
        factory = getattr(importlib.import_module(path), name)
    except ImportError as error:
        raise CannotMeasure(f"{path} cannot be imported: {error}") from error
    except AttributeError:
        raise CannotMeasure(f"{path} has no {name}") from None
    finally:
        sys.path.remove("")
    network = factory()
    if not callable(getattr(network, "parameters", None)):
        raise CannotMeasure(f"{module} must return a torch.nn.Module, not {type(network).__name__}")
    return network


def _published(names: tuple[str, ...]) -> Any:
    missing = []
    for library, make in (("torchvision", _of_torchvision), ("timm", _of_timm)):
        try:
            for name in names:
                network = make(name)
                if network is not None:
                    return network
        except ImportError as error:
            missing.append(f"{library} cannot be imported: {error}")
        except RuntimeError as error:
            raise CannotMeasure(OTHER_BUILD.format(torch.__version__, error)) from error
    reason = "; ".join(missing) or "neither torchvision nor timm has it"
    advice = "--module package.module:factory measures one of your own"
    raise CannotMeasure(f"no network {names[0]} to measure: {reason}. {advice}")


def _of_torchvision(name: str) -> Any:
    from torchvision import models

    return models.get_model(name) if name in models.list_models() else None


def _of_timm(name: str) -> Any:
    import timm

    return timm.create_model(name) if timm.is_model(name) else None
