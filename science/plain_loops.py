"""How fast plain loops of PyTorch train the networks of MLPerf's tasks on one GPU: `python science/plain_loops.py FILE`.

A plain loop is what somebody writes who follows the libraries' own examples: transformers, diffusers, peft or torchvision as
they come, autocast to bfloat16, AdamW or SGD, eager unless `--compiled`. The samples are random and lie in the GPU's memory, so
that no loader limits. Of a network that one GPU does not hold, a few and more layers are timed, and all reckoned from these.
The rows in `plain_loops.csv` of the tasks came of it. It needs a GPU, torch, torchvision, transformers, diffusers and peft.
"""

from __future__ import annotations

import argparse
import csv
import gc
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from msgspec import Struct
from torch import nn

WARM_STEPS, REPEATS, SECONDS_EACH = 3, 5, 1.0


class Training(NamedTuple):
    """A network, the loss of the batch that lies in memory as it is called, compiled or not, and what changes its weights."""

    network: nn.Module
    loss: Callable[[Any], torch.Tensor]
    optimizer: torch.optim.Optimizer


class Loop(Struct, frozen=True):
    """One measurement: `make(batch, layers)` of a task; `layers` are timed, `all_layers` the network has."""

    task: str
    code: str
    batches: tuple[int, ...]
    make: Callable[..., Training]
    layers: tuple[int, ...] = ()
    all_layers: int = 0


def seconds_of(training: Training, *, compiled: bool) -> list[float]:
    """Seconds of a step, in each of the repeats."""
    called = torch.compile(training.network) if compiled else training.network

    def step() -> None:
        training.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = training.loss(called)
        loss.backward()
        training.optimizer.step()

    for _ in range(WARM_STEPS):
        step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    step()
    torch.cuda.synchronize()
    steps = max(1, round(SECONDS_EACH / (time.perf_counter() - start)))
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
        seconds.append((time.perf_counter() - start) / steps)
    return seconds


def adamw(network: nn.Module) -> torch.optim.Optimizer:
    """AdamW of what is trained."""
    return torch.optim.AdamW([each for each in network.parameters() if each.requires_grad], lr=1e-5)


def sgd(network: nn.Module) -> torch.optim.Optimizer:
    """SGD with momentum of what is trained."""
    return torch.optim.SGD([each for each in network.parameters() if each.requires_grad], lr=1e-4, momentum=0.9)


def bert(batch: int) -> Training:
    """BERT-large on whole sequences of 512 tokens, none packed; 15 % are masked."""
    from transformers import BertConfig, BertForPreTraining

    config = BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
    network = BertForPreTraining(config).cuda().train()
    tokens = torch.randint(0, 30522, (batch, 512), device="cuda")
    labels = torch.where(torch.rand(batch, 512, device="cuda") < 0.15, tokens, -100)
    following = torch.zeros(batch, dtype=torch.long, device="cuda")
    return Training(
        network,
        lambda called: called(input_ids=tokens, labels=labels, next_sentence_label=following).loss,
        adamw(network),
    )


class Shape(NamedTuple):
    """What makes a Llama, beside its layers."""

    hidden: int
    heads: int
    inner: int
    vocabulary: int


