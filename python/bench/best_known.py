"""Optima stated in the literature that are not optimal, each with a point that proves it.

    pip install .
    python python/bench/best_known.py

It prints the first table of docs/src/best-known.md. For the best known point in the file of each problem, interval
arithmetic (`bilevo.prove`) shows that the follower has no better answer there, and that no decision is better by more
than a thousandth.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import bilevo

ROOT = Path(__file__).parents[2]
#: Problem, its name in the source, F as stated there, and the file.
STATED = [
    ("Dempe1992b", 31.25, "examples/best-known/dempe1992b.toml"),
    ("FalkLiu1995", -2.1962, "crates/bilevo-problems/basblib/fl_1995_01.toml"),
    ("LuDebSinha2016c", 1.12, "examples/best-known/ludebsinha2016c.toml"),
    ("MorganPatrone2006c", -1.0, "crates/bilevo-problems/bolib/morganpatrone2006c.toml"),
    ("MuuQuy2003Ex2", 0.6426, "crates/bilevo-problems/bolib/muuquy2003ex2.toml"),
    ("NetworkDesignP2", 142.9, "crates/bilevo-problems/bolib/networkdesignp2.toml"),
    ("Outrata1990Ex1b", -7.56, "crates/bilevo-problems/bolib/outrata1990ex1b.toml"),
    ("Outrata1990Ex1e", -3.15, "crates/bilevo-problems/bolib/outrata1990ex1e.toml"),
    ("Outrata1990Ex2d", 0.92, "examples/best-known/outrata1990ex2d.toml"),
    ("RobustPortfolioP1", 1.15, "crates/bilevo-problems/bolib/robustportfoliop1.toml"),
    ("TollSettingP3", -3.5, "crates/bilevo-problems/bolib/tollsettingp3.toml"),
]


def numbers(values: list[float]) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")" if len(values) > 1 else f"{values[0]:.6g}"


def main() -> None:
    print("| Problem | F, stated | F | x | y | follower | leader |")
    print("|---|---|---|---|---|---|---|")
    for name, stated, file in STATED:
        best = tomllib.loads((ROOT / file).read_text(encoding="utf-8"))["best_known"]
        proof = bilevo.prove(ROOT / file, best["x"], best["y"], eps=1e-3, time_limit=60)
        if proof.follower is None or proof.leader is None:
            sys.exit(f"{name}: nothing was asked")
        bound = proof.leader["lower_bound"]
        leader = proof.leader["verdict"] if proof.leader["verdict"] == "proven" else f"{proof.leader['verdict']}, at least {bound:.4g}"
        row = [name, f"{stated:g}", f"{proof.fun:.6g}", numbers(best["x"]), numbers(best["y"]), proof.follower["verdict"], leader]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
