"""`Optimizer`: ask and tell by hand, in any order and in parts, saved at any moment."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest
from conftest import same, solve_toll, toll_income, toll_trips

import bilevo


def toll(**options: Any) -> bilevo.Optimizer:
    problem = bilevo.FunctionProblem(toll_income, toll_trips, [(0, 10)], [(0, 10)], maximize="upper")
    return bilevo.Optimizer(problem, **{"method": "bl-cma-es", "seed": 1, "budget": 120, **options})


def values(batch: bilevo.Batch) -> list[float]:
    function = toll_income if batch.level == "upper" else toll_trips
    return [function(point.x, point.y) for point in batch]


def test_by_hand_is_the_same_as_minimize() -> None:
    opt = toll()
    while (batch := opt.ask()) is not None:
        opt.tell(batch, values(batch))
    assert opt.done and same(opt.result(), solve_toll())
    assert [g.nfev_lower for g in opt.history] == [g.nfev_lower for g in solve_toll().history]


def test_answers_in_any_order_in_parts_and_with_a_pickle_between_any_two() -> None:
    dice = random.Random(5)
    opt = toll(budget=40)
    while (batch := opt.ask()) is not None:
        picked = dice.sample(range(len(batch)), dice.randint(1, len(batch)))
        piece = batch[picked]
        opt.tell(piece if dice.random() < 0.5 else piece.ids, values(piece))
        opt = pickle.loads(pickle.dumps(opt)) if dice.random() < 0.5 else bilevo.Optimizer.from_bytes(opt.to_bytes())
    assert same(opt.result(), solve_toll(budget=40))


def test_asked_again_it_gives_what_is_left() -> None:
    opt = toll()
    batch = opt.ask()
    assert batch is not None and len(batch) > 3
    again = opt.ask()
    assert again is not None and np.array_equal(again.ids, batch.ids) and np.array_equal(again.y, batch.y)
    opt.tell(batch[1:3], values(batch[1:3]))
    left = opt.ask()
    assert left is not None and list(left.ids) == [i for i in batch.ids if i not in batch.ids[1:3]]
    assert np.array_equal(left.x[1:], batch.x[3:])


def test_ids_are_unique_over_the_run() -> None:
    opt, seen = toll(budget=30), []
    while (batch := opt.ask()) is not None:
        seen += list(batch.ids)
        opt.tell(batch, values(batch))
    assert seen == list(range(len(seen)))


def test_failures_are_told() -> None:
    opt = toll()
    batch = opt.ask()
    assert batch is not None
    told: list[Any] = values(batch)
    told[0], told[1], told[2] = None, float("nan"), ValueError("no")
    opt.tell(batch, told)
    assert opt.result().n_failed == 3


def test_one_point_at_a_time() -> None:
    opt = toll()
    batch = opt.ask()
    assert batch is not None
    for point in batch:
        opt.tell(point, toll_trips(point.x, point.y))
    following = opt.ask()
    assert following is not None and following.ids[0] == batch.ids[-1] + 1


def test_constraint_values_are_told_by_rows() -> None:
    problem = bilevo.BilevelProblem([(0, 1)], [(0, 1)], n_ieq_lower=2)
    opt = bilevo.Optimizer(problem, method="bl-cma-es", seed=1)
    batch = opt.ask()
    assert batch is not None and batch.level == "lower"
    rows = np.ones((len(batch), 2))
    opt.tell(batch[0], 1.0, [0.0, 0.0])
    opt.tell(batch[1:], np.zeros(len(batch) - 1), rows[1:])
    assert opt.result().n_failed == 0


@pytest.mark.parametrize(
    ("points", "told", "words"),
    [
        ([10**6], [1.0], "was not asked for"),
        ([0, 0], [1.0, 2.0], "has been answered already"),
        ([0, 1], [1.0], "2 points need 2 objective values, but 1 came back\nhint: give one for each point"),
        ([0.5], [1.0], "a batch or a list of ids"),
        ([0], ["a"], "not a number"),
    ],
)
def test_wrong_answers_change_nothing(points: Any, told: Any, words: str) -> None:
    opt = toll()
    batch = opt.ask()
    assert batch is not None
    with pytest.raises((ValueError, TypeError), match=words):
        opt.tell(points, told)
    again = opt.ask()
    assert again is not None and np.array_equal(again.ids, batch.ids)


def test_nothing_can_be_told_after_the_end() -> None:
    opt = toll(budget=10)
    while (batch := opt.ask()) is not None:
        last = batch
        opt.tell(batch, values(batch))
    with pytest.raises(bilevo.ProblemError, match="the run is over"):
        opt.tell(last, values(last))


def test_bytes_that_are_no_run_are_refused() -> None:
    good = toll().to_bytes()
    for bad in (b"", b"something else", good[:-1], good[:40], good[:60] + b"\xff" + good[61:]):
        with pytest.raises(bilevo.CheckpointError):
            bilevo.Optimizer.from_bytes(bad)
    for bad, code in ((b"", "E501"), (good[:-1], "E502")):
        with pytest.raises(bilevo.CheckpointError) as raised:
            bilevo.Optimizer.from_bytes(bad)
        assert raised.value.code == code


def test_repr_names_the_run() -> None:
    assert repr(toll()).startswith("<Optimizer: function 1+1 with bl-cma-es, seed 1")
