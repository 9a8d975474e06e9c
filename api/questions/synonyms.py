"""What people call parameters that we call otherwise."""

from __future__ import annotations

from collections.abc import Collection

from api.questions.suggestions import clip, either, squeeze, unknown

CALLED = {
    "accelerators": "gpus gpucount gpunumber ngpus ngpu numgpus numgpu numberofgpus acceleratorcount numaccelerators chips tpus",
    "accelerator": "gpu gputype gpumodel gpuname acceleratortype device tpu chip",
    "nodes": "machines instances servers hosts nodecount numnodes nnodes",
    "instance_type": "instance machine machinetype vm vmtype sku server",
    "provider": "cloud vendor clouds",
    "region": "zone location",
    "purchase": "purchaseoption option pricing market spot ondemand reserved commitment",
    "budget": "price cost maxprice maxcost maxbudget money dollars",
    "max_cost": "price cost budget maxprice maxbudget money dollars",
    "max_hours": "hours time maxtime deadline duration",
    "target": "accuracy acc targetaccuracy goal",
    "model": "network net architecture arch",
    "as_of": "date day when",
    "sort": "order orderby sortby",
    "label": "tag tags team project",
}


def unknown_parameter(what: str, name: str, fields: Collection[str], where: str) -> str:
    """Says that a parameter (or column) is unknown, and which of these fields is meant, looks like it, or where they are."""
    form = squeeze(name)
    named = [field for field, words in CALLED.items() if form in words.split()]
    if not named:
        return unknown(what, name, fields, where)
    meant = [field for field in named if field in fields]
    return f"unknown {what} {clip(name)}: " + (f"did you mean {either(meant)}?" if meant else where)
