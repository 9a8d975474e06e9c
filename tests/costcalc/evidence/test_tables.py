"""Reading evidence from tables: what is refused, and that every byte counts for the version."""

import zlib
from datetime import date
from importlib import resources
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from costcalc.evidence import TableError, load_evidence, parse_evidence, parsing
from costcalc.evidence.parsing import COMPACT, TABLES
from costcalc.training import known_on

DAYS = date(2020, 12, 30), date(2020, 12, 31), date(2021, 3, 4), date(2021, 3, 5)
FOLDER = resources.files("costcalc.evidence") / "data"


@pytest.fixture(scope="module")
def headers() -> dict[str, str]:
    return {name: (FOLDER / f"{name}.csv").read_text("utf-8").partition("\n")[0] + "\n" for name in TABLES}


@pytest.fixture
def texts(headers: dict[str, str]) -> dict[str, str]:
    """A small evidence: one recipe whose system is unknown, two models, one throughput."""
    lines = {
        "accelerators": "V100,NVIDIA,16,125,900,300,2017,,V100,,,yes,no,no,no,no,yes,no,yes,yes,x86,data sheet,\n",
        "models": "resnet50,rn50;r50,resnet,resnet,25.6,4.1,11.1,224,,,paper\nvgg16,,vgg,,,,,,,,paper\n",
        "recipes": "r1,resnet50,org,fam,PyTorch,pytorch,own,,,,,,,,,,,1,yes,training,,,,,no,,2020,,paper,\n",
        "curves": "r1,1,0.5,0.1,\nr1,2,1,0.2,0.4\n",
        "phases": "r1,224,0,2,\n",
        "seed_noise": "r1,5,5,0,0.25,,,2,,log\n",
        "codes": "mlperf,,mlperf,,no,entries\nown,them,research,compiled,no,\nown,,library,eager,yes,\n",
        "programs": "own,ordinary,https://code.example,MIT,--amp,paper\nmlperf,record,,,,paper\n",
        "commands": "r*,train {model} {depth} {epochs},github me/code@abc:README.md\n",
        "usual_scripts": "NVIDIA,pytorch,own-*,paper\n",
        "framework_support": "mxnet,NVIDIA,x86,,yes,2020-01,paper\n",
        "schedules": "fam-3ep,r1,4,0.05,\n",
        "spot_interruptions": "aws,p3.2xlarge,<5%,us-east-1 us-west-2,2025-06-28,advisor\n",
        "data_pipelines": "pytorch,Pillow,200,no,no,,149,a Xeon,2019,yes,org,2022-01-01,paper,\n",
        "pipelines_of_code": ",,pytorch,pytorch,paper\n",
        "grid_carbon": "aws,us-east-1,,0.4,paper\n",
        "data_centers": "aws,1.14,2025,paper\n",
        "processors": "a Xeon,Intel,18,2,3.0,64,,2017,data sheet\n",
        "processor_speeds": "c1,resnet50,224,a Xeon,36,64,fp32,4648,org,2018,paper,\n",
        "largest_batches": "resnet50,V100,224,16bit,128,192,2020,log\n",
        "volumes": "aws,,gp3,,125,paper,2020-12-01\n",
        "system_networks": "org,V100,25,paper\n",
        "system_hosts": "aws,p3.16xlarge,64,paper\n",
        "throughputs": "t1,resnet50,224,V100,8,1,amp,MXNet,mxnet,mlperf,,9000,yes,synthetic,org,,,2020,,,paper,\n",
    }
    return {name: headers[name] + lines.get(name, "") for name in TABLES}


def test_blank_cells_are_unknown(texts):
    evidence = parse_evidence(texts)
    (recipe,) = evidence.recipes
    assert recipe.system is None
    assert (recipe.precision, recipe.global_batch_size, recipe.scheduled_epochs, recipe.note) == (None, None, None, "")
    assert [(point.hours, point.top5) for point in recipe.evaluations] == [(0.5, None), (1.0, 0.4)]
    assert recipe.mean_top1 == 0.25
    assert (recipe.published, recipe.known_on) == (None, date(2020, 12, 31))
    (throughput,) = evidence.throughputs
    assert throughput.includes_evaluation
    assert throughput.is_synthetic
    assert evidence.models["vgg16"].aliases == ()
    assert (throughput.code, recipe.code) == ("mlperf", "library")


def test_a_code_may_be_that_of_one_organisation(texts):
    theirs = texts | {"recipes": texts["recipes"].replace(",org,", ",them,")}
    assert parse_evidence(theirs).recipes[0].code == "research"
    assert parse_evidence(texts | {"codes": texts["codes"].splitlines()[0]}).recipes[0].code is None


