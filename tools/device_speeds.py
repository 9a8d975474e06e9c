"""How fast one device trains networks by different codes: `python -m tools.device_speeds FILE --seconds 430`.

Each row of the CSV is one measurement: a network of timm, eager or compiled, in a precision, a layout, with an attention kernel,
in steps of SGD on random images that lie in the device's memory. It measures what matters most first, and stops when its seconds
are over. Compilers work side by side in processes of their own, before anything is timed; each waits until it is told to measure.
`python -m tools.loader_speeds` measures the data pipelines of the same machine.
"""

from __future__ import annotations

import argparse
import csv
import gc
import multiprocessing
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

SECONDS_EACH = 1.0
COMPILE_SECONDS = 150.0
TRIES = 5
LONGEST_SECONDS = 45.0
"""A measurement that takes longer is given up, with its process."""


@dataclass(frozen=True, slots=True)
class Code:
    """What is measured. `tf32` allows it in matrix products too: PyTorch allows it in convolutions by itself."""

    network: str
    batch_size: int
    precision: str = "bf16"
    tf32: str = "convolutions"
    compilation: str = "eager"
    layout: str = "nchw"
    attention: str = ""
    image_size: int = 224


CONVOLUTIONAL = (
    "resnet50",
    "convnext_tiny",
    "efficientnet_b0",
    "resnet152",
    "regnety_016",
    "tf_efficientnetv2_s",
    "mobilenetv3_large_100",
    "resnext50_32x4d",
    "convnext_base",
)
TRANSFORMERS = (
    "vit_base_patch16_224",
    "vit_small_patch16_224",
    "swin_tiny_patch4_window7_224",
    "deit_small_patch16_224",
)
USUAL_BATCH, LARGE_BATCH, SMALL_BATCH = 128, 256, 32
COMPILED = ("resnet50", "vit_base_patch16_224", "convnext_tiny", "swin_tiny_patch4_window7_224")
COMPILED_TOO = ("vit_small_patch16_224", "efficientnet_b0", "regnety_016")


def usual(network: str, batch_size: int = USUAL_BATCH) -> Code:
    """The code that a careful user of eager PyTorch has: bf16, channels last, fused attention."""
    is_transformer = network in TRANSFORMERS
    return Code(
        network, batch_size, layout="nchw" if is_transformer else "nhwc", attention="fused" if is_transformer else ""
    )


def compiled() -> Iterator[Code]:
    """What is compiled beforehand, all at once."""
    for network in COMPILED + COMPILED_TOO:
        yield replace(usual(network), compilation="compiled")
    for network in COMPILED[:2]:
        yield replace(usual(network), compilation="compiled", precision="fp32", tf32="all")
    yield replace(usual("resnet50"), compilation="compiled", layout="nchw")


def eager() -> Iterator[Code]:
    """All else, what matters most first."""
    networks = [each for pair in zip(CONVOLUTIONAL, TRANSFORMERS, strict=False) for each in pair]
    networks += [each for each in CONVOLUTIONAL if each not in networks]
    yield from map(usual, networks)
    for network in networks:
        yield replace(usual(network), precision="fp32", tf32="all")
    for network in TRANSFORMERS:
        yield replace(usual(network), attention="unfused")
    for network in CONVOLUTIONAL:
        yield replace(usual(network), layout="nchw")
    for network in networks:
        yield replace(usual(network), precision="fp32", layout="nchw")
    for network in networks:
        yield usual(network, LARGE_BATCH)
    for network in ("resnet50", "vit_base_patch16_224", "convnext_tiny"):
        yield replace(usual(network), precision="fp16")
        yield replace(usual(network), precision="fp32", tf32="none", layout="nchw")
    for network in ("resnet50", "vit_base_patch16_224", "efficientnet_b0"):
        yield usual(network, SMALL_BATCH)


def in_a_process(pipe: Connection, device: str) -> None:
    """Measures what it is sent, until it is sent nothing; a code is made ready first where that is asked for."""
    ready: dict[Code, Any] = {}
    while (message := pipe.recv()) is not None:
        todo, code = message
        try:
            if todo == "compile":
                ready[code] = _compiled_network(code, device)
                pipe.send({})
            else:
                pipe.send(_measured(code, device, ready.get(code)))
        except (RuntimeError, ValueError, TypeError, ImportError, OSError) as error:  # the others go on
            traceback.print_exc()
            pipe.send({"error": f"{type(error).__name__}: {error}"[:200]})


def _compiled_network(code: Code, device: str) -> Any:
    import torch

    from own_runs.measure.training import training_step

    network = _network(code, device)
    step = training_step(_job(code, network), _device(device), code.batch_size)
    for attempt in range(TRIES):  # others take memory at the same time
        try:
            step()
            step()
            break
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            time.sleep(2 + attempt)
    del step
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
    return network


def _measured(code: Code, device: str, network: Any) -> dict[str, Any]:
    import torch

    from own_runs.measure.training import measured

    start = time.perf_counter()
    network = network or _network(code, device)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    rate = measured(_job(code, network), _device(device), code.batch_size)
    peak = torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else 0.0
    del network
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
    if rate is None:
        return {"error": "out of memory", "took_seconds": round(time.perf_counter() - start, 1)}
    return {
        "images_per_second": round(rate.images_per_second, 1),
        "spread": round(rate.spread, 4),
        "memory_gib": round(peak, 2),
        "took_seconds": round(time.perf_counter() - start, 1),
    }


