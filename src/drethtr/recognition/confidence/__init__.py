"""How reliable a reading is: calibrated confidences, flags with reasons, and expected error rates."""
