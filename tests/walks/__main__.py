"""``python -m walks --steps 20000 --seed 7`` (in tests/): walk for as long as one likes; prints the shortest way to a
failure.
"""

import argparse
import json
import logging
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m walks", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first walk's seed; the next ones count on")
    parser.add_argument("--steps", type=int, default=2000, help="of all walks together")
    parser.add_argument("--length", type=int, default=500, help="steps of one walk")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    logging.disable(logging.CRITICAL)

    import torch
    from streamlit import config

    config.set_option("runner.postScriptGC", False)  # a quarter of a second a run, which finds nothing
    torch.set_num_threads(1)

    from walks.walk import Failure, shortest, walk

    done, seed, failures = 0, arguments.seed, 0
    while done < arguments.steps:
        began = time.monotonic()
        try:
            way = walk(seed, min(arguments.length, arguments.steps - done))
            steps, failed = way.n_steps, None
        except Failure as failure:
            steps, failed = len(failure.way), shortest(failure)
            failures += 1
        done += max(steps, 1)
        line = {"seed": seed, "steps": steps, "seconds": round(time.monotonic() - began, 1)}
        print(
            json.dumps(line | ({"failure": failed.problem, "way": [str(s) for s in failed.way]} if failed else {})),
            flush=True,
        )
        seed += 1
    print(json.dumps({"steps": done, "walks": seed - arguments.seed, "failures": failures}))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
