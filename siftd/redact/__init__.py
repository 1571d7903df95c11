"""Redaction: text in, text without secrets out. Where the text goes next is not known here."""

from siftd.redact.redactor import Redactor

__all__ = ["Redactor"]
