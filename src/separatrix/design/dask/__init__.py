"""Rows on a Dask cluster: the only package that imports Dask, loaded only when a Dask collection or cluster is used."""

from separatrix.errors import OptionError

try:
    import dask  # noqa: F401
    import distributed  # noqa: F401
except ImportError:
    raise OptionError("a cluster needs Dask; install it: pip install 'separatrix[dask]'") from None
