"""The topology of `deploy/compose.yaml` on this machine without containers: nginx, servers of costcalc, PostgreSQL and Redis."""
