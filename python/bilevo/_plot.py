"""Figures of runs; needs matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._optional import pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._pareto import Front
    from ._result import Result


def plot_run(result: Result) -> Figure:
    """Both levels of the best solution, and the lower searches, over the evaluations of a run."""
    plt = pyplot()
    history = result.history
    total = [generation.nfev_upper + generation.nfev_lower for generation in history]
    known = result.accuracy is not None
    figure: Figure
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    if known:
        upper = [generation.accuracy for generation in history]
        lower = [generation.lower_accuracy for generation in history]
        axes[0].set_yscale("log")
        axes[0].set_ylabel("distance from the best known value")
    else:
        upper = [generation.fun for generation in history]
        lower = [generation.lower_fun for generation in history]
        axes[0].set_ylabel("objective value")
    axes[0].plot(total, upper, label="upper (F)")
    if any(value is not None for value in lower):
        axes[0].plot(total, [float("nan") if value is None else value for value in lower], "--", label="lower (f)")
    axes[0].set_xlabel("evaluations at both levels")
    axes[0].legend()
    axes[1].plot(total, [generation.n_lower_searches for generation in history], label="run")
    axes[1].plot(total, [generation.n_skipped for generation in history], "--", label="skipped")
    axes[1].set_xlabel("evaluations at both levels")
    axes[1].set_ylabel("lower searches")
    axes[1].legend()
    figure.suptitle(f"{result.problem}: {result.method}, seed {result.seed}")
    return figure


def plot_front(front: Front) -> Figure:
    """The second goal over the first; points that are not verified are hollow."""
    figure: Figure
    figure, axes = pyplot().subplots(figsize=(5, 3.6), layout="constrained")
    axes.plot(front.F[:, 0], front.F[:, 1], color="tab:blue", linewidth=1)
    for verified, face, words in ((True, "tab:blue", "verified"), (False, "white", "not verified")):
        points = front.F[front.verified == verified]
        if len(points):
            axes.plot(points[:, 0], points[:, 1], "o", color="tab:blue", markerfacecolor=face, label=words)
    axes.set_xlabel("first goal")
    axes.set_ylabel("second goal")
    axes.legend()
    return figure
