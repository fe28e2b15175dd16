"""RS-23, the functions of benchmarks/suite.hpp, for optimisers in Python. All are minimised.

FUNCTIONS: name -> Function(space, value, optimum, noise); `function` also knows the real tasks of
benchmarks/tasks. A space is a list of parameters; that of
`cond` is None, and its value takes a function `suggest(parameter)` in place of a dictionary.
The made-up data come from splitmix64 and are those of the C++ functions to the last bit; sums run
through `total`, because the built-in sum of Python 3.12 and later rounds differently.
"""

import json
import math
import os
from typing import Callable, NamedTuple, Optional

import numpy as np


class Float(NamedTuple):
    name: str
    low: float
    high: float
    log: bool = False
    step: Optional[float] = None


class Int(NamedTuple):
    name: str
    low: int
    high: int  # included
    log: bool = False
    step: int = 1


class Category(NamedTuple):
    name: str
    choices: list


class Function(NamedTuple):
    space: Optional[list]
    value: Callable
    optimum: float = 0.0
    noise: float = 0.0


def total(numbers):
    result = 0.0
    for number in numbers:
        result += number
    return result


class SplitMix:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53

    def normal(self):
        a = 1.0 - self.uniform()
        b = self.uniform()
        return math.sqrt(-2 * math.log(a)) * math.cos(2 * math.pi * b)

    def vector(self, size, low, high):
        return np.array([low + (high - low) * self.uniform() for _ in range(size)])

    def rotation(self, size):
        rows = [[self.normal() for _ in range(size)] for _ in range(size)]
        for i in range(size):
            for j in range(i):
                p = total(rows[i][k] * rows[j][k] for k in range(size))
                rows[i] = [rows[i][k] - p * rows[j][k] for k in range(size)]
            norm = math.sqrt(total(v * v for v in rows[i]))
            rows[i] = [v / norm for v in rows[i]]
        return np.array(rows)


def instance(seed, size):
    """Optimum, rotation, second rotation."""
    random = SplitMix(seed)
    return random.vector(size, -4, 4), random.rotation(size), random.rotation(size)


def box(size, low, high):
    return [Float("x%d" % i, low, high) for i in range(size)]


def of_vector(function):
    def value(p):
        return float(function(np.array([p["x%d" % i] for i in range(len(p))], float)))

    return value


def branin(p):
    b = 5.1 / (4 * math.pi**2)
    c = 5 / math.pi
    x, y = p
    return (y - b * x * x + c * x - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def camel(p):
    x, y = p
    return (4 - 2.1 * x * x + x**4 / 3) * x * x + x * y + (-4 + 4 * y * y) * y * y


def hartmann(width, place):
    width, place = np.array(width, float), 1e-4 * np.array(place, float)
    height = np.array([1, 1.2, 3, 3.2])
    return lambda x: -np.sum(height * np.exp(-np.sum(width * (x - place) ** 2, axis=1)))


HARTMANN3 = hartmann(
    [[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]],
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]],
)
HARTMANN6 = hartmann(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]],
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ],
)
SHEKEL_WIDTH = 0.1 * np.array([1, 2, 2, 4, 4, 6, 3, 7, 5, 5.0])
SHEKEL_CENTRE = np.array([[4, 1, 8, 6, 3, 2, 5, 8, 6, 7], [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6]] * 2, float)


def shekel(x):
    return -sum(1 / (np.sum((x - SHEKEL_CENTRE[:, i]) ** 2) + SHEKEL_WIDTH[i]) for i in range(10))


def levy(x):
    w = 1 + (x - 1) / 4
    return (
        math.sin(math.pi * w[0]) ** 2
        + np.sum((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(math.pi * w[:-1] + 1) ** 2))
        + (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)
    )


def styblinski(x):
    return 0.5 * np.sum(x**4 - 16 * x**2 + 5 * x)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def ackley(z):
    return (
        -20 * math.exp(-0.2 * math.sqrt(np.mean(z * z)))
        - math.exp(np.mean(np.cos(2 * math.pi * z)))
        + 20
        + math.e
    )


def rastrigin(z):
    return np.sum(z * z - 10 * np.cos(2 * math.pi * z) + 10)


def shifted(seed, size, reach, function):
    optimum = SplitMix(seed).vector(size, -reach, reach)
    return of_vector(lambda x: function(x - optimum))


def rotated(seed, function):
    return of_vector(lambda x, data=instance(seed, 5): function(x, *data))


