"""Running work in order or as it ends, telling how far it is, and keeping others out."""
