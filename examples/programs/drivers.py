"""A follower that is solved already: trips over a bridge and through a tunnel for given tolls."""

import json
import sys

for line in sys.stdin:
    ask = json.loads(line)
    bridge, tunnel = ask["x"]
    if ask["level"] == "follower":
        trips = [8 - bridge, 6 - 0.5 * tunnel]
        answer = {"y": trips, "value": -sum(trips), "info": {"cost": 2.5}}
    else:
        trips = ask["y"]
        answer = {"value": bridge * trips[0] + tunnel * trips[1] - ask["info"]["cost"]}
    print(json.dumps({"id": ask["id"], **answer}), flush=True)
