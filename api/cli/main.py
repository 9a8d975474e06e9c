"""The `costcalc` command. Heavy things are imported by the command that needs them, so that an answer comes at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import click

from api.cli.completion import completer
from api.cli.options import SchemaCommand, dashed, texts
from api.cli.questions import FAILED, Question, settings_of_environment, stop, told
from api.settings import SETTINGS, shown

if TYPE_CHECKING:
    from marshmallow import Schema


@click.group(context_settings={"help_option_names": ["-h", "--help"], "token_normalize_func": dashed})
@click.version_option(package_name="costcalc")
def main() -> None:
    """What does it cost, how long does it take, and where, to train a model to an accuracy?"""


def plan_defaults() -> Schema:
    """The parameters that hold for all rows of a plan."""
    from api.reports.plan import DEFAULTS

    return DEFAULTS


QUESTIONS = (
    Question(
        "cost",
        ["model", "target"],
        "Estimate the hours and cost of training MODEL to TARGET.\n\nTARGET is a fraction, such as 0.757. The answer names "
        "what to rent first, then lists every machine that reaches it.",
        explains=True,
    ),
    Question(
        "accuracy",
        ["model"],
        "Find the highest accuracy of MODEL within a budget.\n\nGive --budget, --max-hours or both; the answer lists the "
        "machines that reach that accuracy.",
        explains=True,
    ),
    Question(
        "commitments",
        ["model", "target"],
        "Compare reserving and committing with paying by the hour.\n\nThe answer says from how many hours a month on each "
        "commitment pays, on the machines that suit training MODEL to TARGET.",
        explains=True,
    ),
    Question(
        "compare",
        ["model", "target", "a", "b"],
        "Compare training MODEL to TARGET on machine A and on machine B.\n\nA and B are written provider:instance_type, such as "
        "aws:p3.16xlarge, then :2 for two machines and :spot for a way to buy them; own:1x RTX 4090 is a machine that you own. "
        "The answer says which costs less and how surely, and at which rate of B it turns.",
        explains=True,
    ),
    Question(
        "fit",
        ["model?"],
        "Find the largest batch of MODEL that the memory of an accelerator holds.\n\nMODEL may be several, with commas between "
        "them. The answer says what was measured, and gives an interval to what is modelled.",
    ),
    Question("models", ["model?"], "List the models, or all that was measured of one MODEL."),
    Question("throughput", [], "List measured training speeds, and images for the money."),
    Question("offers", [], "List the current rates of machines, with sources and dates."),
    Question("history", ["instance_type"], "List every rate ever seen of INSTANCE_TYPE."),
    Question("changes", [], "List the rates that are new or different since a date."),
)
for question in QUESTIONS:
    main.add_command(question)


@main.command(cls=SchemaCommand, schema=plan_defaults, params=[click.Argument(["file"], type=click.File("rb"))])
def plan(file: BinaryIO, **given: Any) -> None:
    """Find the best estimate for every row of FILE.

    FILE is CSV or JSON, - is standard input; its columns are named like the options.
    """
    from api.cli import answers

    with told():
        answer = answers.plan(settings_of_environment(), texts(given), file.read())
    click.echo(answer.text, nl=False)
    if answer.unanswered:
        click.echo(f"costcalc: {answer.unanswered} of {answer.rows} rows have an error beside them", err=True)


def swept() -> Schema:
    """The parameters of a sweep."""
    from api.questions.schemas import SweepSchema

    return SweepSchema()


@main.command(
    cls=SchemaCommand,
    schema=swept,
    params=[
        click.Argument(["folder"], type=click.Path(file_okay=False, path_type=Path)),
        click.Argument(["axes"], nargs=-1, metavar="[NAME=VALUES]..."),
        click.Option(
            ["--grid"], type=click.File("r", "utf-8"), help="Read more NAME=VALUES from this file, one a line."
        ),
        click.Option(
            ["--workers"], type=click.IntRange(1), help="Processes of this machine. Default: one for each core."
        ),
        click.Option(
            ["--dask"], metavar="ADDRESS", help="Use the workers of this Dask scheduler, such as tcp://host:8786."
        ),
    ],
)
def sweep(
    folder: Path, axes: tuple[str, ...], grid: TextIO | None, workers: int | None, dask: str | None, **given: Any
) -> None:
    """Ask every combination of VALUES like `costcalc cost`, and write the estimates as Parquet into FOLDER.

    \b
    costcalc sweep 2026 model=resnet50,vit_b16 target=0.75,0.757 \\
        as_of=2018-05..2026-11/1mo provider=aws,gcp,aws+gcp --nodes 1

    Each NAME=VALUES is swept; options hold for all questions. Commas separate values, + joins names into one value, and
    FIRST..LAST/STEP is a range of dates (steps 1d, 1w, 1mo, 1y) or numbers. model=all sweeps every model. A call that was cut
    off goes on where it stopped when it is repeated.
    """
    try:
        from api.sweep import running as sweeping
    except ModuleNotFoundError:
        stop("`costcalc sweep` needs PyArrow: install it with pip install 'costcalc[sweep]'", FAILED)
    from api.sweep.axes import lines

    with told():
        settings, written = settings_of_environment(), [*axes, *(lines(grid.read()) if grid else [])]
        try:
            click.echo(sweeping.run(settings, folder, written, texts(given), sweeping.Workers(workers, dask)))
        except sweeping.SweepStopped as error:
            stop(error, FAILED)


def launching() -> Schema:
    """The parameters of a launch file."""
    from api.questions.schemas import LaunchSchema

    return LaunchSchema()


@main.command(
    cls=SchemaCommand,
    schema=launching,
    params=[click.Argument([name], shell_complete=completer(name)) for name in ("model", "target")],
)
def launch(**given: Any) -> None:
    """Print a launch file of the best estimate of MODEL to TARGET.

    SkyPilot or dstack reads it, rents the machines and starts the command of --run.
    """
    from api.cli import answers

    with told():
        click.echo(answers.launch(settings_of_environment(), texts(given)), nl=False)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script by which SHELL completes commands and names.

    \b
    bash: add   eval "$(costcalc completion bash)"       to ~/.bashrc
    zsh:  add   eval "$(costcalc completion zsh)"        to ~/.zshrc, below compinit
    fish: run   costcalc completion fish > ~/.config/fish/completions/costcalc.fish
    """
    from api.cli.completion import script

    click.echo(script(shell, main), nl=False)


