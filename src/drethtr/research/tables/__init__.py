"""The paper's tables: every row trained, read and set beside the published figures."""
