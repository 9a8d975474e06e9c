"""Has this machine be another Linux: what its system tells of the processor."""

from collections.abc import Iterator
from contextlib import contextmanager

from own_runs import this_machine


def x86(model_name: str, vendor: str, family: int, flags: str, bogomips: float, siblings: int, cores: int) -> str:
    """The text of /proc/cpuinfo."""
    return (
        f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel name\t: {model_name}\nsiblings\t: {siblings}\n"
        f"cpu cores\t: {cores}\nflags\t\t: fpu sse2 {flags}\nbogomips\t: {bogomips}\n\nprocessor\t: 1\nmodel name\t: other\n"
    )


EPYC = x86("AMD EPYC", "AuthenticAMD", 26, "avx2 avx512f avx512_bf16", 5192.24, 2, 2)


def pretend(monkeypatch, folder, text: str, cpus: int = 4, gib: int = 16) -> None:
    """Makes this machine one whose system tells this text, with so many logical processors and GiB."""
    (folder / "meminfo").write_text(f"MemTotal: {gib * 2**20} kB\n")
    (folder / "cpuinfo").write_text(text)
    monkeypatch.setattr(this_machine.platform, "system", lambda: "Linux")
    monkeypatch.setattr(this_machine, "CPU_INFO", folder / "cpuinfo")
    monkeypatch.setattr(this_machine, "MEMORY_INFO", folder / "meminfo")
    monkeypatch.setattr(this_machine, "FASTEST_KHZ", folder / "khz")
    monkeypatch.setattr(this_machine, "cpus", lambda: cpus)
    _forget()


@contextmanager
def forgotten() -> Iterator[None]:
    """Forgets afterwards what this machine was taken for."""
    try:
        yield
    finally:
        _forget()


def _forget() -> None:
    for known in (this_machine.brand, this_machine.with_this_machine, this_machine._facts):
        known.cache_clear()