@main.command()
@click.option("--bind", help="Address and port.  [default: 127.0.0.1:8000]")
@click.option("--workers", type=click.IntRange(1), help="Worker processes.  [default: 2]")
def serve(bind: str | None, workers: int | None) -> None:
    """Serve the HTTP API, the page and the Slack command."""
    from dataclasses import replace

    from api.settings import address
    from api.web.serving.server import CannotListen
    from api.web.serving.server import serve as run
    from costcalc.evidence import TableError
    from pricing.packaged.tables import PackagedTableError

    chosen = settings_of_environment()
    try:
        address(bind or chosen.bind)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--bind") from None
    try:
        run(replace(chosen, bind=bind or chosen.bind, workers=workers or chosen.workers))
    except (TableError, PackagedTableError, CannotListen) as error:
        stop(error, FAILED)


@main.group(invoke_without_command=True)
@click.pass_context
def mcp(context: click.Context) -> None:
    """Answer an assistant over standard input and output, by the Model Context Protocol."""
    if context.invoked_subcommand is None:
        from api.cli import mcp as commands

        with told():
            commands.run(settings_of_environment())


@mcp.command("config")
@click.argument("client", required=False)
def configure(client: str | None) -> None:
    """Print what tells CLIENT of this server, or, without CLIENT, what tells every known client."""
    from api.cli import mcp as commands

    with told():
        click.echo(commands.configurations(client))


@mcp.command("doctor")
def diagnose() -> None:
    """Say what is wrong with this installation and what to do. Exit status 1: something is wrong."""
    from api.cli import mcp as commands

    with told():
        sys.exit(commands.diagnose(settings_of_environment()))


@main.command()
@click.option("--read-only", is_flag=True, help="One that may only read, for addresses in spreadsheets.")
def token(read_only: bool) -> None:
    """Make an API token, and what to write in COSTCALC_API_TOKENS so that it is accepted."""
    from hashlib import sha256
    from secrets import token_urlsafe

    made = token_urlsafe(24)
    click.echo(f"token (shown only now): {made}")
    click.echo(f"COSTCALC_API_TOKENS={'read:' * read_only}sha256:{sha256(made.encode()).hexdigest()}")


@main.command()
def settings() -> None:
    """List every setting with its value. Secrets are masked."""
    from api.cli.grid import paragraph, terminal_width
    from api.cli.prices import source_settings

    settings_of_environment()
    for setting in [*SETTINGS, *source_settings()]:
        click.echo(f"{setting.variable}={shown(setting, os.environ)}")
        click.echo("\n".join(paragraph(f"    {setting.meaning}", terminal_width(), 4)))


