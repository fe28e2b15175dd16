"""What Optuna reaches on the test functions, and how long it takes to suggest.

    python3 peers.py regret --sampler tpe --budget 200 --seeds 10 [--function F,G] [--parallel 8]
    python3 peers.py suggest [--sampler tpe,cma] [--most 1000]

`regret` prints the rows that `troupe-bench regret` prints, under the version "optuna-<version>".
Samplers are Optuna's with their own defaults: tpe, tpe_uni (multivariate=False), gp, cma, random,
auto (AutoSampler of OptunaHub, where it is installed). `suggest` prints what `troupe-bench suggest`
prints, for Optuna: {"name": "suggest", "metrics": {"tpe_d10_n1000_ms": ...}}. `beside` prints both.
"""

import argparse
import json
import math
import os
import sys
import time
import warnings

# One thread, as troupe-bench has.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

import suite

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore")


def automatic(seed):
    """AutoSampler, from an installed package or a checkout of the registry: never fetched."""
    import optunahub

    registry = os.environ.get("OPTUNAHUB_REGISTRY")
    if not registry:
        raise SystemExit("peers.py: auto needs OPTUNAHUB_REGISTRY, a local copy of OptunaHub's registry")
    return optunahub.load_local_module("samplers/auto_sampler", registry_root=registry).AutoSampler(seed=seed)


SAMPLERS = {
    "tpe": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "tpe_uni": lambda seed: optuna.samplers.TPESampler(seed=seed, multivariate=False),
    "gp": lambda seed: optuna.samplers.GPSampler(seed=seed),
    "cma": lambda seed: optuna.samplers.CmaEsSampler(seed=seed),
    "random": lambda seed: optuna.samplers.RandomSampler(seed=seed),
    "auto": automatic,
}


def suggest(trial, parameter):
    if isinstance(parameter, suite.Category):
        return trial.suggest_categorical(parameter.name, parameter.choices)
    if isinstance(parameter, suite.Int):
        return trial.suggest_int(
            parameter.name, parameter.low, parameter.high, log=parameter.log, step=parameter.step
        )
    return trial.suggest_float(
        parameter.name, parameter.low, parameter.high, log=parameter.log, step=parameter.step
    )


def evaluate(function, trial):
    if function.space is None:
        return function.value(lambda parameter: suggest(trial, parameter))
    return function.value({parameter.name: suggest(trial, parameter) for parameter in function.space})


def checkpoints(budget):
    counts = [25, 50, 96, 100, 150, 200, *range(300, budget, 100)]
    return [count for count in counts if count < budget] + [budget]


def search(name, function_name, seed, budget, parallel):
    function = suite.function(function_name)
    study = optuna.create_study(sampler=SAMPLERS[name](seed))
    noise = np.random.RandomState(10_000 + seed)
    seconds, duplicates, told = 0.0, 0, 0
    best = (float("inf"), float("inf"))
    seen = set()
    marks = checkpoints(budget)
    while told < budget:
        batch = []
        start = time.thread_time()
        for _ in range(min(parallel, budget - told)):
            trial = study.ask()
            batch.append((trial, evaluate(function, trial)))
        seconds += time.thread_time() - start
        for trial, value in batch:
            observed = value + function.noise * noise.randn()
            best = min(best, (observed, value))
            key = tuple(sorted(trial.params.items()))
            duplicates += key in seen
            seen.add(key)
            start = time.thread_time()
            study.tell(trial, observed)
            seconds += time.thread_time() - start
            told += 1
            if told == marks[0]:
                marks.pop(0)
                sampler = name if parallel == 1 else "%s_p%d" % (name, parallel)
                print(
                    "optuna-%s,%s,%s,%d,%d,%.6g,%.4g,%d"
                    % (optuna.__version__, sampler, function_name, seed, told,
                       best[1] - function.optimum, seconds, duplicates),
                    flush=True,
                )


