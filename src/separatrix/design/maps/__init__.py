"""Feature maps as settled, plain objects; `ALL` holds their classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from separatrix.design.maps.base import FeatureMap
from separatrix.design.maps.fourier import FourierMap
from separatrix.design.maps.nystroem import NystroemMap
from separatrix.design.maps.polynomial import PolynomialMap
from separatrix.design.maps.products import ProductsMap
from separatrix.design.maps.squared_distance import SquaredDistanceMap
from separatrix.errors import did_you_mean

ALL: tuple[type[FeatureMap], ...] = (SquaredDistanceMap, PolynomialMap, ProductsMap, FourierMap, NystroemMap)


def map_from_dict(data: Mapping[str, Any]) -> FeatureMap:
    """Make a map from what `to_dict` returned; an unknown name raises a ValueError."""
    known = {kind.name: kind for kind in ALL}
    name = data["name"]
    if name not in known:
        raise ValueError(f"unknown map {name!r}{did_you_mean(str(name), known)}")
    return known[name].from_content(data)