def _job(code: Code, network: Any) -> Any:
    from own_runs.measure.training import Job

    return Job(lambda: network, code.image_size, code.precision, SECONDS_EACH)


def _device(kind: str) -> Any:
    from own_runs.measure.devices import find_device

    return find_device(kind)


def _network(code: Code, device: str) -> Any:
    import timm
    import torch

    torch.backends.cudnn.benchmark = True  # as the scripts of timm and torchvision have it
    torch.backends.cudnn.allow_tf32 = code.tf32 != "none"
    torch.backends.cuda.matmul.allow_tf32 = code.tf32 == "all"
    timm.layers.set_fused_attn(code.attention != "unfused")
    with torch.device(device):
        network = timm.create_model(code.network).train()
    if code.layout == "nhwc":
        network = network.to(memory_format=torch.channels_last)
    return _compiling(network) if code.compilation == "compiled" else network


def _compiling(network: Any) -> Any:
    """Compiles only what trains, for batches of one size."""
    import torch

    class Compiling(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network
            self.compiled = [torch.compile(network, dynamic=False)]

        def forward(self, images: Any) -> Any:
            return (self.compiled[0] if torch.is_grad_enabled() else self.network)(images)

    return Compiling()


class Worker:
    """A process that measures."""

    def __init__(self, device: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=in_a_process, args=(theirs, device), daemon=False)
        self.process.start()
        theirs.close()

    def send(self, todo: str, code: Code) -> None:
        """What to do next."""
        self.pipe.send((todo, code))

    def answer(self, seconds: float) -> dict[str, Any] | None:
        """What came of it; None where the process died or took too long."""
        try:
            return self.pipe.recv() if self.pipe.poll(max(seconds, 0.1)) else None
        except (EOFError, ConnectionError):
            return None

    def end(self) -> None:
        """Ends the process, with what it compiles."""
        try:
            self.pipe.send(None)
            self.process.join(2)
        except (BrokenPipeError, ConnectionError):
            pass
        self.process.kill()


class Table:
    """The CSV, written row by row."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w", newline="")
        measured = ("images_per_second", "spread", "memory_gib", "took_seconds", "error")
        self.writer = csv.DictWriter(self.file, [*asdict(Code("", 0)), *measured, "at_second"])
        self.writer.writeheader()
        self.start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since it was begun."""
        return time.perf_counter() - self.start

    def add(self, code: Code, found: dict[str, Any]) -> None:
        """A row, which is on disk afterwards."""
        row = {**asdict(code), **found, "at_second": round(self.seconds, 1)}
        self.writer.writerow(row)
        self.file.flush()
        print(*(f"{value}" for value in row.values() if value != ""), flush=True)


def measure_compiled(table: Table, codes: list[Code], device: str) -> None:
    """Compiles all side by side, then measures one after the other."""
    workers = [(code, Worker(device)) for code in codes]
    for code, worker in workers:
        worker.send("compile", code)
    ready = []
    for code, worker in workers:
        found = worker.answer(COMPILE_SECONDS - table.seconds)
        if found is None or "error" in found:
            table.add(code, found or {"error": f"not compiled after {table.seconds:.0f} s"})
            worker.process.kill()
        else:
            ready.append((code, worker))
    print(f"compiled {len(ready)} after {table.seconds:.0f} s", flush=True)
    for code, worker in ready:
        worker.send("measure", code)
        table.add(code, worker.answer(LONGEST_SECONDS) or {"error": "died or too slow"})
        worker.end()


def measure_eager(table: Table, codes: list[Code], device: str, until: float) -> None:
    """Measures one after the other while there is time; half the batch where one does not fit."""
    worker, todo = Worker(device), list(codes)
    while todo and table.seconds < until:
        code = todo.pop(0)
        worker.send("measure", code)
        found = worker.answer(min(LONGEST_SECONDS, until + 15 - table.seconds))
        table.add(code, found or {"error": "died or too slow"})
        if found is None:
            worker.process.kill()
            worker = Worker(device)
        elif found.get("error") == "out of memory":
            todo.insert(0, replace(code, batch_size=code.batch_size // 2))
    print(f"{len(todo)} not measured", flush=True)
    worker.end()


def main(arguments: list[str] | None = None) -> None:
    """Measures, in the order of what matters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=430.0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a trial: one network of each kind, small")
    parser.add_argument("--eager-only", action="store_true")
    options = parser.parse_args(arguments)
    first, then = list(compiled()), list(eager())
    if options.tiny:
        tiny = partial(replace, batch_size=2, image_size=224)
        first = [tiny(code) for code in first if code.network == "mobilenetv3_large_100"]
        first += [tiny(usual("mobilenetv3_large_100"), compilation="compiled")]
        then = [tiny(code) for code in then if code.network in ("mobilenetv3_large_100", "vit_small_patch16_224")]
    table = Table(options.file)
    if not options.eager_only:
        measure_compiled(table, first, options.device)
    measure_eager(table, then, options.device, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
