"""The tiled engine: exact for many rows, in little memory, without compiling for small samples."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from fractions import Fraction

import numpy as np
import pytest

from reldep.data.objects import read_variable
from reldep.data.variables import Numeric
from reldep.engine import Tiled, compute_influence
from reldep.kernels import Gaussian, Laplace, Linear
from reldep.kernels.program import make_program


def run(code):
    code = textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=300
    )
    return done.stdout


def test_small_samples_do_not_wait_for_the_compiler():
    run("""
        import sys
        import numpy as np, reldep
        x, y, z = np.random.default_rng(0).normal(size=(3, 500, 2))
        reldep.compare(x, y, z)
        assert "numba" not in sys.modules
    """)


def exact_linear_hsic(x, y):
    """HSIC of linear kernels on whole numbers, in exact arithmetic from the features."""
    m = len(x)
    norms_x, norms_y = (x * x).sum(axis=1), (y * y).sum(axis=1)
    k, l = x @ x.sum(axis=0) - norms_x, y @ y.sum(axis=0) - norms_y  # noqa: E741
    trace = int(((x.T @ y) ** 2).sum() - norms_x @ norms_y)
    total = trace + Fraction(int(k.sum()) * int(l.sum()), (m - 1) * (m - 2))
    return float((total - Fraction(2 * int(k @ l), m - 2)) / (m * (m - 3)))


def test_ten_thousand_rows_agree_with_exact_arithmetic():
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 10, size=(10_000, 2))
    y = x + rng.integers(-90, 91, size=(10_000, 2))
    kernels = {"x": Linear().fit(read_variable(x, "x")), "y": Linear().fit(read_variable(y, "y"))}
    found = compute_influence(kernels, [("x", "y")], Tiled()).estimates[0]
    assert found == pytest.approx(exact_linear_hsic(x, y), rel=1e-10)


def test_memory_grows_with_the_rows_not_with_their_square():
    more = run("""
        import resource
        import numpy as np
        from reldep.data.objects import read_variable
        from reldep.engine import Tiled, compute_influence
        from reldep.kernels import Gaussian

        def run(m):
            rng = np.random.default_rng(0)
            kernels = {
                n: Gaussian(bandwidth=1.0).fit(read_variable(rng.normal(size=(m, 2)), n))
                for n in "xyz"
            }
            compute_influence(kernels, [("x", "y"), ("x", "z")], Tiled(threads=2))
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        print(run(20_000) - run(2_500) if run(2_500) else None)
    """)
    # Three kernel matrices would take 9,600 MB.
    assert int(more) < 60_000, f"{more} KB more for 20,000 rows"


def test_read_only_arrays_do_not_need_the_compiler_again():
    from reldep.engine.loops import strip

    rng = np.random.default_rng(0)
    kernel = Gaussian().fit(Numeric("x", rng.normal(size=(60, 2))))
    pairs, effects = np.array([(0, 0)]), np.zeros((1, 60))
    out = np.zeros((1, 60))
    program = make_program([kernel])
    strip(program, pairs, effects, 0, out)
    n_compiled = len(strip.signatures)
    for array in program[:5]:
        array.flags.writeable = False
    again = np.zeros((1, 60))
    strip(make_program([kernel]), pairs, effects, 0, again)
    assert np.array_equal(again, out)
    assert len(strip.signatures) == n_compiled


def test_where_nothing_can_be_written_code_is_compiled_without_a_cache():
    run("""
        import numba.core.caching as caching

        def refuse(*args, **kwargs):
            raise RuntimeError("cannot cache function")

        caching.FunctionCache.__init__ = refuse
        import numpy as np
        from reldep.engine import loops

        assert abs(loops.exp2(-0.5) - 2**-0.5) < 1e-15
    """)


def test_progress_is_told_to_the_end_of_both_sweeps():
    rng = np.random.default_rng(0)
    kernels = {n: Laplace("mean").fit(Numeric(n, rng.normal(size=(700, 2)))) for n in "xy"}
    seen = []
    engine = Tiled(on_progress=lambda done, total: seen.append((done, total)))
    compute_influence(kernels, [("x", "y")], engine)
    total = seen[0][1]
    assert seen == [(done, total) for done in range(1, total + 1)]
    assert total == 2 * 3


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"memory": "much"}, ValueError, "`memory='much'` is not understood; pass a positive"),
        ({"memory": 0}, ValueError, "`memory=0`; pass a positive amount"),
        ({"memory": 1.5}, TypeError, "memory is of type float; pass"),
        ({"threads": 2.5}, TypeError, "`threads=2.5`; pass a whole number, at least 1"),
    ],
)
def test_wrong_options_are_refused_with_a_way_out(options, error, message):
    with pytest.raises(error, match=message):
        Tiled(**options)
