"""Writes scipy.json: samples and what SciPy and NumPy say about them.

Run as `python3 make_scipy.py` with SciPy installed; the tests only read the file.
"""

import json
import pathlib

import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(20240607)
evals = lambda size, centre: np.rint(rng.lognormal(np.log(centre), 0.25, size)).tolist()
pairs = {
    "one against one": ([1.0], [2.0]),
    "one against three": ([2.5], [1.0, 2.0, 3.0]),
    "two against two, apart": ([1.0, 2.0], [3.0, 4.0]),
    "3 against 3, mixed": ([1.0, 4.0, 5.0], [2.0, 3.0, 6.0]),
    "5 against 8, no ties": (rng.normal(0, 1, 5).tolist(), rng.normal(1.2, 1, 8).tolist()),
    "8 against 5, no ties": (rng.normal(0, 1, 8).tolist(), rng.normal(1.2, 1, 5).tolist()),
    "8 against 8, no ties": (rng.normal(0, 1, 8).tolist(), rng.normal(0.8, 1, 8).tolist()),
    "8 against 200, no ties": (rng.normal(0, 1, 8).tolist(), rng.normal(0.5, 1, 200).tolist()),
    "8 against 8, apart": ([float(i) for i in range(8)], [float(i) for i in range(10, 18)]),
    "9 against 9, no ties": (rng.normal(0, 1, 9).tolist(), rng.normal(0.8, 1, 9).tolist()),
    "4 against 6, ties": ([1.0, 2.0, 2.0, 3.0], [2.0, 3.0, 3.0, 4.0, 5.0, 5.0]),
    "zeros of both signs": ([-0.0, 0.0, 1.0], [0.0, -0.0, 2.0]),
    "all equal": ([3.0] * 5, [3.0] * 7),
    "all equal, one each": ([3.0], [3.0]),
    "21 against 21, close": (rng.normal(0, 1, 21).tolist(), rng.normal(0.3, 1, 21).tolist()),
    "21 against 21, apart": (evals(21, 12800), evals(21, 20300)),
    "21 against 21, first larger": (evals(21, 20300), evals(21, 12800)),
    "21 against 21, many ties": (rng.integers(0, 4, 21).astype(float).tolist(), rng.integers(1, 5, 21).astype(float).tolist()),
    "21 against 21, floor at 1e-6": (
        np.maximum(1e-6, rng.lognormal(-14, 1, 21)).tolist(),
        np.maximum(1e-6, rng.lognormal(-13.5, 1, 21)).tolist(),
    ),
    "20 against 31": (rng.normal(0, 1, 20).tolist(), rng.normal(-1, 2, 31).tolist()),
    "extreme magnitudes": ([1e-300, 1e300, -1e300, 5.0], [1e-310, 1e308, 0.0, -5.0, 7.0]),
}

tests = []
for name, (a, b) in pairs.items():
    result = stats.mannwhitneyu(a, b, alternative="two-sided", method="auto")
    tests.append({"name": name, "first": a, "second": b, "u": float(result.statistic), "p": float(result.pvalue)})

samples = [[4.0], [1.0, 2.0], [3.0, 1.0, 2.0], [1e-6, 3e-7, 5.0, 2.0], evals(21, 12800), rng.normal(0, 1, 20).tolist()]
quantiles = [
    {"sample": s, "p": [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0], "value": np.quantile(s, [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]).tolist(), "mean": float(np.mean(s))}
    for s in samples
]

# R's p.adjust(p, "holm") by its definition; SciPy has none, so the values are spelled out with NumPy.
def holm(p):
    p = np.asarray(p)
    order = np.argsort(p, kind="stable")
    scaled = np.minimum(1.0, np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p)))))
    out = np.empty(len(p))
    out[order] = scaled
    return out.tolist()

families = [[0.01, 0.04, 0.03, 0.005], [0.9, 0.8], [0.02, 0.02, 0.02], [0.5], [], rng.uniform(0, 0.2, 12).tolist()]
out = {
    "made_by": f"make_scipy.py with SciPy {scipy.__version__}, NumPy {np.__version__}",
    "rank_sum": tests,
    "quantiles": quantiles,
    "holm": [{"p": f, "adjusted": holm(f)} for f in families],
}
path = pathlib.Path(__file__).with_name("scipy.json")
path.write_text(json.dumps(out, indent=1, allow_nan=False) + "\n")
