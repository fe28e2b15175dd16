"""Makes xgb_credit.table: gradient boosted trees on the German credit data.

    apt-get download weka && dpkg-deb -x weka_*.deb weka     # has credit-g.arff; needs no Java
    python3 xgb_credit.py weka/usr/share/doc/weka/examples/credit-g.arff xgb_credit.table
"""

import sys

import numpy as np
import xgboost

import table

ABOUT = """Log loss of XGBoost on the German credit data (credit-g: 1,000 people, 20 properties, good or bad),
as a function of six parameters. Mean of two folds, each the test set of the other. A step is the
number of boosting rounds. Made by xgb_credit.py; lexicographic order, the last parameter fastest."""
STEPS = [1, 2, 3, 4, 6, 9, 13, 18, 27, 40, 54, 81]
# log2_min_child is that of the least sum of weights in a leaf, log2_lambda that of the L2 penalty.
PARAMETERS = [
    ("log2_eta", -7, 1, 7),
    ("max_depth", 2, 2, 5),
    ("log2_min_child", 0, 2, 3),
    ("subsample", 0.5, 0.5, 2),
    ("colsample", 0.5, 0.5, 2),
    ("log2_lambda", 0, 3, 2),
]


def read_arff(file):
    """Numbers as they are, names as one column each."""
    kinds, rows = [], []
    for line in open(file):
        line = line.strip()
        if line.lower().startswith("@attribute"):
            kinds.append("{" in line)
        elif line and line[0] not in "%@":
            rows.append(line.split(","))
    columns = []
    for index, named in enumerate(kinds[:-1]):
        values = [row[index].strip() for row in rows]
        if named:
            columns += [[float(v == name) for v in values] for name in sorted(set(values))]
        else:
            columns.append([float(v) for v in values])
    labels = [float(row[-1].strip() == "bad") for row in rows]
    return np.array(columns).T, np.array(labels)


def main():
    data, labels = read_arff(sys.argv[1])
    order = np.random.RandomState(0).permutation(len(labels))
    data, labels = data[order], labels[order]
    half = len(labels) // 2
    parts = [xgboost.DMatrix(data[s], labels[s]) for s in (slice(half), slice(half, None))]

    def curve(log2_eta, max_depth, log2_min_child, subsample, colsample, log2_lambda):
        options = {
            "objective": "binary:logistic",
            "eval_metric": "logloss",
            "tree_method": "hist",
            "max_bin": 32,
            "nthread": 1,
            "seed": 1,
            "eta": 2.0**log2_eta,
            "max_depth": max_depth,
            "min_child_weight": 2.0**log2_min_child,
            "subsample": subsample,
            "colsample_bytree": colsample,
            "lambda": 2.0**log2_lambda,
        }
        losses = np.zeros(STEPS[-1])
        for train, test in (parts, reversed(parts)):
            history = {}
            xgboost.train(
                options, train, STEPS[-1], evals=[(test, "test")], evals_result=history, verbose_eval=False
            )
            losses += history["test"]["logloss"]
        return [losses[step - 1] / 2 for step in STEPS]

    table.write(sys.argv[2], ABOUT, "xgb_credit", "loss", PARAMETERS, STEPS, 1e-4, curve)


if __name__ == "__main__":
    main()
