"""Accuracy metrics, comparison of models, and calibration."""
