"""The level of an interval."""

from __future__ import annotations

import math

from separatrix.errors import require_number


def require_level(level: object) -> float:
    """Return the level of an interval, between 0 and 1."""
    number = require_number("level", level, above=0.0, most=1.0)
    return require_number("level", level, above=0.0, most=math.nextafter(1.0, 0.0)) if number == 1.0 else number
