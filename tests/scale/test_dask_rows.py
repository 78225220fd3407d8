"""Rows of Dask collections as a design: every question answered as memory answers it, few things sent."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.design.array import DenseDesign
from separatrix.design.base import add_each
from separatrix.design.build import make_design, row_radius
from separatrix.design.columns import column_store
from separatrix.design.mapped import MappedRows
from separatrix.design.maps import PolynomialMap
from separatrix.design.moments import moments, triangle
from separatrix.errors import DataError, NeedsError, SeparationWarning

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

from separatrix.design.dask import rows as rows_module  # noqa: E402
from separatrix.design.dask.design import DaskDesign  # noqa: E402
from separatrix.design.dask.rows import dask_rows  # noqa: E402

pytestmark = pytest.mark.slow

N, P = 600, 4


@pytest.fixture(scope="module")
def X():  # noqa: N802  # the design matrix in every text of this field
    return np.random.default_rng(0).normal(loc=[0.0, 0.0, 100.0, 0.0], size=(N, P))


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=6, processes=False, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client


@pytest.fixture(autouse=True)
def current(cluster) -> Iterator[None]:
    with cluster.as_current():
        yield


@pytest.fixture
def rows(X):
    """The rows in twelve partitions."""
    return dask_rows(da.from_array(X, chunks=((1, 9, *[59] * 10), (2, 2))))


def stacked(block, y):
    return [block.start, block.stop, float(y[0]), len(y)]


def test_it_answers_as_memory_does(rows, X) -> None:
    there, here = make_design(rows, intercept=True), make_design(X, intercept=True)
    assert isinstance(there, DaskDesign)
    assert there.shape == here.shape
    assert len(there.partitions.stored) >= 10
    values, coef, rng = np.linspace(-1.0, 1.0, N), np.arange(P + 1.0), np.random.default_rng(1)
    np.testing.assert_allclose(there.matvec(coef), here.matvec(coef), rtol=1e-13)
    np.testing.assert_allclose(there.rmatvec(values), here.rmatvec(values), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(there.gram(values), here.gram(values), rtol=1e-10, atol=1e-9)
    chosen = rng.integers(-N, N, size=40)
    assert (there.take(chosen) == here.take(chosen)).all()
    assert there.take([]).shape == (0, P + 1)
    kept = rng.random(N) < 0.3
    for a, b in [(there.select(kept), here.select(kept)), (there.subsample(7), here.subsample(7))]:
        assert isinstance(a, DenseDesign)
        assert (a.values == b.values).all()
    centre = there.needed_centre()
    assert (centre == here.needed_centre()).all()
    near_there, near_here = there.centred(centre), here.centred(centre)
    np.testing.assert_allclose(near_there.matvec(coef), near_here.matvec(coef), rtol=1e-12, atol=1e-12)
    assert near_there.needed_centre() is None
    assert there.passes == here.passes == 3.0
    assert np.concatenate([block.dense() for block in there.blocks()]).tolist() == here.take(np.arange(N)).tolist()


def test_results_are_combined_in_the_order_of_the_rows(rows) -> None:
    found = np.reshape(make_design(rows, intercept=False).fold(stacked, rows=(np.arange(N, dtype=float),)), (-1, 4))
    assert (found[:, 0] == found[:, 2]).all()
    assert (found[1:, 0] == found[:-1, 1]).all()
    assert found[0, 0] == 0.0
    assert found[-1, 1] == N
    assert (found[:, 3] == found[:, 1] - found[:, 0]).all()


def test_least_squares_sums_and_a_triangle(rows, X) -> None:
    there, here, y = make_design(rows, intercept=True), make_design(X, intercept=True), X @ [1.0, 2.0, 0.1, 0.0]
    (*sums, depth), (*expected, whole) = moments(there, y, None), moments(here, y, None)
    assert depth < whole  # of blocks, so that fewer roundings follow each other
    for a, b in zip(sums, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11)
    np.testing.assert_allclose(np.abs(triangle(there, y, None)[:P]), np.abs(triangle(here, y, None)[:P]), rtol=1e-8)


def test_a_large_selection_stays_where_it_lies(rows, X, monkeypatch) -> None:
    monkeypatch.setattr("separatrix.design.dask.design.FETCHED", 100)
    kept = np.arange(N) % 2 == 0
    kept[:70] = False
    there = make_design(rows, intercept=True).select(kept)
    assert isinstance(there, DaskDesign)
    assert there.shape == (int(kept.sum()), P + 1)
    assert (there.matvec(np.ones(P + 1)) == make_design(X, intercept=True).select(kept).matvec(np.ones(P + 1))).all()


def test_columns_are_read_as_dense_ones(rows, X) -> None:
    there, here = make_design(rows, intercept=True), make_design(X, intercept=True)
    weights = np.linspace(0.1, 1.0, N)[:, np.newaxis] * [1.0, 2.0]
    for chosen in ([0, 1, 2, 3, 4], [0, 2, 4], [3]):
        a, b = (column_store(design).take(np.asarray(chosen)) for design in (there, here))
        np.testing.assert_allclose(a.grams(weights), b.grams(weights), rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(a.times(np.ones(len(chosen))), b.times(np.ones(len(chosen))), rtol=1e-13)
    assert there.passes == pytest.approx(here.passes)


def test_what_cannot_be_written_is_sent_once(rows, X, monkeypatch) -> None:
    design, sent = make_design(rows, intercept=True), []
    submit = design.partitions.engine.submit
    monkeypatch.setattr(design.partitions.engine, "submit", lambda *call: (sent.append(call), submit(*call))[1])
    y = np.ones(N)
    fixed = y.view()
    fixed.flags.writeable = False
    for _ in range(3):
        design.rmatvec(fixed)
    puts = [call for call in sent if getattr(call[0], "__name__", "") == "asarray"]
    assert [len(calls) for _, calls, *_ in puts] == [len(design.partitions.stored)]
    y[:] = 2.0
    assert design.rmatvec(y)[0] == 2.0 * N  # what may be written goes along with each pass
    y[:] = 3.0
    assert design.rmatvec(y)[0] == 3.0 * N
    assert len(design.partitions._sent) == 1


def test_unknown_row_counts_are_found(X) -> None:
    array = da.from_array(X, chunks=(100, P))
    some = array[array[:, 0] > 0.0]
    assert np.isnan(some.shape[0])
    y = (X[X[:, 0] > 0.0] @ [1.0, 1.0, 0.0, 0.0] > 0.5).astype(int)
    model = sx.LinearRegression().fit(some, y, sample_weight=da.ones(len(y)))
    np.testing.assert_allclose(model.coef_, sx.LinearRegression().fit(X[X[:, 0] > 0.0], y).coef_, rtol=1e-9)


def test_sparse_chunks(X) -> None:
    matrix = sp.random_array((N, 30), density=0.1, rng=np.random.default_rng(2), format="csr")
    array = da.from_array(matrix.toarray(), chunks=(150, 30)).map_blocks(sp.csr_array)
    y = np.where(matrix @ np.linspace(-1, 1, 30) > 0.0, 1, 0)
    there = sx.LogisticRegression(strength=0.01).fit(array, y)
    here = sx.LogisticRegression(strength=0.01).fit(matrix, y)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-10, atol=1e-12)
    assert there.result_.passes == here.result_.passes
    assert there.certificate_.verify(matrix, y)


def test_rows_are_mapped_where_they_lie(X) -> None:
    y, through = X[:, 0] ** 2 + X[:, 1], PolynomialMap(P, 2)
    there = sx.LinearRegression().fit(MappedRows(da.from_array(X, chunks=(100, P)), through), y)
    here = sx.LinearRegression().fit(MappedRows(X, through), y)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-6, atol=1e-9)
    assert there.result_.passes == here.result_.passes
    assert isinstance(make_design(MappedRows(da.from_array(X, chunks=(100, P)), through), intercept=True), DaskDesign)


def test_kernels_have_the_rows_brought_here(X, monkeypatch) -> None:
    y, array = (X[:, 0] * X[:, 1] > 0.0).astype(int)[:200], da.from_array(X[:200], chunks=(50, P))
    there, here = sx.KernelSVM().fit(array, y), sx.KernelSVM().fit(X[:200], y)
    assert (there.decision_function(array) == here.decision_function(X[:200])).all()
    monkeypatch.setattr(rows_module, "default_cap", lambda: 1000)
    with pytest.raises(
        NeedsError, match=r"all 200 rows are needed in this process, 6.4 KB, and the memory limit is 1 KB"
    ):
        sx.KernelSVM().fit(array, y)


def test_one_against_the_rest_by_any_estimator(X) -> None:
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    array, model = da.from_array(X, chunks=(100, P)), sx.OneVsRest(sx.LogisticRegression(strength=0.01))
    there = model.fit(array, y).decision_function(array)
    np.testing.assert_allclose(there, model.fit(X, y).decision_function(X), rtol=1e-9)


def test_separated_classes_are_proved_so(X) -> None:
    y = (X[:, 0] > 0.0).astype(int)
    array = da.from_array(X, chunks=(100, P))
    with pytest.warns(SeparationWarning, match="no maximum"):
        model = sx.LogisticRegression().fit(array, y)
    assert model.existence_[0].verdict == "separable"
    assert model.existence_[0].verify(array, y)
    assert sx.check_separability(array, y).verdict == "separable"


def test_integers_and_floats_of_single_precision(X) -> None:
    whole, y = np.rint(10.0 * X).astype(np.int32), X[:, 0]
    for values in (whole, X.astype(np.float32)):
        model = sx.LinearRegression().fit(da.from_array(values, chunks=(100, P)), y)
        np.testing.assert_allclose(model.coef_, sx.LinearRegression().fit(values, y).coef_, rtol=1e-9, atol=1e-12)


# Refusals


def test_words_in_a_frame_lead_to_train(X) -> None:
    frame = pd.DataFrame(X, columns=list("abcd")).assign(town=["Ulm"] * N)
    with pytest.raises(DataError, match=r"column 'town' .* let sx.train\(frame, target\) encode it"):
        sx.LinearRegression().fit(dd.from_pandas(frame, npartitions=2), X[:, 0])


def test_a_gap_is_named_with_its_row_and_column(X) -> None:
    holed = X.copy()
    holed[417, 2] = np.nan
    with pytest.raises(DataError, match="column 'x3' has NaN in row 417"):
        sx.LogisticRegression().fit(da.from_array(holed, chunks=(100, P)), (X[:, 0] > 0.0).astype(int))
    with pytest.raises(DataError, match="row 417"):
        row_radius(make_design(da.from_array(holed, chunks=(100, P)), intercept=False))


def test_what_is_no_table_is_refused(X) -> None:
    with pytest.raises(DataError, match="is not a table"):
        make_design(da.from_array(X[:, 0], chunks=100), intercept=True)
    with pytest.raises(DataError, match="no rows"):
        make_design(da.from_array(X, chunks=(100, P))[:0], intercept=True)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        sx.LinearRegression().fit(da.from_array(X, chunks=(100, P)), X[:10, 0])


def test_other_columns_than_those_of_the_fit_are_refused(X) -> None:
    model = sx.LinearRegression().fit(da.from_array(X, chunks=(100, P)), X[:, 0])
    with pytest.raises(DataError, match="X has 3 columns, but the fit was of 4"):
        model.predict(da.from_array(X[:, :3], chunks=(100, 3)))


def test_rows_are_not_visited_one_at_a_time(X) -> None:
    design = make_design(da.from_array(X, chunks=(100, P)), intercept=True)
    with pytest.raises(NeedsError, match="DaskDesign cannot be visited row by row"):
        design.stored_rows()
    assert design.fold(lambda block: (1, block.stop), combine=add_each)[0] >= 1
