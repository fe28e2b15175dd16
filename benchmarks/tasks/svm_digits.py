"""Makes svm_digits.table: a support vector machine on the handwritten digits of scikit-learn.

    python3 svm_digits.py svm_digits.table
"""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC

import table

ABOUT = """Error of a support vector machine (RBF kernel) on the digits of scikit-learn, 1,797 images of
8 x 8 pixels, as a function of log2 C and log2 gamma. Mean of two folds, each the test set of the
other. A step is the number of training images. Made by svm_digits.py; lexicographic order, the last
parameter fastest."""
STEPS = [224, 898]


def main():
    pixels, labels = load_digits(return_X_y=True)
    pixels = pixels / 16
    order = np.random.RandomState(0).permutation(len(labels))
    pixels, labels = pixels[order], labels[order]
    half = STEPS[-1]
    distances = euclidean_distances(pixels, squared=True)
    folds = [(np.arange(half), np.arange(half, 2 * half)), (np.arange(half, 2 * half), np.arange(half))]
    kernels = {}

    def curve(log2_c, log2_gamma):
        if log2_gamma not in kernels:
            kernels[log2_gamma] = np.exp(-(2.0**log2_gamma) * distances)
        kernel = kernels[log2_gamma]
        for count in STEPS:
            wrong = 0
            for train, test in folds:
                train = train[:count]
                model = SVC(C=2.0**log2_c, kernel="precomputed", cache_size=100)
                model.fit(kernel[np.ix_(train, train)], labels[train])
                wrong += np.sum(model.predict(kernel[np.ix_(test, train)]) != labels[test])
            yield wrong / (2 * half)

    parameters = [("log2_c", -5, 1, 21), ("log2_gamma", -15, 1, 19)]
    table.write(sys.argv[1], ABOUT, "svm_digits", "error", parameters, STEPS, 1e-4, curve)


if __name__ == "__main__":
    main()