def regret(arguments):
    functions = arguments.function.split(",") if arguments.function else list(suite.FUNCTIONS)
    for sampler in arguments.sampler.split(","):
        for function in functions:
            for seed in range(arguments.seeds):
                search(sampler, function, seed, arguments.budget, arguments.parallel)


# Observations up to which a sampler answers within seconds.
MOST = {"tpe": 10_000, "gp": 500, "cma": 10_000}
KEYS = {"tpe": "tpe", "gp": "gp", "cma": "cmaes"}


REALS = FloatDistribution(-5, 5), lambda x: x - 1, lambda random: random.uniform(-5, 5)
INTEGERS = (
    IntDistribution(1, 1000, log=True),
    lambda x: math.log(x / 30),
    lambda random: round(math.exp(random.uniform(0, math.log(1000)))),
)


def latency(name, dimensions, observations, kind):
    """As of_generations() and after_observations() of benchmarks/suggest.cpp."""
    distribution, distance, draw = kind
    space = {"x%d" % i: distribution for i in range(dimensions)}
    study = optuna.create_study(sampler=SAMPLERS[name](1))
    random = np.random.RandomState(1)

    def ask_and_tell():
        trial = study.ask(space)
        study.tell(trial, sum(distance(x) ** 2 for x in trial.params.values()))

    if name == "cma":  # goes by its own suggestions alone
        before = observations // 2
        for _ in range(before):
            ask_and_tell()
        start = time.thread_time()
        for _ in range(observations - before):
            ask_and_tell()
        return 1e3 * (time.thread_time() - start) / (observations - before)
    points = [[draw(random) for _ in space] for _ in range(observations)]
    study.add_trials(
        [
            optuna.trial.create_trial(
                params=dict(zip(space, point)),
                distributions=space,
                value=sum(distance(x) ** 2 for x in point),
            )
            for point in points
        ]
    )
    ask_and_tell()
    samples, start = [], time.thread_time()
    while len(samples) < 3 or (len(samples) < 51 and time.thread_time() - start < 1):
        before = time.thread_time()
        ask_and_tell()
        samples.append(1e3 * (time.thread_time() - before))
    return sorted(samples)[(len(samples) - 1) // 2]


def latencies(arguments):
    metrics = {}
    subjects = []
    for name in arguments.sampler.split(",") if arguments.sampler else KEYS:
        subjects.append((name, KEYS.get(name, name), REALS))
        if name == "tpe":
            subjects.append((name, "tpe_int", INTEGERS))
    for name, subject, kind in subjects:
        for dimensions in (5, 10, 50):
            for observations in (100, 500, 1000, 10_000):
                if observations <= min(MOST.get(name, 500), arguments.most):
                    key = "%s_d%d_n%d_ms" % (subject, dimensions, observations)
                    metrics[key] = float("%.4g" % latency(name, dimensions, observations, kind))
                    print("%-24s %10.4f" % (key, metrics[key]), file=sys.stderr, flush=True)
    print(json.dumps({"name": "suggest", "metrics": metrics}))


def beside(arguments):
    """Two files with the last line of `suggest`: ours and Optuna's."""
    ours, theirs = (json.load(open(file))["metrics"] for file in (arguments.ours, arguments.theirs))
    print("%-24s %12s %12s %8s" % ("ms of CPU per ask + tell", "Troupe", "Optuna", "times"))
    for key, value in ours.items():
        if key in theirs:
            print("%-24s %12.4f %12.4f %8.1f" % (key, value, theirs[key], theirs[key] / value))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("regret")
    command.add_argument("--sampler", required=True)
    command.add_argument("--budget", type=int, default=100)
    command.add_argument("--seeds", type=int, default=10)
    command.add_argument("--function", default="")
    command.add_argument("--parallel", type=int, default=1)
    command.set_defaults(run=regret)
    command = commands.add_parser("suggest")
    command.add_argument("--sampler", default="")
    command.add_argument("--most", type=int, default=10_000)
    command.set_defaults(run=latencies)
    command = commands.add_parser("beside")
    command.add_argument("ours")
    command.add_argument("theirs")
    command.set_defaults(run=beside)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
