"""From what arrives to what may be kept: decoded, redacted, bounded, hashed."""
