"""Writes what the C++ functions are tested against: python3 golden.py > tests/golden/benchmarks/suite.json

Five random points a function with their values, and the made-up data of the rotated functions."""

import json
import math

import suite


def draw(random, parameter):
    if isinstance(parameter, suite.Category):
        return parameter.choices[int(random.uniform() * len(parameter.choices))]
    low, high = parameter.low, parameter.high
    if isinstance(parameter, suite.Int):
        return low + int(random.uniform() * (high - low + 1))
    if parameter.log:
        return math.exp(math.log(low) + (math.log(high) - math.log(low)) * random.uniform())
    if parameter.step:
        return low + parameter.step * int(random.uniform() * (round((high - low) / parameter.step) + 1))
    return low + (high - low) * random.uniform()


def point(random, function):
    config = {}

    def suggest(parameter):
        config[parameter.name] = draw(random, parameter)
        return config[parameter.name]

    if function.space is None:
        return config, function.value(suggest)
    for parameter in function.space:
        suggest(parameter)
    return config, function.value(config)


def main():
    random = suite.SplitMix(2023)
    points = []
    for name, function in suite.FUNCTIONS.items():
        for _ in range(5):
            config, value = point(random, function)
            points.append({"function": name, "config": config, "value": value})
    instances = []
    for seed in (111, 112, 113, 114):
        optimum, rotation, second = (data.tolist() for data in suite.instance(seed, 5))
        instances.append({"seed": seed, "optimum": optimum, "rotation": rotation, "second_rotation": second})
    print('{"points": [')
    print(",\n".join(json.dumps(p) for p in points))
    print('],\n"instances": [')
    print(",\n".join(json.dumps(i) for i in instances))
    print("]}")


if __name__ == "__main__":
    main()
