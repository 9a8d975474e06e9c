"""The command `costcalc`, also as `python -m costcalc`."""

from api.cli.main import main

if __name__ == "__main__":
    main(prog_name="costcalc")
