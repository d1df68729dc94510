# The duopoly again, for lists of points in one line (`batch` in the problem file).
import json
import sys

for line in sys.stdin:
    ask = json.loads(line)
    results = []
    for point in ask["points"]:
        (x,), (y,) = point["x"], point["y"]
        own = x if ask["level"] == "upper" else y
        results.append({"value": own * (12 - x - y)})
    print(json.dumps({"id": ask["id"], "results": results}), flush=True)
