"""Writes the tables that benchmarks/task_table.hpp reads."""

import itertools
import json


def write(file, about, name, metric, parameters, steps, unit, curve):
    """`parameters`: (name, low, step, count) of whole numbers or multiples of a step. `curve` takes
    the values of a configuration and gives its metric after each of `steps`; stored in `unit`s."""
    grids = [[low + i * step for i in range(count)] for _, low, step, count in parameters]
    with open(file, "w") as out:
        for line in about.strip().split("\n"):
            out.write("# %s\n" % line)
        header = {
            "name": name,
            "metric": metric,
            "unit": unit,
            "steps": steps,
            "parameters": [
                {"name": n, "low": low, "step": step, "count": count} for n, low, step, count in parameters
            ],
        }
        out.write(json.dumps(header) + "\n")
        for values in itertools.product(*grids):
            out.write(" ".join(str(round(value / unit)) for value in curve(*values)) + "\n")
            out.flush()
