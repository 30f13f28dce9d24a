"""Request charges (RU): rough figures, so that callers can add them up and compare. Never billing truth.

Source: "Request Units in Azure Cosmos DB" (point read of 1 KB = 1 RU, of 100 KB = 10 RU; write of 1, 2, 4 KB
without indexes = 4.95, 6.29, 6.67 RU). A create that meets an existing id was reported at 1.24 RU.
"""

from typing import Final

_READ_POINTS: Final = ((1.0, 1.0), (100.0, 10.0))
_WRITE_POINTS: Final = ((1.0, 4.95), (2.0, 6.29), (4.0, 6.67))

REFUSED_WRITE: Final = 1.24
NOT_FOUND: Final = 1.0
METADATA: Final = 1.0
QUERY_MIN: Final = 2.3


def read_charge(size_bytes: int) -> float:
    """Charge of a point read of an item of this size."""
    return _interpolate(_READ_POINTS, size_bytes / 1024)


def write_charge(size_bytes: int) -> float:
    """Charge of a create, replace, upsert, patch or delete of an item of this size."""
    return _interpolate(_WRITE_POINTS, size_bytes / 1024)


def query_charge(result_bytes: int) -> float:
    """Charge of one page of a query."""
    return max(QUERY_MIN, read_charge(result_bytes))


def error_charge(status: int) -> float:
    """Charge of an operation that ended in an error."""
    match status:
        case 404:
            return NOT_FOUND
        case 409 | 412:
            return REFUSED_WRITE
        case _:
            return 0.0


def _interpolate(points: tuple[tuple[float, float], ...], kilobytes: float) -> float:
    """Read the line through the points; the first value holds below, the last slope goes on above."""
    if kilobytes <= points[0][0]:
        return points[0][1]
    upper = next((i for i in range(1, len(points)) if kilobytes <= points[i][0]), len(points) - 1)
    (x0, y0), (x1, y1) = points[upper - 1], points[upper]
    return round(y0 + (kilobytes - x0) * (y1 - y0) / (x1 - x0), 2)
