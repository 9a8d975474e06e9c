"""Ten conversations of three questions each, as an assistant has them: `python -m tools.conversations`.

The SDK's own client asks the server in memory. It prints the characters of the tools' definitions and of each answer; a token is
some four characters.
"""

from __future__ import annotations

import asyncio
import os
from statistics import median

from mcp.client.client import Client

from api.bootstrap import build_once
from api.mcp.server import Desk, server_of
from api.settings import read_settings

Given = dict[str, object]
RESNET: Given = {"model": "resnet50", "target": 0.757}
VIT: Given = {"model": "vit_base_patch16_224", "target": 0.79}
BERT: Given = {"model": "bert-large"}
LORA: Given = {"model": "llama2-70b-lora"}
CONVERSATIONS: tuple[tuple[tuple[str, Given], ...], ...] = (
    (
        ("cost", RESNET),
        ("cost", {**RESNET, "provider": ["aws"]}),
        ("launch", {**RESNET, "provider": ["aws"], "to": "skypilot"}),
    ),
    (("ask", {"q": "how much for resnet 50 at 76% on h100s?"}), ("fit", {"model": "resnet50"}), ("trend", RESNET)),
    (("tasks", {}), ("cost", {**LORA, "accelerators": 8}), ("ask", {"q": "llama 2 70b lora, cheapest cloud"})),
    (("cost", BERT), ("cost", {**BERT, "as_of": "2020-12-31"}), ("ask", {"q": "bert on 8 a100 against 8 h100"})),
    (("models", {}), ("cost", VIT), ("recipes", {"model": "vit_b16"})),
    (
        ("offers", {"accelerator": ["H100"]}),
        ("price_history", {"instance_type": "p5.48xlarge"}),
        ("price_changes", {"since": "2026-09-01"}),
    ),
    (
        ("cost", {**RESNET, "own": ["1x RTX 4090"]}),
        ("compare", {**RESNET, "a": "own:1xRTX4090", "b": "lambda:gpu_1x_gh200"}),
        ("doctor", {}),
    ),
    (
        ("accuracy", {"model": "resnet50", "budget": 50}),
        ("cost", {**RESNET, "max_hours": 2}),
        ("cost", {**RESNET, "purchase": "spot"}),
    ),
    (
        ("commitments", {**RESNET, "runs_per_month": 30}),
        ("cost", {**RESNET, "region": "europe"}),
        ("throughput", {"model": "resnet50"}),
    ),
    (
        ("cost", {"model": "stable-diffusion-v2"}),
        ("own_runs", {}),
        ("cost", {"model": "any", "epochs": 90, "parameters": 25, "gmacs": 4}),
    ),
)


async def ask_all(desk: Desk) -> None:
    """Prints the sizes of the definitions and of every answer."""
    async with Client(server_of(desk)) as client:
        tools = (await client.list_tools()).tools
        definitions = sum(len(tool.model_dump_json(exclude_none=True, by_alias=True)) for tool in tools)
        print(f"definitions of {len(tools)} tools: {definitions:,} characters")
        sizes = []
        for number, conversation in enumerate(CONVERSATIONS, 1):
            for name, given in conversation:
                told = await client.call_tool(name, given)
                text = getattr(told.content[0], "text", "")
                sizes.append(len(text))
                print(f"{number:>2} {name:<14} {len(text):>6,}{'  refused: ' + text[:90] if told.is_error else ''}")
        print(f"{len(sizes)} answers: median {median(sizes):,.0f} characters, most {max(sizes):,}")


if __name__ == "__main__":
    asyncio.run(ask_all(Desk(build_once(read_settings(os.environ)))))
