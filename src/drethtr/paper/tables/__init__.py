"""The paper's tables: every row is trained, evaluated and compared with the published figures."""
