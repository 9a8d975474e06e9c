"""Spellings as the providers' APIs write them, and the refusal to guess."""

import csv
from importlib.resources import files

import pytest

from pricing.packaged.names import NoFigures, UnknownName, accelerator, region

TABLES = files("pricing.packaged") / "data"


def table(name):
    return list(csv.DictReader((TABLES / name).read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize(
    ("provider", "spelling", "memory_gib", "ours"),
    [
        ("aws", "V100", 16, "V100"),
        ("aws", "V100", 32, "V100-32GB"),
        ("aws", "A100", 40, "A100-40GB"),
        ("aws", "A100", 39.6, "A100-40GB"),
        ("aws", "A100", 80, "A100-80GB"),
        ("aws", "L4", 22.35, "L4"),
        ("aws", "K520", 4, "GRID K520"),
        ("aws", "RTX PRO Server 6000", 96, "RTX PRO 6000"),
        ("gcp", "nvidia-tesla-a100", None, "A100-40GB"),
        ("gcp", "nvidia-a100-80gb", None, "A100-80GB"),
        ("gcp", "nvidia-h100-mega-80gb", None, "H100"),
        ("gcp", "Nvidia Tesla A100 80GB GPU", None, "A100-80GB"),
        ("gcp", "TpuV5e", None, "TPU v5e"),
        ("gcp", "v5litepod", None, "TPU v5e"),
        ("lambda", "H100 (80 GB PCIe)", None, "H100-PCIe"),
        ("lambda", "A100 (40 GB SXM4)", None, "A100-40GB"),
        ("lambda", "Tesla V100 (16 GB)", None, "V100"),
        ("runpod", "NVIDIA A100-SXM4-80GB", None, "A100-80GB"),
        ("runpod", "NVIDIA A100 80GB PCIe", None, "A100-80GB-PCIe"),
        ("runpod", "NVIDIA H100 80GB HBM3", None, "H100"),
        ("runpod", "NVIDIA H100 NVL", None, "H100-NVL"),
        ("runpod", "NVIDIA GeForce RTX 4090", None, "RTX 4090"),
        ("runpod", "AMD Instinct MI300X OAM", None, "MI300X"),
        ("vast", "Q RTX 8000", 48, "Quadro RTX 8000"),
        ("vast", "A100 SXM4", 80, "A100-80GB"),
        ("vast", "A100 PCIE", 39.6, "A100-40GB-PCIe"),
        ("oci", "Compute - GPU - E3", None, "A100-40GB"),
        ("oci", "B98415", None, "H100"),
        ("vultr", "NVIDIA_A100", 80, "A100-80GB-PCIe"),
        ("digitalocean", "amd_mi300x", None, "MI300X"),
        ("crusoe", "A100-PCIe-40GB", None, "A100-40GB-PCIe"),
        ("skypilot", "A100", None, "A100-40GB"),
    ],
)
def test_a_spelling_has_one_meaning(provider, spelling, memory_gib, ours):
    assert accelerator(provider, spelling, memory_gib) == ours


@pytest.mark.parametrize(
    "name", ["H200 NVL", "MI350X", "RTX PRO 4000", "RTX PRO 4500", "NVIDIA RTX PRO 5000", "Trainium3"]
)
def test_a_new_accelerator_is_known_by_the_name_of_its_data_sheet(name):
    """No row of the table has to be typed for it."""
    assert accelerator("somebody new", name) == name.removeprefix("NVIDIA ").replace("H200 NVL", "H200-NVL")


@pytest.mark.parametrize(("name", "memory_gib"), [("RTX PRO 5000", 72), ("V100", None), ("H100-96GB", 80)])
def test_a_name_of_ours_that_may_mean_another_form_is_not_guessed(name, memory_gib):
    with pytest.raises(UnknownName):
        accelerator("aws", name, memory_gib)


def test_case_and_punctuation_do_not_matter():
    assert accelerator("runpod", "nvidia rtx-a6000") == accelerator("runpod", "NVIDIA RTX A6000") == "RTX A6000"


def test_known_but_without_figures_is_said():
    with pytest.raises(NoFigures, match="runpod has 'NVIDIA RTX A4500', an accelerator without figures here"):
        accelerator("runpod", "NVIDIA RTX A4500")


@pytest.mark.parametrize("memory_gib", [None, 64])
def test_a_name_that_covers_several_chips_is_not_guessed(memory_gib):
    with pytest.raises(UnknownName):
        accelerator("aws", "A100", memory_gib)


def test_the_form_factor_is_not_guessed():
    with pytest.raises(UnknownName):
        accelerator("oblivus", "A100", 80)


def test_one_providers_spelling_is_not_anothers():
    with pytest.raises(UnknownName):
        accelerator("aws", "nvidia-tesla-a100")


def test_an_unknown_spelling_names_the_nearest_and_the_table_to_mend():
    with pytest.raises(
        UnknownName, match=r"aws calls an accelerator 'Trainium9'.*nearest is 'Trainium2?'.*accelerator_names"
    ) as caught:
        accelerator("aws", "Trainium9")
    assert (caught.value.kind, caught.value.provider, caught.value.spelling) == ("accelerator", "aws", "Trainium9")


@pytest.mark.parametrize(
    ("provider", "spelling", "code"),
    [
        ("aws", "US East (N. Virginia)", "us-east-1"),
        ("aws", "EU (Frankfurt)", "eu-central-1"),
        ("aws", "us-gov-west-1", "us-gov-west-1"),
        ("azure", "US East 2", "eastus2"),
        ("azure", "East US 2", "eastus2"),
        ("azure", "eastus2", "eastus2"),
        ("gcp", "Delhi", "asia-south2"),
        ("gcp", "europe-west12", "europe-west12"),
        ("nebius", "EU-north1", "eu-north1"),
        ("lambda", "us-midwest-1", "any"),
        ("oci", "us-ashburn-1", "any"),
        ("verda", "FIN-01", "unspecified"),
        ("runpod", "US-KS-2", "unspecified"),
    ],
)
def test_regions_carry_the_providers_own_code(provider, spelling, code):
    assert region(provider, spelling) == code


@pytest.mark.parametrize(
    ("provider", "spelling"), [("azure", "Global"), ("gcp", "Americas"), ("aws", "US East (Boston)")]
)
def test_a_place_that_is_no_region_is_refused(provider, spelling):
    with pytest.raises(UnknownName, match="region_names"):
        region(provider, spelling)


def test_an_empty_region_is_refused():
    with pytest.raises(UnknownName):
        region("nebius", " ")


def test_every_canonical_name_has_hardware_facts():
    facts = files("costcalc.evidence") / "data" / "accelerators.csv"
    known = {row["accelerator"] for row in csv.DictReader(facts.read_text(encoding="utf-8").splitlines())}
    assert {row["accelerator"] for row in table("accelerator_names.csv")} - {""} <= known


@pytest.mark.parametrize("name", ["accelerator_names.csv", "region_names.csv"])
def test_no_spelling_stands_twice(name):
    keys = [tuple(row.values())[:-1] for row in table(name)]
    assert len(keys) == len(set(keys))
