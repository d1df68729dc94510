"""Tuning a support vector machine as a bilevel problem, against random search at the same cost.

    python tune_svr.py [--budget 40] [--workers 2] [--seed 1]

The diabetes data of scikit-learn are split into three parts. The follower chooses C and gamma of the machine to
predict well in cross-validation on the first part. The leader weights the groups of features so that the machine tuned
in this way predicts well on the second part, which the follower never sees. The third part judges the outcome.
scikit-learn's own random search gets the same parameters, the first two parts, and as many fits.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, RandomizedSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR

import bilevo

#: Features that share a weight: age and sex, body mass, blood pressure, six blood values.
GROUPS = [[0, 1], [2], [3], [4, 5, 6, 7, 8, 9]]
FOLDS = 3

X, TARGET = load_diabetes(return_X_y=True)
REST, TEST, REST_TARGET, TEST_TARGET = train_test_split(X, TARGET, test_size=0.25, random_state=0)
TRAIN, VALID, TRAIN_TARGET, VALID_TARGET = train_test_split(REST, REST_TARGET, test_size=0.33, random_state=0)


def weigh(features: Any, weights: Any) -> Any:
    """The features, each multiplied by the weight of its group."""
    factors = np.empty(features.shape[1])
    for group, weight in zip(GROUPS, weights):
        factors[group] = weight
    return features * factors


def machine(weights: Any, log_c: float, log_gamma: float) -> Any:
    weighing = FunctionTransformer(weigh, kw_args={"weights": tuple(weights)})
    return make_pipeline(StandardScaler(), weighing, SVR(C=10.0**log_c, gamma=10.0**log_gamma))


def squared_error(model: Any, features: Any, target: Any) -> float:
    return float(np.mean((model.predict(features) - target) ** 2))


def upper(x: Any, y: Any) -> float:
    """Error on data the follower has not seen."""
    return squared_error(machine(x, *y).fit(TRAIN, TRAIN_TARGET), VALID, VALID_TARGET)


def lower(x: Any, y: Any) -> float:
    """Error in cross-validation on the follower's own data."""
    scores = cross_val_score(
        machine(x, *y), TRAIN, TRAIN_TARGET, cv=KFold(FOLDS), scoring="neg_mean_squared_error", error_score="raise"
    )
    return float(-scores.mean())


def solve(budget: int, seed: int, workers: int | None) -> bilevo.Result:
    return bilevo.minimize(
        upper, lower,
        bounds_upper=[(0, 2)] * len(GROUPS),
        bounds_lower=[(0, 3), (-4, 1)],
        seed=seed, workers=workers, budget={"upper": budget, "lower": 25 * budget}, name="svr",
    )  # fmt: skip


def random_search(fits: int, seed: int) -> Any:
    """The machine that scikit-learn's random search finds with about as many fits."""
    dice = np.random.default_rng(seed)
    rounds = max(fits // FOLDS, 1)
    weights = [tuple(row) for row in dice.uniform(0, 2, (rounds, len(GROUPS)))]
    choices = {
        "functiontransformer__kw_args": [{"weights": row} for row in weights],
        "svr__C": 10.0 ** dice.uniform(0, 3, rounds),
        "svr__gamma": 10.0 ** dice.uniform(-4, 1, rounds),
    }
    search = RandomizedSearchCV(
        machine([1.0] * len(GROUPS), 0, 0), choices, n_iter=rounds, cv=KFold(FOLDS), random_state=seed,
        scoring="neg_mean_squared_error",
    )  # fmt: skip
    return search.fit(REST, REST_TARGET).best_estimator_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=int, default=40, help="upper evaluations")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    result = solve(arguments.budget, arguments.seed, arguments.workers)
    print(result)
    fits = result.nfev_upper + FOLDS * result.nfev_lower
    found = machine(result.x, *result.y).fit(REST, REST_TARGET)
    other = random_search(fits, arguments.seed)
    plain = make_pipeline(StandardScaler(), SVR()).fit(REST, REST_TARGET)
    print(f"root of the mean squared error on the test part, {fits} fits each:")
    for name, model in (("bilevel", found), ("random search", other), ("no tuning", plain)):
        print(f"  {name:14} {math.sqrt(squared_error(model, TEST, TEST_TARGET)):.2f}")


if __name__ == "__main__":
    main()
