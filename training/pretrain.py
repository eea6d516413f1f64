"""``python -m training.pretrain RECIPE --corpus FILE.jsonl.xz``: trains one of the bundled models."""

import os
import sys

# Threads that wait for each other sleep instead of spinning: on a shared machine a step costs a third of the
# processor time. Read when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if __name__ == "__main__":
    from training.command import main

    sys.exit(main())
