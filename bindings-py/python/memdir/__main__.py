"""`python -m memdir`."""

import sys

from memdir._cli import main

if __name__ == "__main__":
    sys.exit(main())
