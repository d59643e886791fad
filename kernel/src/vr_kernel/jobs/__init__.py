"""Work that outlives its process: jobs, who owns them, and their steps, in one ledger."""
