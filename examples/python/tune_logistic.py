"""The hyper-parameters of a logistic regression, fitted by its own Newton solver.

    python tune_logistic.py [--seed 1] [--effort quick] [--reference]

The leader chooses how strongly three groups of features are penalised (ten means, ten errors and ten worst values of
each sample), so that unseen samples are classified well. The follower fits 31 weights to the samples it sees: a convex
problem that Newton's method solves in a few steps. The data are the breast cancer set of scikit-learn.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import bilevo

SAMPLES, LABELS = load_breast_cancer(return_X_y=True)
SAMPLES = (SAMPLES - SAMPLES.mean(axis=0)) / SAMPLES.std(axis=0)
SAMPLES = np.column_stack([SAMPLES, np.ones(len(SAMPLES))])
#: Every third sample is kept back for the leader.
KEPT = np.arange(len(LABELS)) % 3 == 0
SEEN, SEEN_LABELS, UNSEEN, UNSEEN_LABELS = SAMPLES[~KEPT], LABELS[~KEPT], SAMPLES[KEPT], LABELS[KEPT]
#: Decimal logarithm of the penalty on each group.
BOUNDS = [(-5.0, 1.0)] * 3


def loss(samples: Any, labels: Any, weights: Any) -> float:
    """The mean logistic loss."""
    return float(np.logaddexp(0, -(2 * labels - 1) * (samples @ weights)).mean())


def fit(x: Any) -> bilevo.Answer:
    """The weights that are best for the follower, by Newton's method."""
    hold = np.append(np.repeat(10.0 ** np.asarray(x), 10), 0.0)
    weights = np.zeros(SEEN.shape[1])

    def regularised(weights: Any) -> float:
        return loss(SEEN, SEEN_LABELS, weights) + 0.5 * float(hold @ weights**2)

    for _ in range(100):
        chance = 1 / (1 + np.exp(-SEEN @ weights))
        gradient = SEEN.T @ (chance - SEEN_LABELS) / len(SEEN) + hold * weights
        if np.abs(gradient).max() < 1e-12:
            break
        hessian = (SEEN.T * (chance * (1 - chance))) @ SEEN / len(SEEN) + np.diag(hold)
        step, length = np.linalg.solve(hessian, gradient), 1.0
        # If Newton's step goes too far, half of it.
        while length > 1e-6 and regularised(weights - length * step) > regularised(weights):
            length /= 2
        weights = weights - length * step
    return bilevo.Answer(y=weights, f=regularised(weights))


def unseen_loss(x: Any, answer: bilevo.Answer) -> float:
    return loss(UNSEEN, UNSEEN_LABELS, answer.y)


def solve(seed: int = 1, **options: Any) -> bilevo.Result:
    return bilevo.minimize(unseen_loss, follower=fit, bounds_upper=BOUNDS, seed=seed, name="logistic", **options)


def reference() -> tuple[Any, float, int]:
    """The best of nested COBYQA from eight starts: x, F, and the fits of all of them."""
    from scipy.optimize import minimize

    starts = [[-1.5 + 2 * (k & 1) - 1, -1.5 + (k & 2) - 1, -1.5 + (k & 4) / 2 - 1] for k in range(8)]
    runs = [minimize(lambda x: unseen_loss(x, fit(x)), start, method="COBYQA", bounds=BOUNDS) for start in starts]
    best = min(runs, key=lambda run: run.fun)
    return best.x, best.fun, sum(run.nfev for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description="Hyper-parameters of a logistic regression.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--effort", choices=["quick", "normal"], default="quick")
    parser.add_argument("--reference", action="store_true", help="compare with nested COBYQA (needs SciPy)")
    options = parser.parse_args()
    result = solve(options.seed, effort=options.effort)
    print(f"bilevo         F = {result.fun:.7f} after {result.nfev_lower} fits, x = {result.x.round(2)}")
    if options.reference:
        x, value, fits = reference()
        print(f"nested COBYQA  F = {value:.7f} after {fits} fits, x = {x.round(2)}")


if __name__ == "__main__":
    main()
