"""`python -m dunno`."""

from dunno.cli import main

if __name__ == "__main__":  # worker processes import this file too
    main()