def ellipsoid(x, optimum, rotation, _):
    z = rotation @ (x - optimum)
    return np.sum(10.0 ** (6 * np.arange(5) / 4) * z * z)


def rotated_rosenbrock(x, optimum, rotation, _):
    z = rotation @ (x - optimum) + 1
    return np.sum(100 * (z[:-1] ** 2 - z[1:]) ** 2 + (z[:-1] - 1) ** 2)


def rotated_rastrigin(x, optimum, rotation, second):
    return rastrigin(rotation @ (10.0 ** (0.5 * np.arange(5) / 4) * (second @ (x - optimum))))


def schaffers(x, optimum, rotation, second):
    z = 10.0 ** (0.5 * np.arange(5) / 4) * (second @ (rotation @ (x - optimum)))
    s = np.sqrt(z[:-1] ** 2 + z[1:] ** 2)
    return np.mean(np.sqrt(s) + np.sqrt(s) * np.sin(50 * s**0.2) ** 2) ** 2


def gallagher():
    random = SplitMix(115)
    rotation = random.rotation(5)
    centres = [random.vector(5, -4, 4) for _ in range(21)]
    heights = [10.0] + [1.1 + 8 * (i - 2) / 19 for i in range(2, 22)]
    alphas = [1000.0] + [1000.0 ** (2 * j / 19) for j in range(20)]

    def value(x):
        highest = -1e300
        for height, alpha, centre in zip(heights, alphas, centres):
            z = rotation @ (x - centre)
            scale = alpha ** (0.5 * np.arange(5) / 4) / alpha**0.25
            highest = max(highest, height * math.exp(-float(np.sum(scale * z * z)) / 10))
        return (10 - highest) ** 2

    return of_vector(value)


def mixed(p):
    o = {"sgd": 0, "adam": 1, "rmsprop": 2}[p["opt"]]
    a = math.log10(p["lr"]) + 3.0 - [1.0, 0.0, 0.3][o]  # each optimiser has its own best rate
    b = math.log10(p["wd"]) + 5.0
    u = math.log2(p["units"]) - 8.0
    l = p["layers"] - 3
    d = (p["dropout"] - 0.2) / 0.1
    return (
        0.3 * a * a + 0.05 * b * b + 0.1 * u * u + 0.05 * l * l + 0.08 * (u + 0.5 * l) ** 2
        + 0.04 * d * d + 0.05 * abs(a * b) + [0.6, 0.0, 0.2][o]
    )


def integer_quadratic():
    random = SplitMix(121)
    optimum = np.array([1 + int(random.uniform() * 19) for _ in range(6)], float)
    rotation = random.rotation(6)

    def value(x):
        z = rotation @ (x - optimum)
        return np.sum(10.0 ** (2 * np.arange(6) / 5) * z * z)

    return of_vector(value)


def categories():
    random = SplitMix(122)
    alone = [[random.uniform() for _ in range(6)] for _ in range(8)]
    best = [min(range(6), key=lambda j: costs[j]) for costs in alone]
    alone = [[cost - min(costs) for cost in costs] for costs in alone]
    beside = [[[random.uniform() for _ in range(6)] for _ in range(6)] for _ in range(7)]
    for i in range(7):
        beside[i][best[i]][best[i + 1]] = 0.0

    def value(p):
        c = [int(p["c%d" % i][1:]) for i in range(8)]
        return (
            total(alone[i][c[i]] for i in range(8))
            + 0.5 * total(beside[i][c[i]][c[i + 1]] for i in range(7))
            + 4 * ((p["x0"] - 0.3) ** 2 + (p["x1"] - 0.7) ** 2)
        )

    return value


def conditional(suggest):
    booster = suggest(Category("booster", ["gbtree", "gblinear", "dart"]))
    if booster == "gblinear":
        l = math.log10(suggest(Float("lambda", 1e-8, 1.0, log=True)))
        a = math.log10(suggest(Float("alpha", 1e-8, 1.0, log=True)))
        return 0.15 + 0.02 * (l + 4) ** 2 + 0.02 * (a + 3) ** 2
    d = suggest(Int("depth", 1, 12)) - 7
    e = math.log10(suggest(Float("eta", 1e-4, 1.0, log=True))) + 1.5
    v = 0.03 * d**2 + 0.2 * e**2 + 0.02 * abs(d * e)
    if booster == "gbtree":
        return v + 0.05
    rate = suggest(Float("rate_drop", 0.0, 1.0))
    k = math.log10(suggest(Float("skip", 1e-6, 1.0, log=True)))
    return v + 3 * (rate - 0.15) ** 2 + 0.02 * (k + 4) ** 2


