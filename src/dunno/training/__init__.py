"""Training a transformer: annotated movies as windows, what is changed in them at random, the loss, the loop.

After Gallusser & Weigert 2024, whose package has the network but no training loop. torch is imported inside functions only.
"""
