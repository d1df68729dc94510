"""A plant and its controller: some designs cannot be operated at all.

    python plant.py [--seed 1] [--effort normal] [--reference]

The plant is a stirred tank with an exothermic reaction. The designer (the leader) chooses the volume of the tank, the
area that cools it, and the temperature to hold. The control engineer (the follower) then tunes the cooling for that
design: the gains that are best for a quadratic criterion, from the Riccati equation of the plant around its steady
state. The leader pays for the tank and for how far the temperature strays after a disturbance of the feed, which is
simulated with the nonlinear equations.

If there is no steady state, or the reactor runs away, an exception is raised: the design counts as failed, and the
run continues.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import bilevo

#: Volume in m3, cooling area in m2, temperature in K.
BOUNDS = [(0.5, 4.0), (1.0, 12.0), (330.0, 380.0)]
FEED, FEED_TEMPERATURE, FEED_CONCENTRATION = 0.1, 320.0, 1.0   # m3/min, K, kmol/m3
RATE, ACTIVATION = 7.2e10, 8750.0                              # 1/min, K
HEAT, TRANSFER = 209.2, 0.35                                   # K m3/kmol, m/min of area (in units of rho cp)
COLDEST, HOTTEST = 280.0, 345.0                                # coolant, K
RUNAWAY = 420.0


class Unworkable(RuntimeError):
    """A design that cannot be operated."""


def slope(design: Any, state: Any, coolant: float, feed_temperature: float) -> Any:
    """How concentration and temperature change."""
    volume, area, _ = design
    concentration, temperature = state
    reaction = RATE * np.exp(-ACTIVATION / temperature) * concentration
    flow = FEED / volume
    return np.array([
        flow * (FEED_CONCENTRATION - concentration) - reaction,
        flow * (feed_temperature - temperature) + HEAT * reaction + TRANSFER * area / volume * (coolant - temperature),
    ])


def steady(design: Any) -> tuple[Any, float]:
    """The steady state at the wanted temperature, and the coolant that holds it."""
    volume, area, temperature = design
    flow = FEED / volume
    rate = RATE * np.exp(-ACTIVATION / temperature)
    concentration = flow * FEED_CONCENTRATION / (flow + rate)
    removed = flow * (FEED_TEMPERATURE - temperature) + HEAT * rate * concentration
    coolant = temperature - removed * volume / (TRANSFER * area)
    if not COLDEST < coolant < HOTTEST:
        raise Unworkable(f"the coolant would need {coolant:.0f} K")
    return np.array([concentration, temperature]), coolant


def gains(design: Any) -> bilevo.Answer:
    """The best controller for the follower: that of the linear plant, from the Riccati equation."""
    state, coolant = steady(design)
    plant = np.column_stack([
        (slope(design, state + step, coolant, FEED_TEMPERATURE) - slope(design, state - step, coolant, FEED_TEMPERATURE))
        / (2 * step.sum())
        for step in np.diag([1e-6, 1e-4])
    ])
    volume, area, _ = design
    effect = np.array([[0.0], [TRANSFER * area / volume]])
    weights, effort = np.diag([1e3, 1.0]), 0.5
    # The stable half of the eigenvectors of the Hamiltonian matrix solves the Riccati equation.
    hamiltonian = np.block([[plant, -effect @ effect.T / effort], [-weights, -plant.T]])
    values, vectors = np.linalg.eig(hamiltonian)
    stable = vectors[:, np.argsort(values.real)[:2]]
    riccati = np.real(stable[2:] @ np.linalg.inv(stable[:2]))
    gain = (effect.T @ riccati / effort).ravel()
    return bilevo.Answer(y=gain, info={"state": state, "coolant": coolant})


def cost(design: Any, answer: bilevo.Answer) -> float:
    """The cost: the tank, what does not react or reacts on to waste, and how far the temperature strays."""
    volume, area, temperature = design
    strayed = simulate(design, answer.y, answer.info["state"], answer.info["coolant"])
    waste = 0.05 * np.exp((temperature - 350) / 8)
    return float(3.0 * volume**0.6 + 0.8 * area + 60.0 * answer.info["state"][0] + waste + 0.05 * strayed)


def simulate(design: Any, gain: Any, state: Any, coolant: float, minutes: float = 30.0, steps: int = 600) -> float:
    """Integrated squared error after the feed has come 12 K too warm for ten minutes (Runge-Kutta)."""
    length, here, strayed = minutes / steps, state.copy(), 0.0
    for step in range(steps):
        feed = FEED_TEMPERATURE + (12.0 if step * length < 10 else 0.0)
        held = float(np.clip(coolant - gain @ (here - state), COLDEST, HOTTEST))
        k1 = slope(design, here, held, feed)
        k2 = slope(design, here + length / 2 * k1, held, feed)
        k3 = slope(design, here + length / 2 * k2, held, feed)
        k4 = slope(design, here + length * k3, held, feed)
        here = here + length / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if not here[1] < RUNAWAY:
            raise Unworkable("the reactor runs away")
        strayed += length * float(here[1] - state[1]) ** 2
    return strayed


def solve(seed: int = 1, **options: Any) -> bilevo.Result:
    return bilevo.minimize(cost, follower=gains, bounds_upper=BOUNDS, seed=seed, name="plant", **options)


def reference() -> tuple[Any, float, int]:
    """SciPy's differential evolution, with a very high cost for designs that fail: x, F, and the designs tried."""
    from scipy.optimize import differential_evolution

    def price(x: Any) -> float:
        try:
            return cost(x, gains(x))
        except Unworkable:
            return 1e6

    found = differential_evolution(price, BOUNDS, seed=1, maxiter=60, popsize=10, tol=1e-8)
    return found.x, found.fun, found.nfev


def failing() -> float:
    """The share of the box in which a design cannot be operated."""
    low, high = np.array(BOUNDS).T
    designs = low + (high - low) * np.random.default_rng(1).random((300, 3))

    def fails(design: Any) -> bool:
        try:
            cost(design, gains(design))
        except Unworkable:
            return True
        return False

    return sum(map(fails, designs)) / len(designs)


def main() -> None:
    parser = argparse.ArgumentParser(description="A plant with an inner controller.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--effort", choices=["quick", "normal"], default="normal")
    parser.add_argument("--reference", action="store_true", help="compare with differential evolution (needs SciPy)")
    options = parser.parse_args()
    print(f"{failing():.0%} of the designs cannot be run")
    result = solve(options.seed, effort=options.effort)
    print(f"bilevo                  F = {result.fun:.4f} after {result.nfev_lower} designs, x = {result.x.round(3)}")
    if options.reference:
        x, value, designs = reference()
        print(f"differential evolution  F = {value:.4f} after {designs} designs, x = {x.round(3)}")


if __name__ == "__main__":
    main()
