"""Reads launch files with the launchers' own parsers: a program for the environment build/launchers.

Standard input has a JSON list of [launcher, text]; standard output gets what each parser made of it, or its complaint.
"""

import json
import sys


def skypilot(text):
    """The nodes, the environment, and each resource as SkyPilot understands it."""
    import sky
    import yaml

    task = sky.Task.from_yaml_config(yaml.safe_load(text))
    resources = [
        {
            "cloud": str(one.cloud).lower(),
            "region": one.region,
            "instance_type": one.instance_type,
            "accelerators": one._accelerators,  # the public name looks machine types up in a catalogue on GitHub
            "use_spot": one.use_spot,
            "disk": one.disk_size,
        }
        for one in task.resources
    ]
    return {"nodes": task.num_nodes, "envs": task.envs, "run": task.run, "resources": resources}


def dstack(text):
    """The configuration as dstack understands it."""
    import yaml
    from dstack._internal.core.models.configurations import parse_apply_configuration

    read = parse_apply_configuration(yaml.safe_load(text))
    return {
        "nodes": read.nodes,
        "envs": dict(read.env.as_dict()),
        "run": read.commands,
        "backends": [backend.value for backend in read.backends],
        "regions": read.regions,
        "instance_types": read.instance_types,
        "accelerators": read.resources.gpu.count.min,
        "spot": read.spot_policy.value,
        "disk": read.resources.disk.size.min,
        "max_price": read.max_price,
    }


def read(launcher, text):
    """What the launcher's parser makes of a file, or why it refuses it."""
    try:
        return {"skypilot": skypilot, "dstack": dstack}[launcher](text)
    except Exception as error:  # noqa: BLE001  whatever a parser raises is its verdict
        return {"refused": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    files = json.load(sys.stdin)
    json.dump([read(*each) for each in files], sys.__stdout__)
