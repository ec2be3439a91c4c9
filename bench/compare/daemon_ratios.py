"""Reads the output of daemon_peer.py, dutiful first, and prints figures with ratios to dutiful."""

import json
import sys

ours = None
for line in sys.stdin:
    measured = json.loads(line)
    ours = ours or measured
    for ratio, key in [
        ("ratio_last_start", "last_start_seconds"),
        ("ratio_first_to_last", "first_to_last_seconds"),
        ("ratio_ended", "ended_seconds"),
        ("ratio_resident", "resident_mib"),
    ]:
        measured[ratio] = float(f"{measured[key] / ours[key]:.3g}")
    print(json.dumps({"figure": "peer.commands"} | measured), flush=True)