@main.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option(
    "--into",
    type=click.Path(exists=True, dir_okay=False, writable=True),
    help="Also write the scores into this page, docs/method.md.",
)
def validate(form: str, into: str | None) -> None:
    """Score the estimator against published results."""
    # Hundreds of small linear systems: BLAS threads that wait for one another make a busy machine ten times slower.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from api.cli.validate import WrongPage, WrongTables, scores
    except ModuleNotFoundError:
        stop("`costcalc validate` needs SciPy: install it with pip install 'costcalc[validate]'", FAILED)
    try:
        click.echo(scores(form, into), nl=False)
    except WrongPage as error:
        stop(error)
    except WrongTables as error:
        stop(error, FAILED)


@main.command()
@click.argument("model", default="resnet50")
@click.option("--module", metavar="PACKAGE.MODULE:FACTORY", help="Measure what this function returns, as MODEL.")
@click.option("--image-size", type=click.IntRange(1, 4096), default=224, show_default=True, help="Pixels a side.")
@click.option("--precision", type=click.Choice(["fp32", "bf16", "fp16"]), help="Default: the fastest of the device.")
@click.option("--batch-size", type=click.IntRange(1), help="Default: double it as long as it fits and is faster.")
@click.option("--seconds", type=click.FloatRange(0.1, 600), default=10, show_default=True, help="For each batch.")
@click.option("--device", type=click.Choice(["cuda", "mps", "xla", "cpu"]), help="Default: the fastest there is.")
@click.option("--accelerator", metavar="NAME", help="What to call the device, if not what it calls itself.")
@click.option("--store/--no-store", default=True, show_default=True, help="Have answers use it from now on.")
@click.option("--small", is_flag=True, help="Measure what decides small networks instead: see `costcalc small`.")
def measure(small: bool, **options: Any) -> None:
    """Measure how fast MODEL trains on this machine, and store it as your own speed.

    MODEL is a network of torchvision or timm, or with --module the network whose recipes your own stands for. ROCm is cuda.
    """
    from api.cli import own_runs as commands

    if small:
        commands.measure_small(
            settings_of_environment(), *(options[name] for name in ("device", "accelerator", "store"))
        )
    else:
        commands.measure(settings_of_environment(), commands.MeasureOptions(**options))


@main.command()
@click.argument("layers")
@click.option("--samples", type=click.IntRange(1, 10**12), default=60_000, show_default=True, help="Of the data set.")
@click.option("--batch-size", type=click.IntRange(1, 10**9), default=64, show_default=True, help="Samples a step.")
@click.option("--epochs", type=click.IntRange(1, 10**6), default=10, show_default=True, help="Times that all are seen.")
@click.option("--rate", default="0.10", show_default=True, help="What an hour of this machine costs.")
def small(layers: str, samples: int, batch_size: int, epochs: int, rate: str) -> None:
    """Compare this machine with GPUs for a network so small that launches and transfer decide.

    LAYERS are those of a dense network, such as mlp:784-512-512-10, or of a small convolutional one, such as
    cnn:28x28x1-32-64-10: height, width and channels, the channels of 3 x 3 convolutions, the classes.
    """
    from decimal import Decimal, InvalidOperation

    from api.cli import own_runs as commands
    from costcalc.small_networks import Training, WrongLayers, small_network

    try:
        training = Training(small_network(layers), samples, batch_size, epochs)
        money = Decimal(rate)
    except WrongLayers as error:
        stop(error)
    except InvalidOperation:
        money = Decimal("nan")
    if not (money.is_finite() and money > 0):
        stop(f"--rate must be a number above 0, such as 0.10; got {rate}")
    commands.compare_small(settings_of_environment(), training, money)


@main.group()
def recipes() -> None:
    """List and remove what you measured yourself."""


@recipes.command("list")
def list_recipes() -> None:
    """List your own speeds, the newest first."""
    from api.cli import own_runs as commands

    commands.list_runs(settings_of_environment())


