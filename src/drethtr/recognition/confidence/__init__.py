"""When a reading is to be believed: calibrated confidences, and flags with their reasons."""
