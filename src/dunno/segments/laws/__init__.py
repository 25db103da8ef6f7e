"""What is usual: each law has its parameters, the log density of what was measured, and its update from expectations."""