def test_recipes_are_found_by_model(texts):
    evidence = parse_evidence(texts)
    assert [recipe.name for recipe in evidence.recipes_of("resnet50")] == ["fam-3ep", "r1"]
    assert evidence.recipes_of("vgg16") == ()


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("resnet50_again,,other,,25.6,4.1,,224,,,paper", [("resnet50", "the same network")]),
        ("resnet34,,resnet,,21.8,3.7,,224,,,paper", [("resnet50", "the nearest of its family")]),
        ("resnet152,,resnet,,60.2,11.6,,224,,,paper", [("resnet101", "the nearest of its family")]),
        ("nobody_counted,,other,,,,,,,,paper", []),
    ],
)
def test_a_model_without_recipes_names_the_same_network_or_the_nearest_of_its_family(texts, model, found):
    larger = {
        "models": f"{texts['models']}resnet101,,resnet,resnet,44.5,7.8,,224,,,paper\n{model}\n",
        **{table: texts[table] + _with_another_run(texts[table]) for table in ("recipes", "curves", "phases")},
    }
    evidence = parse_evidence(texts | larger)
    name = model.partition(",")[0]
    assert [*evidence.alike(name)] == found
    same = [other for other, likeness in found if likeness == "the same network"]
    assert evidence.suggested[name] == (same or [name])[0]


def _with_another_run(table):
    """The lines of recipe r1 again, as those of a recipe of resnet101."""
    return table.partition("\n")[2].replace("r1,", "r2,").replace("resnet50", "resnet101")


@pytest.mark.parametrize(
    ("published", "day"),
    [("2018-04-26", date(2018, 4, 26)), ("2020-02", date(2020, 2, 29)), ("2017", date(2017, 12, 31))],
)
def test_what_is_known_by_month_or_year_is_known_from_its_end(published, day):
    assert known_on(published, 2017) == day


def test_publications_say_which_evidence_is_known(texts):
    """A recipe of 2020 and a speed of March 2021."""
    speed = texts["throughputs"].replace("2020,,,paper", "2021,2021-03-05,,paper")
    evidence = parse_evidence({**texts, "throughputs": speed})
    known = {day: evidence.known_on(evidence.last_publication(day)) for day in DAYS}
    assert [(len(one.recipes), len(one.throughputs), len(one.later)) for one in known.values()] == [
        (0, 0, 1),
        (1, 0, 0),
        (1, 0, 0),
        (1, 1, 0),
    ]
    assert known[DAYS[-1]] is evidence
    assert known[DAYS[0]].later_recipes_of("resnet50") == evidence.recipes
    assert known[DAYS[0]].later_recipes_of("vgg16") == ()


def test_packaged_systems_are_read():
    recipes = {recipe.name: recipe for recipe in load_evidence().recipes}
    system = recipes["dawnbench-fastai-rn50-4xp3"].system
    assert (system.provider, system.instance_type, system.nodes) == ("aws", "p3.16xlarge", 4)
    assert system.accelerators_per_node == 8


def test_networks_of_a_series_are_larger_if_no_size_is_smaller():
    models = load_evidence().models
    for small, large in (
        ("resnet50", "resnet101"),
        ("mobilenet_0_25", "mobilenet"),
        ("efficientnet_b0", "efficientnet_b1"),
    ):
        assert models[large].is_larger_than(models[small])
        assert not models[small].is_larger_than(models[large])
    more_arithmetic = replace(models["resnet50"], gmacs=8.2)
    assert more_arithmetic.is_larger_than(models["resnet50"])
    assert not replace(more_arithmetic, series=None).is_larger_than(replace(models["resnet50"], series=None))
    assert not models["regnetx_8gf"].is_larger_than(models["regnetx_6400mf"])  # more arithmetic, fewer activations
    assert not models["resnet101_v1d"].is_larger_than(models["resnet50"])
    assert not models["amoebanet_d"].is_larger_than(models["amoebanet_d"])


