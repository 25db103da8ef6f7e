"""From links to tracks: numbers, records frame by frame, families."""
