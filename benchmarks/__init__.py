"""Speed against peers, as ratios within one run. Run by hand; the tests only see that they still run."""