@recipes.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove your own speed of this NAME."""
    from api.cli import own_runs as commands

    commands.remove(settings_of_environment(), name)


@main.group()
def prices() -> None:
    """Fetch live prices and see how their sources fare."""


@prices.command()
@click.argument("sources", nargs=-1, shell_complete=completer("sources"))
def refresh(sources: tuple[str, ...]) -> None:
    """Fetch live rates from SOURCES (default: all) into the store. Exit status 1: some failed, the others are published."""
    from api.cli import prices as commands

    sys.exit(commands.refresh(settings_of_environment(), sources))


@prices.command("sources")
@click.argument("source", required=False, shell_complete=completer("sources"))
def describe_sources(source: str | None) -> None:
    """List every price source with what it needs and cannot see, or describe one SOURCE with its settings."""
    from api.cli import prices as commands

    sys.exit(commands.describe(source) if source else commands.describe_all())


@prices.command("try")
@click.argument("source", shell_complete=completer("sources"))
@click.option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep what the provider answered in FOLDER as a recording for the tests; secrets are cut out.",
)
def try_source(source: str, save: Path | None) -> None:
    """Run one SOURCE and print what it would store, how long it took and how fresh the rates are. Nothing is stored."""
    from api.cli import prices as commands

    sys.exit(commands.try_source(source, save))


@prices.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def export(folder: Path) -> None:
    """Write what the store knows as the next packaged prices into FOLDER, and say how they differ from the present ones.

    Your own price sheet is left out. With FOLDER pricing/packaged/data the tables of a checkout are renewed.
    """
    from api.cli import prices as commands

    sys.exit(commands.export(settings_of_environment(), folder))


@prices.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def backup(file: Path) -> None:
    """Copy the SQLite store into the new FILE, also while a server or a refresh uses it. The copy is read before it is named."""
    from api.cli import prices as commands

    sys.exit(commands.backup(settings_of_environment(), file))


@prices.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def restore(file: Path) -> None:
    """Put the backup FILE in the place of the SQLite store. Servers go on from it; the former store is kept beside it."""
    from api.cli import prices as commands

    sys.exit(commands.restore(settings_of_environment(), file))


@prices.command()
def rebuild() -> None:
    """Begin anew where the SQLite store is damaged: it is set aside, and what is lost is named. Prefer a backup."""
    from api.cli import prices as commands

    sys.exit(commands.rebuild(settings_of_environment()))


@prices.command()
def status() -> None:
    """Show the last success, age, number of rows and last error of each source."""
    from api.cli import prices as commands

    sys.exit(commands.status(settings_of_environment()))


def withdrawal() -> Schema:
    """The filters of a withdrawal."""
    from api.questions.schemas import WithdrawSchema

    return WithdrawSchema()


@prices.command(
    cls=SchemaCommand, schema=withdrawal, params=[click.Argument(["source"], shell_complete=completer("sources"))]
)
@click.option("--yes", is_flag=True, help="Do not ask before withdrawing.")
def withdraw(source: str, yes: bool, **filters: Any) -> None:
    """Take back the wrong rates of SOURCE that pass the filters. It says which and asks first.

    SOURCE is a price source, or packaged for the prices that ship with costcalc. Nothing is deleted: answers about earlier
    dates still know the rates. A rate that the source goes on listing comes back at the next refresh.
    """
    from api.cli import prices as commands

    with told():
        sys.exit(commands.withdraw(settings_of_environment(), source, texts(filters), yes))


def releasing() -> Schema:
    """The filters of a release."""
    from api.questions.schemas import ReleaseSchema

    return ReleaseSchema()


@prices.command(
    cls=SchemaCommand, schema=releasing, params=[click.Argument(["source"], shell_complete=completer("sources"))]
)
@click.option("--yes", is_flag=True, help="Do not ask before releasing.")
def release(source: str, yes: bool, **filters: Any) -> None:
    """Release rates of SOURCE from quarantine. It says which and asks first; the next refresh takes them over.

    A rate that looks odd is left out, and `costcalc prices status` says why. It is taken over without a release once the
    source has listed it unchanged for a day.
    """
    from api.cli import prices as commands

    with told():
        sys.exit(commands.release(settings_of_environment(), source, texts(filters), yes))


@main.group()
def slack() -> None:
    """Post price alerts to a Slack channel."""


@slack.command()
@click.option(
    "--every", type=click.Choice(["day", "week"]), default="week", show_default=True, help="Period to compare with."
)
@click.option("--moved", default="10%", show_default=True, help="Smallest move to report, such as 10% or 0.1.")
@click.option("--ask", default="resnet50 0.757", show_default=True, help="Question to answer, as typed after /cost.")
@click.option("--dry-run", is_flag=True, help="Print the message without sending it.")
def notice(every: str, moved: str, ask: str, dry_run: bool) -> None:
    """Post to COSTCALC_SLACK_WEBHOOK_URL which prices moved and how the answer to a question changed. Run it from cron."""
    from api.slack import price_alert as slack_notice

    try:
        click.echo(
            slack_notice.notify(settings_of_environment(), slack_notice.AlertRequest(every, moved, ask), dry_run)
        )
    except slack_notice.WrongUse as error:
        stop(error)
    except slack_notice.NotSent as error:
        stop(error, FAILED)
