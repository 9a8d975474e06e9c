"""Made-up accelerators, recipes and measured rates, and models of speed whose effects are known by hand."""

from msgspec.structs import replace

from costcalc.hardware import Accelerator
from costcalc.recipes import Recipe
from costcalc.throughput.data_sheets import DataSheets
from costcalc.throughput.reference_model import ReferenceModel, TypicalUse
from costcalc.throughput.workloads import Transfer
from costcalc.training import Evaluation, Model, Phase, System, Throughput

PARTS = {
    part.name: part
    for part in (
        Accelerator("old", "NVIDIA", 16, 100, 1000, 250, 2018, "sheet", "old", predicted_unmeasured=True),
        Accelerator("new", "NVIDIA", 80, 400, 2000, 400, 2022, "sheet", "new", cluster_network=True, predicted_unmeasured=True),
        Accelerator("new-big", "NVIDIA", 160, 400, 2000, 400, 2022, "sheet", "new", "new", cluster_network=True),
        Accelerator("game", "NVIDIA", 24, 200, 900, 350, 2022, "sheet", "game", peer_to_peer=False, predicted_unmeasured=True),
        Accelerator("bare", "NVIDIA", 12, 10, 500, 250, 2016, "sheet", "bare", matrix_units=False, predicted_unmeasured=True),
        Accelerator("slice", "Google", 32, 200, 1200, 200, 2021, "", "slice", rented_in_slices=True, predicted_unmeasured=True),
        Accelerator("odd", "Acme", 32, 200, 1200, 200, 2021, "sheet", "odd"),
        Accelerator("silent", "Acme", None, None, None, None, None, "sheet", "silent"),
    )
}  # fmt: skip
SHEETS = DataSheets(PARTS, tflop_per_image=0.04, gb_per_image=0.3)
RESNET = Model("resnet50", (), "resnet", 25.6, 4.1, 224, "paper")
SMALL = Model("small", (), "tiny", 5.12, 0.41, 224, "paper")
MODELS = {model.name: model for model in (RESNET, SMALL)}
REFERENCE = ReferenceModel(
    data_sheets=SHEETS,
    effects={
        ("mean",): 0.1,
        ("accelerator", "new"): 0.2,
        ("vendor", "other"): -0.3,
        ("vendor", "Google"): 0.05,
        ("machines",): -0.02,
        ("machines", "new"): -0.01,
        ("count",): -0.04,
        ("count", "new", "4"): 0.003,
        ("trend",): 0.03,
        ("year", "2023"): 0.005,
        ("framework", "pytorch"): -0.15,
        ("batch",): 0.5,
        ("batch", "new"): 0.25,
    },
    years={"new": (2021, 2023)},
    networked=frozenset({"new"}),
    default_intercept=7.0,
    typical={"new": TypicalUse(software=0.07, batch=200.0, scatter=0.8)},
)
TRANSFER = Transfer(
    MODELS,
    PARTS,
    {
        ("family", "tiny"): 1.0,
        ("model", "small"): 0.2,
        ("precision", "fp32"): -0.7,
        ("stack", "ours"): -0.1,
        ("chip", "new"): 0.05,
        ("chip", "new", "ours", "pytorch", "us", "16bit"): 0.01,
        ("count", "tiny"): -0.06,
        ("no peers",): -0.2,
        ("batch", "small"): 0.4,
    },
)


def recipe(**given) -> Recipe:
    """A recipe of the small network in 16 bits by our own PyTorch, on nobody's system unless one is given."""
    usual = Recipe(
        name="made-up",
        model="small",
        organisation="us",
        family="ours",
        framework="PyTorch",
        framework_family="pytorch",
        stack="ours",
        precision="amp",
        optimizer="sgd",
        global_batch_size=1024,
        runs=1,
        is_log=True,
        year=2022,
        source="here",
        phases=(Phase(224, 0, 10),),
        evaluations=(Evaluation(10, None, 0.7, None),),
    )
    return replace(usual, **given)


def reference_recipe(**given) -> Recipe:
    """A recipe of MLPerf's ResNet-50."""
    return recipe(**{"model": "resnet50", "stack": "mlperf", "framework_family": "mxnet", "tuned_to": 0.759} | given)


def on(accelerator: str, accelerators: int = 8, nodes: int = 1) -> System:
    """A system nobody can rent."""
    return System(accelerator, accelerators, nodes)


def rate(images_per_second: float, accelerator: str = "new", accelerators: int = 8, **given) -> Throughput:
    """A rate of the small network by our own PyTorch."""
    usual = Throughput(
        name=f"{accelerator}-{accelerators}-{images_per_second}",
        model="small",
        image_size=224,
        accelerator=accelerator,
        accelerators=accelerators,
        precision="amp",
        framework="PyTorch",
        framework_family="pytorch",
        stack="ours",
        images_per_second=images_per_second,
        data="real",
        organisation="us",
        year=2022,
        source="here",
    )
    return replace(usual, **given)