def llama(batch: int, layers: int, shape: Shape, *, lora: bool) -> Training:
    """A Llama of so many layers, whole weights in 32 bits or LoRA beside weights in 16, with gradient checkpointing."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=shape.hidden,
        num_hidden_layers=layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=8,
        intermediate_size=shape.inner,
        vocab_size=shape.vocabulary,
        max_position_embeddings=8192,
        use_cache=False,
    )
    dtype = torch.bfloat16 if lora else torch.float32
    torch.set_default_dtype(dtype)
    try:
        with torch.device("cuda"):
            network: Any = LlamaForCausalLM(config)
    finally:
        torch.set_default_dtype(torch.float32)
    network.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    if lora:
        from peft import LoraConfig, get_peft_model

        network.enable_input_require_grads()
        network = get_peft_model(
            network,
            LoraConfig(r=16, lora_alpha=32, lora_dropout=0.1, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"]),
        )
    network.train()
    tokens = torch.randint(0, shape.vocabulary, (batch, 8192), device="cuda")
    return Training(network, lambda called: called(input_ids=tokens, labels=tokens).loss, adamw(network))


def llama2_70b_lora(batch: int, layers: int) -> Training:
    """Llama 2 70B with LoRA of rank 16 on its attention."""
    return llama(batch, layers, Shape(8192, 64, 28672, 32000), lora=True)


def llama31_8b(batch: int, layers: int) -> Training:
    """Llama 3.1 8B, from scratch."""
    return llama(batch, layers, Shape(4096, 32, 14336, 128256), lora=False)


def stable_diffusion(batch: int) -> Training:
    """The U-Net of Stable Diffusion 2 on latents of 64 x 64, beside a text encoder that is not trained."""
    from diffusers import UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel

    with torch.device("cuda"):
        network = UNet2DConditionModel(
            sample_size=64,
            block_out_channels=(320, 640, 1280, 1280),
            attention_head_dim=(5, 10, 20, 20),
            cross_attention_dim=1024,
            use_linear_projection=True,
        ).train()
        text = CLIPTextModel(
            CLIPTextConfig(
                hidden_size=1024,
                num_hidden_layers=23,
                num_attention_heads=16,
                intermediate_size=4096,
                hidden_act="gelu",
            )
        )
    text.requires_grad_(False).eval()
    words = torch.randint(0, 49000, (batch, 77), device="cuda")
    latents, noise = torch.randn(2, batch, 4, 64, 64, device="cuda")
    moments = torch.randint(0, 1000, (batch,), device="cuda")

    def loss(called: Any) -> torch.Tensor:
        with torch.no_grad():
            context = text(input_ids=words).last_hidden_state
        return nn.functional.mse_loss(called(latents, moments, context).sample.float(), noise)

    return Training(network, loss, adamw(network))


def flux(batch: int, layers: int) -> Training:
    """`layers` double blocks and twice as many single ones: FLUX.1 has 19 and 38; 256 x 256 images, 256 tokens of text."""
    from diffusers import FluxTransformer2DModel

    torch.backends.cuda.enable_cudnn_sdp(False)  # whose backward pass breaks here

    with torch.device("cuda"):
        network = FluxTransformer2DModel(num_layers=layers, num_single_layers=2 * layers, guidance_embeds=False).train()
        network.enable_gradient_checkpointing()
        latents, noise = torch.randn(2, batch, 256, 64)
        text, pooled = torch.randn(batch, 256, 4096), torch.randn(batch, 768)
        places, text_places = torch.zeros(256, 3), torch.zeros(256, 3)
        moments = torch.rand(batch)

    def loss(called: Any) -> torch.Tensor:
        made = called(
            hidden_states=latents,
            encoder_hidden_states=text,
            pooled_projections=pooled,
            timestep=moments,
            img_ids=places,
            txt_ids=text_places,
        ).sample
        return nn.functional.mse_loss(made.float(), noise)

    return Training(network, loss, adamw(network))


def boxes(batch: int, height: int, width: int, classes: int, masks: bool) -> list[dict[str, torch.Tensor]]:
    """Seven objects in each picture."""
    targets = []
    for _ in range(batch):
        corner = torch.rand(7, 2, device="cuda") * torch.tensor([width * 0.6, height * 0.6], device="cuda")
        size = 20 + torch.rand(7, 2, device="cuda") * torch.tensor([width * 0.35, height * 0.35], device="cuda")
        target = {
            "boxes": torch.cat([corner, corner + size], 1),
            "labels": torch.randint(1, classes, (7,), device="cuda"),
        }
        if masks:
            target["masks"] = torch.ones(7, height, width, dtype=torch.uint8, device="cuda")
        targets.append(target)
    return targets


def mask_rcnn(batch: int) -> Training:
    """Mask R-CNN on pictures of 800 x 1066, its backbone's batch norms and first stages fixed."""
    from torchvision.models import resnet50
    from torchvision.models.detection import MaskRCNN
    from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
    from torchvision.ops import FrozenBatchNorm2d

    body = resnet50(weights=None, norm_layer=FrozenBatchNorm2d)
    network = MaskRCNN(_resnet_fpn_extractor(body, 3), 91).cuda().train()
    pictures = list(torch.rand(batch, 3, 800, 1066, device="cuda"))
    targets = boxes(batch, 800, 1066, 91, masks=True)
    return Training(network, lambda called: sum(called(pictures, targets).values()), sgd(network))


