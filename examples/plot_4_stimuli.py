"""
Time series: sight or sound?
============================

A response is recorded while two stimuli run. Both streams and the noise are autocorrelated, so
neighbouring rows are not independent, and a test that takes them for independent is too sure of
itself.
"""

import reldep
from reldep.datasets import make_two_stimuli

# %%
# The truth here: both stimuli matter equally.
data = make_two_stimuli(400, visual_weight=1, audio_weight=1, rng=3)
names = ("response", "visual", "audio")
for lag in (None, "auto"):
    result = reldep.compare(
        data.response,
        data.visual,
        data.audio,
        alternative="two-sided",
        max_lag=lag,
        names=names,
    )
    print(f"max_lag={lag}: standard error {result.standard_error:.4f}, p = {result.pvalue:.3f}")

# %%
# Now sight matters more, and the test sees it with the wider, honest standard error too.
data = make_two_stimuli(400, visual_weight=1.5, audio_weight=0.5, rng=4)
result = reldep.compare(data.response, data.visual, data.audio, max_lag="auto", names=names)
print(result.sentence())
result.plot()