MIXED_SPACE = [
    Float("lr", 1e-6, 1.0, log=True),
    Float("wd", 1e-8, 1e-1, log=True),
    Int("layers", 1, 6),
    Int("units", 16, 1024, log=True),
    Category("opt", ["sgd", "adam", "rmsprop"]),
    Float("dropout", 0.0, 0.5, step=0.05),
]
CATEGORY_SPACE = [Category("c%d" % i, ["v%d" % j for j in range(6)]) for i in range(8)] + box(2, 0.0, 1.0)
INTEGER_SPACE = [Int("x%d" % i, 0, 20) for i in range(6)]
BRANIN_SPACE = [Float("x0", -5.0, 10.0), Float("x1", 0.0, 15.0)]
CAMEL_SPACE = [Float("x0", -3.0, 3.0), Float("x1", -2.0, 2.0)]
HARTMANN6_OPTIMUM = -3.322368011415515

FUNCTIONS = {
    "branin2": Function(BRANIN_SPACE, of_vector(branin), 0.39788735772973816),
    "camel2": Function(CAMEL_SPACE, of_vector(camel), -1.0316284534898774),
    "hartmann3": Function(box(3, 0.0, 1.0), of_vector(HARTMANN3), -3.8627797869493365),
    "hartmann6": Function(box(6, 0.0, 1.0), of_vector(HARTMANN6), HARTMANN6_OPTIMUM),
    "shekel4": Function(box(4, 0.0, 10.0), of_vector(shekel), -10.536443153483534),
    "levy5": Function(box(5, -10.0, 10.0), of_vector(levy)),
    "levy10": Function(box(10, -10.0, 10.0), of_vector(levy)),
    "styblinski5": Function(box(5, -5.0, 5.0), of_vector(styblinski), -39.16616570377141 * 5),
    "rosenbrock5": Function(box(5, -5.0, 10.0), of_vector(rosenbrock)),
    "ackley5s": Function(box(5, -32.768, 32.768), shifted(101, 5, 16, ackley)),
    "rastrigin5s": Function(box(5, -5.0, 5.0), shifted(102, 5, 4, rastrigin)),
    "sphere10s": Function(box(10, -5.0, 5.0), shifted(103, 10, 4, lambda z: np.sum(z**2))),
    "ellipsoid5r": Function(box(5, -5.0, 5.0), rotated(111, ellipsoid)),
    "rosenbrock5r": Function(box(5, -5.0, 5.0), rotated(112, rotated_rosenbrock)),
    "rastrigin5r": Function(box(5, -5.0, 5.0), rotated(113, rotated_rastrigin)),
    "schaffers5r": Function(box(5, -5.0, 5.0), rotated(114, schaffers)),
    "gallagher5r": Function(box(5, -5.0, 5.0), gallagher()),
    "mixed6": Function(MIXED_SPACE, mixed),
    "intquad6": Function(INTEGER_SPACE, integer_quadratic()),
    "cat8": Function(CATEGORY_SPACE, categories()),
    "cond": Function(None, conditional),
    "hartmann6n": Function(box(6, 0.0, 1.0), of_vector(HARTMANN6), HARTMANN6_OPTIMUM, 0.2),
    "levy5n": Function(box(5, -10.0, 10.0), of_vector(levy), 0.0, 2.0),
}


def read_task(file):
    """A table as benchmarks/task_table.hpp reads it: the last value of each configuration."""
    with open(file) as stream:
        lines = [line for line in stream if not line.startswith("#")]
    header = json.loads(lines[0])
    finals = [int(line.split()[-1]) * header["unit"] for line in lines[1:]]
    space = []
    for p in header["parameters"]:
        high = p["low"] + p["step"] * (p["count"] - 1)
        whole = isinstance(p["low"], int) and isinstance(p["step"], int)
        kind = Int if whole else Float
        space.append(kind(p["name"], p["low"], high, False, p["step"]))

    def value(config):
        row = 0
        for p in header["parameters"]:
            row = row * p["count"] + round((config[p["name"]] - p["low"]) / p["step"])
        return finals[row]

    return Function(space, value, min(finals))


def function(name):
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    tasks = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tasks")
    return read_task(os.path.join(tasks, name + ".table"))
