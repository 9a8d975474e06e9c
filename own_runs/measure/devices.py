"""What this machine computes on: a GPU by CUDA, ROCm or Metal, a TPU chip, or its processor."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from msgspec import Struct

from own_runs import this_machine
from pricing.packaged.names import UnknownName, accelerator

GIB = 2**30
KINDS = ("cuda", "mps", "xla", "cpu")
"""By PyTorch's names; ROCm calls itself cuda (pytorch.org/docs/stable/notes/hip.html)."""
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class CannotMeasure(Exception):
    """Nothing can be measured; the message says what to do."""


class Device(Struct, frozen=True):
    """One accelerator, or the processor of a machine, `name` as answers call it. `synchronize` waits for all work that was given
    to it."""

    kind: str
    name: str
    memory_gib: float | None
    precisions: tuple[str, ...]
    synchronize: Callable[[], None]

    @property
    def torch_device(self) -> Any:
        if self.kind == "xla":
            import torch_xla

            return torch_xla.device()
        return torch.device(self.kind)


def find_device(kind: str | None = None, name: str | None = None) -> Device:
    """The device of this kind, else of the fastest kind present, under `name` if that is given. Raises CannotMeasure."""
    if kind is not None and kind not in KINDS:
        raise CannotMeasure(f"there is no device {kind}: write {', '.join(KINDS)}")
    present = [each for each in KINDS if _is_present(each)]
    if kind is not None and kind not in present:
        raise CannotMeasure(f"PyTorch {torch.__version__} finds no {kind} here: it finds {', '.join(present)}")
    return DEVICES[kind or present[0]](name)


def _is_present(kind: str) -> bool:
    if kind == "cuda":
        return bool(torch.cuda.is_available())
    if kind == "mps":
        return bool(torch.backends.mps.is_available())
    if kind == "xla":
        try:
            import torch_xla.runtime
        except ImportError:
            return False
        return bool(torch_xla.runtime.device_type() == "TPU")
    return True


def _gpu(name: str | None) -> Device:
    properties = torch.cuda.get_device_properties(0)
    memory = properties.total_memory / GIB
    has_bf16 = torch.version.hip is not None or torch.cuda.get_device_capability(0) >= (8, 0)
    precisions = ("bf16", "fp16", "fp32") if has_bf16 else ("fp16", "fp32")
    called = name or properties.name
    if name is None:
        with suppress(UnknownName):
            called = accelerator("*", called, memory) or called
    return Device("cuda", called, memory, precisions, torch.cuda.synchronize)


def _apple_gpu(name: str | None) -> Device:
    memory = torch.mps.recommended_max_memory() / GIB
    called = name or this_machine.brand().removeprefix("Apple ")
    return Device("mps", called, memory, ("fp16", "bf16", "fp32"), torch.mps.synchronize)


def _tpu(name: str | None) -> Device:
    import torch_xla
    import torch_xla.core.xla_model as xla

    if name is None:
        raise CannotMeasure("PyTorch/XLA does not say which TPU this is: name it with --accelerator, such as 'TPU v5e'")

    def synchronize() -> None:
        torch_xla.sync()
        xla.wait_device_ops()

    memory = xla.get_memory_info(torch_xla.device())["bytes_limit"] / GIB
    return Device("xla", name, memory, ("bf16", "fp32"), synchronize)


DEVICES: dict[str, Callable[[str | None], Device]] = {
    "cuda": _gpu,
    "mps": _apple_gpu,
    "xla": _tpu,
    "cpu": lambda name: Device(
        "cpu", name or this_machine.name(), this_machine.memory_gib(), ("fp32", "bf16"), lambda: None
    ),
}
