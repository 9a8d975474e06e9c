"""No module needs itself by way of others, types included; the contracts of `make check` say who may import whom."""

from graphlib import TopologicalSorter

import grimp


def test_no_modules_import_each_other_in_a_circle():
    graph = grimp.build_graph("costcalc", "pricing", "own_runs", "api", "science", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # which raises CycleError, and names the circle
