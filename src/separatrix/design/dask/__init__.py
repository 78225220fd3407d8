"""Rows on a Dask cluster; the only door to Dask. Imported when a Dask collection or cluster is met, never before."""

from separatrix.errors import OptionError

try:
    import dask  # noqa: F401
    import distributed  # noqa: F401
except ImportError:
    raise OptionError("a cluster needs Dask; install it: pip install 'separatrix[dask]'") from None
