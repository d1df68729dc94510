"""Evaluates the problem: one request in, one answer out, a line of JSON each."""
import json
import sys


def upper(x, y):
    """The leader's objective, and values that must be at most 0."""
    (t,), (y1,) = x, y
    return t * y1, [t + y1 - 12]


def lower(x, y):
    """The follower's objective and constraint values."""
    (t,), (y1,) = x, y
    return (y1 - 8 + t) ** 2, []


for line in sys.stdin:
    request = json.loads(line)
    try:
        level = upper if request["level"] == "upper" else lower
        value, constraints = level(request["x"], request["y"])
        answer = {"id": request["id"], "value": value, "constraints": constraints}
    except Exception as error:
        answer = {"id": request["id"], "error": str(error)}
    print(json.dumps(answer), flush=True)
