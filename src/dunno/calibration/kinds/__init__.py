"""The kinds of calibration, one per file."""