@pytest.mark.parametrize(
    ("table", "line", "message"),
    [
        ("models", "resnet50,,resnet,,,,,,,,paper\n", "models.csv: resnet50 stands twice"),
        (
            "accelerators",
            "V100,NVIDIA,,,,,,,V100,,,yes,no,no,no,no,yes,no,yes,yes,x86,sheet,\n",
            "accelerators.csv: V100 stands twice",
        ),
        ("models", "new,,new,,,,,,,,\n", "models.csv, line 4: .*null.*source"),
        ("models", "new,,new,,,,,,,paper\n", "models.csv, line 4: expected 11 cells, not 10"),
        ("models", "new,,new,,,,,,,,paper,more\n", "models.csv, line 4: expected 11 cells, not 12"),
        ("models", "new,,new,,many,,,,,,paper\n", "models.csv, line 4: .*parameters_millions"),
        ("models", "new,,new,,inf,,,,,,paper\n", "models.csv, line 4: a number must be finite, not inf"),
        ("models", "new,,new,,,-NaN,,,,,paper\n", "models.csv, line 4: a number must be finite, not -NaN"),
        ("models", "new,,new,,,,,22.4,,,paper\n", "models.csv, line 4: .*image_size"),
        (
            "recipes",
            "r2,resnet50,org,fam,X,other,own,,,,,,,,,,,1,yes,,,,,,no,,2020,,paper,\n",
            "recipes.csv, line 3: r2 has no line in",
        ),
        (
            "recipes",
            "r2,resnet50,org,fam,X,other,own,,,,,,,,,,,1,log,,,,,,no,,2020,,paper,\n",
            "recipes.csv, line 3: .*is_log",
        ),
        (
            "throughputs",
            "t2,resnet50,224,V100,8,1,,X,other,y,,,no,no,org,,,2020,,,paper,\n",
            "throughputs.csv, line 3: .*images_per_second",
        ),
    ],
)
def test_a_corrupt_line_is_named(texts, table, line, message):
    with pytest.raises(TableError, match=message):
        parse_evidence({**texts, table: texts[table] + line})


def test_an_empty_table_is_corrupt(texts):
    with pytest.raises(TableError, match=r"phases\.csv: there is no line of column names"):
        parse_evidence({**texts, "phases": "\n"})


def test_a_missing_column_is_named(texts):
    for column, named in (
        ("gmacs", "models.csv, line 2: .*gmacs"),
        ("aliases", "models.csv: there is no column 'aliases'"),
    ):
        with pytest.raises(TableError, match=named):
            parse_evidence({**texts, "models": texts["models"].replace(column, "other")})


def test_the_version_changes_with_any_table(texts):
    versions = {parse_evidence(texts).version}
    for name in TABLES:
        versions.add(parse_evidence({**texts, name: texts[name].replace("\n", "\r\n")}).version)
    assert len(versions) == 1 + len(TABLES)
    assert load_evidence().version == load_evidence().version


def test_what_was_learned_from_the_tables_is_refused_where_it_is_corrupt(texts):
    with pytest.raises(TableError, match=r"fitted\.json: .*make fit"):
        parse_evidence({**texts, "fitted": "{"})


def test_code_that_nobody_says_where_it_ran_needs_the_chips_its_framework_ran_on_most(packaged_evidence):
    named = {recipe.name: packaged_evidence.vendors_of(recipe) for recipe in packaged_evidence.recipes}
    for untold in ("torchvision-v2-resnet50", "deit-small", "torch7-resnet34"):
        assert named[untold] == {"NVIDIA"}
    assert named["big-vision-vit-s16-90ep"] == {"Google"}
    assert {"Intel", "NVIDIA"} <= named["mlperf-v3.0-hls-gaudi2-tf"]


def test_the_compact_copy_is_of_the_packaged_tables():
    """Read or not, it holds what the tables hold; one made from other tables is not read."""
    packaged = (FOLDER / COMPACT).read_bytes()
    assert packaged[:6].hex() == load_evidence().version, "the tables changed since the copy was made: run `make fit`"
    texts = {name: (FOLDER / f"{name}.csv").read_text("utf-8") for name in TABLES}
    read = parse_evidence({**texts, "fitted": (FOLDER / "fitted.json").read_text("utf-8")})
    for name in ("version", "accelerators", "models", "recipes", "throughputs", "schedules"):
        assert getattr(load_evidence(), name) == getattr(read, name), name
    assert zlib.decompress(packaged[6:]) == zlib.decompress(parsing.compact_copy()[6:])


def test_a_compact_copy_of_other_tables_is_not_read(monkeypatch):
    def no_decoder(document):
        raise AssertionError("read")

    monkeypatch.setattr(parsing, "DECODER", SimpleNamespace(decode=no_decoder))
    with pytest.raises(AssertionError, match="read"):
        load_evidence()
    digest = parsing._digest
    monkeypatch.setattr(parsing, "_digest", lambda texts: digest(texts)[::-1])
    assert len(load_evidence().recipes) > 500
