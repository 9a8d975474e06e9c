"""`make cluster`: the topology of `deploy/compose.yaml` on this machine without containers, until Ctrl-C.

It needs PostgreSQL, Redis and nginx; on Debian: apt-get install postgresql redis-server nginx-light. COSTCALC_ settings of the
environment apply to every server. What it stores goes with it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys

from tools.cluster.cluster import Cluster, Ports, running
from tools.cluster.program import NotStarted

STOPS = (signal.SIGTERM, signal.SIGINT)


def main() -> int:
    """Starts everything, prints the addresses, and waits."""
    parser = argparse.ArgumentParser(prog="python -m tools.cluster", description=__doc__)
    parser.add_argument(
        "--port", type=int, default=8080, help="nginx's; servers take the next ones, Redis the tenth after"
    )
    parser.add_argument("--servers", type=int, default=2, choices=range(1, 10), help="how many servers of costcalc")
    given = parser.parse_args()
    given_settings = {name: value for name, value in os.environ.items() if name.startswith("COSTCALC_")}
    settings = {"COSTCALC_REFRESH": "1h", **given_settings}
    for each in STOPS:  # a shell's background commands begin with SIGINT ignored
        signal.signal(each, stop)
    try:
        with running(Ports.from_first(given.port, given.servers), **settings) as cluster:
            tell(cluster)
            signal.pause()
    except NotStarted as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def stop(*_: object) -> None:
    """Ends the waiting. Who asks again, while everything is stopped, would leave the rest of it running."""
    for each in STOPS:
        signal.signal(each, signal.SIG_IGN)
    print("stopping", flush=True)
    raise KeyboardInterrupt


def tell(cluster: Cluster) -> None:
    """Prints where everything is."""
    print(f"costcalc     {cluster.url}")
    for port in cluster.ports.servers:
        print(f"  a server   http://127.0.0.1:{port} (its metrics: /metrics)")
    print(f"  PostgreSQL {cluster.database_url}")
    print(f"  Redis      {cluster.settings['COSTCALC_REDIS_URL']}")
    print(f"  logs       {cluster.folder}")
    print("Ctrl-C stops it and removes what it stored.", flush=True)


if __name__ == "__main__":
    sys.exit(main())
