"""Compiled loops: not for small samples, once for all arrays, and without a place for a cache."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np

from reldep.kernels import Gaussian
from reldep.kernels.distances import make_program


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


def test_read_only_arrays_do_not_need_the_compiler_again():
    from reldep.engine.loops import strip

    rng = np.random.default_rng(0)
    kernel = Gaussian().fit(rng.normal(size=(60, 2)))
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


def test_memory_grows_with_the_rows_not_with_their_square():
    more = run("""
        import resource
        import numpy as np
        from reldep.engine import Tiled, compute_influence
        from reldep.kernels import Gaussian

        def run(m):
            rng = np.random.default_rng(0)
            kernels = {
                n: Gaussian(bandwidth=1.0).fit(rng.normal(size=(m, 2)))
                for n in "xyz"
            }
            compute_influence(kernels, [("x", "y"), ("x", "z")], Tiled(threads=2))
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        print(run(20_000) - run(2_500) if run(2_500) else None)
    """)
    # Three kernel matrices would take 9,600 MB.
    assert int(more) < 60_000, f"{more} KB more for 20,000 rows"
