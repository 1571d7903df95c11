"""Backfill: what an agent's own transcripts tell, read into the store."""

from siftd.backfill.result import BackfillResult
from siftd.backfill.run import backfill

__all__ = ["BackfillResult", "backfill"]
