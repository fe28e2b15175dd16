"""Densities of Optuna 5.0.0's Parzen estimators, which parzen.txt holds: python3 parzen.py > parzen.txt

Each group: a line with the number of observations, the observations, and four points with their log
density. Where a parameter is logarithmic Optuna's density is that of the logarithm."""

import numpy as np
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers._tpe.parzen_estimator import _ParzenEstimator, _ParzenEstimatorParameters
from optuna.samplers._tpe.sampler import default_weights

SPACE = {
    "a": FloatDistribution(-5, 10),
    "b": FloatDistribution(1e-6, 1, log=True),
    "c": IntDistribution(0, 20),
    "d": IntDistribution(16, 1024, log=True),
    "e": FloatDistribution(0, 0.5, step=0.05),
    "f": CategoricalDistribution(["x", "y", "z"]),
}
random = np.random.RandomState(5)


def draw(count):
    return {
        "a": random.uniform(-5, 10, count),
        "b": np.exp(random.uniform(np.log(1e-6), 0, count)),
        "c": random.randint(0, 21, count).astype(float),
        "d": np.floor(np.exp(random.uniform(np.log(16), np.log(1024), count))),
        "e": np.round(random.randint(0, 11, count) * 0.05, 10),
        "f": random.randint(0, 3, count).astype(float),
    }


for count in (0, 1, 2, 7, 40, 110):
    observations = draw(count)
    estimator = _ParzenEstimator(
        observations, SPACE, _ParzenEstimatorParameters(1.0, True, False, default_weights, True)
    )
    points = draw(4)
    densities = estimator.log_pdf(points)
    print(count)
    for i in range(count):
        print(*["%.17g" % observations[name][i] for name in SPACE])
    for i in range(4):
        print(*["%.17g" % points[name][i] for name in SPACE], "%.17g" % densities[i])
