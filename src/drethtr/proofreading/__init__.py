"""Check texts from elsewhere against the ink: align them with the lines of scans, and check them word by word."""
