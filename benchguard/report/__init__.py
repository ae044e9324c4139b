"""Reports of audit logs and results: one HTML page, without network."""
