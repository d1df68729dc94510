# A Stackelberg duopoly for bilevo: the leader produces x, the follower answers with y, both sell
# at the price 12 - x - y and want a large profit.
import json
import sys

for line in sys.stdin:
    ask = json.loads(line)
    (x,), (y,) = ask["x"], ask["y"]
    own = x if ask["level"] == "upper" else y
    print(json.dumps({"id": ask["id"], "value": own * (12 - x - y)}), flush=True)
