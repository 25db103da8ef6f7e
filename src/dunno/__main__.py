"""`python -m dunno`."""

from dunno.cli import main

main()
