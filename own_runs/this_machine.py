"""The processor of this machine, as `costcalc.throughput.processors` wants to know it: read from what its system tells."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path

from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.throughput.processors import Processor, Processors

THIS_MACHINE = "this machine"
CPU_INFO = Path("/proc/cpuinfo")
MEMORY_INFO = Path("/proc/meminfo")
FASTEST_KHZ = Path("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
KIB_PER_GIB = 2**20
KHZ_PER_GHZ, BOGOMIPS_PER_GHZ = 1e6, 2000.0
"""BogoMIPS on x86 are twice the MHz of the time stamp counter, which runs at the base clock (kernel.org, timekeeping.txt)."""
GENERATIONS = {("AMD EPYC", "26"): "EPYC Zen 5"}
"""Processors whose virtual machines hide their model, by name and family."""
GRAPHICS = ("Apple",)  # whose known processors are the graphics processors beside those that this module reads
NO_DETAIL = re.compile(r"\(R\)|\(TM\)|\bCPU\b", re.IGNORECASE)


@cache
def brand() -> str:
    """The maker's name of this machine's processor."""
    if platform.system() == "Darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return _facts().get("model name") or platform.processor() or platform.machine()


def cpus() -> int:
    """The logical processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def name() -> str:
    """What answers call this machine's processor."""
    return f"{brand()} {cpus()} cores"


def memory_gib() -> float | None:
    """The memory of this machine; None if its system does not say."""
    if not MEMORY_INFO.exists():
        return None
    [total] = [line.split()[1] for line in MEMORY_INFO.read_text().splitlines() if line.startswith("MemTotal:")]
    return int(total) / KIB_PER_GIB


def processor(processors: Processors) -> Processor | None:
    """This machine's processor with the cores that this process may use: the one of `processors` that its name says, else by
    clock and vector width. None if those cannot be read."""
    like = processors.named.get(_known_name(processors) or "") or _by_its_flags()
    if like is None:
        return None
    facts = _facts()
    threads = max(1, round(float(facts.get("siblings", 1)) / float(facts.get("cpu cores", 1))))
    cores = max(1, cpus() // threads)
    return replace(like, name=name(), like=like.name, cores=cores, threads_per_core=threads, memory_gib=memory_gib())


@lru_cache(maxsize=8)
def with_this_machine(evidence: Evidence) -> Evidence:
    """The evidence with this machine's processor, if it can be read."""
    own = processor(evidence.processors)
    if own is None:
        return evidence
    processors = replace(evidence.processors, named={**evidence.processors.named, own.name: own})
    digest = blake2b(repr(own).encode(), digest_size=4).hexdigest()
    return replace(evidence, processors=processors, version=f"{evidence.version}+{digest}")


def _known_name(processors: Processors) -> str | None:
    """The known processor whose words are all in this one's name, or the one of its generation."""
    words = set(NO_DETAIL.sub(" ", brand()).split())
    names = (each.name for each in processors.named.values() if each.vendor not in GRAPHICS)
    match = next((name for name in names if set(name.split()) <= words), None)
    return match or GENERATIONS.get((brand(), _facts().get("cpu family", "")))


def _by_its_flags() -> Processor | None:
    """A processor by its base clock, or the fastest one if the system gives only that, and two vector units as wide as its flags
    say, for multiplications and additions in 32 bits; AMD's before family 26 take 512 bits in two halves."""
    facts = _facts()
    ghz = float(FASTEST_KHZ.read_text()) / KHZ_PER_GHZ if FASTEST_KHZ.exists() else None
    if "bogomips" in facts and "flags" in facts:  # only x86 has flags
        ghz = float(facts["bogomips"]) / BOGOMIPS_PER_GHZ
    flags = {*facts.get("flags", "").split(), *facts.get("Features", "").split()}
    halves = facts.get("vendor_id") == "AuthenticAMD" and int(facts.get("cpu family", "0")) < 26
    widths = {"asimd": 16.0, "avx": 16.0, "avx2": 32.0, "sve": 32.0, "avx512f": 32.0 if halves else 64.0}
    per_cycle = max((width for flag, width in widths.items() if flag in flags), default=None)
    if not (ghz and per_cycle):
        return None
    sixteen_bit = {"amx_bf16": 16, "avx512_bf16": 2, "bf16": 2}
    faster = max((times for flag, times in sixteen_bit.items() if flag in flags), default=None)
    return Processor(
        name=brand(),
        vendor=facts.get("vendor_id", ""),
        cores=1,
        threads_per_core=1,
        ghz=ghz,
        operations_per_cycle=per_cycle,
        operations_per_cycle_16bit=faster and per_cycle * faster,
        introduced=0,
        source=str(CPU_INFO),
    )


@cache
def _facts() -> dict[str, str]:
    """What Linux says of the first logical processor; nothing on other systems."""
    first, _, _ = CPU_INFO.read_text().partition("\n\n") if CPU_INFO.exists() else ("", "", "")
    lines = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in lines}
