"""Trust in readings: calibrated confidences, and flags with reasons."""