def retinanet(batch: int) -> Training:
    """RetinaNet of 264 classes on ResNeXt-50 and pictures of 800 x 800."""
    from torchvision.models import resnext50_32x4d
    from torchvision.models.detection import RetinaNet
    from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
    from torchvision.ops import FrozenBatchNorm2d
    from torchvision.ops.feature_pyramid_network import LastLevelP6P7

    body = resnext50_32x4d(weights=None, norm_layer=FrozenBatchNorm2d)
    pyramid = _resnet_fpn_extractor(body, 3, returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(256, 256))
    network = RetinaNet(pyramid, 264, min_size=800, max_size=800).cuda().train()
    pictures = list(torch.rand(batch, 3, 800, 800, device="cuda"))
    targets = boxes(batch, 800, 800, 264, masks=False)
    return Training(network, lambda called: sum(called(pictures, targets).values()), adamw(network))


class Ssd(nn.Module):  # type: ignore[misc]  # torch is read without types
    """SSD300 on ResNet-34: its third group at stride 1, six maps, 8,732 boxes."""

    def __init__(self) -> None:
        from torchvision.models import resnet34

        super().__init__()
        body = resnet34(weights=None)
        body.layer3[0].conv1.stride = (1, 1)
        body.layer3[0].downsample[0].stride = (1, 1)
        self.body = nn.Sequential(body.conv1, body.bn1, body.relu, body.maxpool, body.layer1, body.layer2, body.layer3)
        widths, strides, pads, inner = (
            (256, 512, 512, 256, 256, 256),
            (2, 2, 2, 1, 1),
            (1, 1, 1, 0, 0),
            (256, 256, 128, 128, 128),
        )
        self.more = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(widths[i], inner[i], 1),
                nn.ReLU(inplace=True),
                nn.Conv2d(inner[i], widths[i + 1], 3, stride=strides[i], padding=pads[i]),
                nn.ReLU(inplace=True),
            )
            for i in range(5)
        )
        anchors = (4, 6, 6, 6, 4, 4)
        self.places = nn.ModuleList(nn.Conv2d(w, 4 * n, 3, padding=1) for w, n in zip(widths, anchors, strict=True))
        self.classes = nn.ModuleList(nn.Conv2d(w, 81 * n, 3, padding=1) for w, n in zip(widths, anchors, strict=True))

    def forward(self, pictures: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        maps = [self.body(pictures)]
        for each in self.more:
            maps.append(each(maps[-1]))
        place = [head(one).reshape(len(one), 4, -1) for head, one in zip(self.places, maps, strict=True)]
        label = [head(one).reshape(len(one), 81, -1) for head, one in zip(self.classes, maps, strict=True)]
        return torch.cat(place, 2), torch.cat(label, 2)


def ssd(batch: int) -> Training:
    """SSD on pictures of 300 x 300, with three hard boxes of background for each object."""
    network = Ssd().cuda().train()
    pictures = torch.rand(batch, 3, 300, 300, device="cuda")
    count = network(pictures[:2])[0].shape[2]
    wanted = torch.randn(batch, 4, count, device="cuda")
    labels = torch.where(torch.rand(batch, count, device="cuda") < 0.005, 7, 0)

    def loss(called: Any) -> torch.Tensor:
        places, classes = called(pictures)
        objects = labels > 0
        place = (nn.functional.smooth_l1_loss(places.float(), wanted, reduction="none").sum(1) * objects).sum(1)
        each = nn.functional.cross_entropy(classes.float(), labels, reduction="none")
        hard = each.masked_fill(objects, 0).sort(1, descending=True)[1].sort(1)[1]
        taken = objects | (hard < 3 * objects.sum(1, keepdim=True))
        return ((place + (each * taken).sum(1)) / objects.sum(1).clamp(min=1)).mean()

    return Training(network, loss, sgd(network))


class UNet3D(nn.Module):  # type: ignore[misc]
    """Filters 32 to 320, five steps down, instance norm, transposed convolutions up."""

    def __init__(self) -> None:
        super().__init__()
        filters = (32, 64, 128, 256, 320, 320)
        self.first = self.two(1, 32, 1)
        self.down = nn.ModuleList(self.two(i, o, 2) for i, o in pairwise(filters))
        pairs = list(pairwise(filters[::-1]))
        self.up = nn.ModuleList(nn.ConvTranspose3d(i, o, 2, stride=2) for i, o in pairs)
        self.joined = nn.ModuleList(self.two(2 * o, o, 1) for _, o in pairs)
        self.last = nn.Conv3d(32, 3, 1)

    @staticmethod
    def two(i: int, o: int, stride: int) -> nn.Module:
        return nn.Sequential(
            nn.Conv3d(i, o, 3, stride, 1, bias=False),
            nn.InstanceNorm3d(o, affine=True),
            nn.ReLU(),
            nn.Conv3d(o, o, 3, 1, 1, bias=False),
            nn.InstanceNorm3d(o, affine=True),
            nn.ReLU(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = [self.first(x)]
        for each in self.down:
            skips.append(each(skips[-1]))
        x = skips.pop()
        for up, joined in zip(self.up, self.joined, strict=True):
            x = joined(torch.cat([up(x), skips.pop()], 1))
        return self.last(x)


def unet3d(batch: int) -> Training:
    """The 3D U-Net on patches of 128 x 128 x 128, by Dice and cross-entropy."""
    network = UNet3D().cuda().train()
    volumes = torch.rand(batch, 1, 128, 128, 128, device="cuda")
    labels = torch.randint(0, 3, (batch, 128, 128, 128), device="cuda")
    hot = nn.functional.one_hot(labels, 3).permute(0, 4, 1, 2, 3).float()

    def loss(called: Any) -> torch.Tensor:
        made = called(volumes).float()
        share = made.softmax(1)
        dice = 1 - (2 * (share * hot).sum((2, 3, 4)) / (share + hot).sum((2, 3, 4))).mean()
        return dice + nn.functional.cross_entropy(made, labels)

    return Training(network, loss, sgd(network))


LOOPS = (
    Loop("flux1", "diffusers", (32, 16), flux, (1, 3), 19),
    Loop("mask-rcnn", "torchvision", (16, 8), mask_rcnn),
    Loop("bert-large", "transformers", (64, 32), bert),
    Loop("stable-diffusion-v2", "diffusers", (32, 16, 8), stable_diffusion),
    Loop("unet3d", "PyTorch", (4, 2), unet3d),
    Loop("ssd", "torchvision", (128, 64), ssd),
    Loop("llama3.1-8b", "transformers", (1,), llama31_8b, (2, 6), 32),
    Loop("llama2-70b-lora", "transformers, peft", (1,), llama2_70b_lora, (4, 12), 80),
    Loop("retinanet", "torchvision", (16, 8), retinanet),
)


def measured(loop: Loop, *, compiled: bool) -> Iterator[dict[str, Any]]:
    """The row of the largest batch that fits, if any."""
    for batch in loop.batches:
        try:
            runs = {}
            for layers in loop.layers or (0,):
                gc.collect()
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
                training = loop.make(batch, layers) if layers else loop.make(batch)
                runs[layers] = seconds_of(training, compiled=compiled)
                peak = torch.cuda.max_memory_allocated() / 2**30
                del training
            middle = {layers: statistics.median(one) for layers, one in runs.items()}
            seconds = middle[max(middle)]
            note = f"peak memory {peak:.1f} GiB"
            if loop.layers:
                few, many = loop.layers
                each = (middle[many] - middle[few]) / (many - few)
                seconds = middle[few] + each * (loop.all_layers - few)
                timed = ", ".join(f"{n} layers {s * 1e3:.1f} ms" for n, s in middle.items())
                note = f"{timed}; {loop.all_layers} layers reckoned; " + note
            spread = max(max(one) / min(one) for one in runs.values()) - 1
            yield {
                "task": loop.task,
                "code": loop.code,
                "batch": batch,
                "samples_per_second": f"{batch / seconds:.5g}",
                "note": f"{note}; five repeats within {spread:.1%}",
            }
            return
        except torch.OutOfMemoryError:
            print(f"{loop.task} {batch}: out of memory", flush=True)


def main() -> None:
    """Times what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--only", nargs="*")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    print(torch.__version__, torch.cuda.get_device_name(), flush=True)
    with open(arguments.file, "w", newline="") as file:
        writer = csv.DictWriter(file, ["task", "code", "batch", "samples_per_second", "note"])
        writer.writeheader()
        for loop in LOOPS:
            if arguments.only and loop.task not in arguments.only:
                continue
            if time.monotonic() > end:
                print(f"no time for {loop.task}", flush=True)
                continue
            start = time.monotonic()
            try:
                for row in measured(loop, compiled=arguments.compiled):
                    writer.writerow(row)
                    file.flush()
                    print(row, f"{time.monotonic() - start:.0f} s", flush=True)
            except (RuntimeError, ValueError, TypeError, ImportError):  # the others go on
                traceback.print_exc(file=sys.stdout)


main()
