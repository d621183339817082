"""
Time series: sight or sound?
============================

A response is recorded while two stimuli run. Both streams and the noise are autocorrelated, so
adjacent rows are not independent, and a test that treats them as independent rejects too often.
"""

import reldep
from reldep.datasets import make_two_stimuli

# %%
# The truth here: both stimuli matter equally.
data = make_two_stimuli(400, visual_weight=1, audio_weight=1, rng=3)
names = ("response", "visual", "audio")
for lag in (None, "auto"):
    result = reldep.compare(data.response, data.visual, data.audio, max_lag=lag, names=names)
    print(f"max_lag={lag}: standard error {result.standard_error:.4f}, p = {result.pvalue:.3f}")

# %%
# Now sight matters more, and the test detects it with the wider, valid standard error too.
data = make_two_stimuli(400, visual_weight=1.5, audio_weight=0.5, rng=4)
result = reldep.compare(data.response, data.visual, data.audio, max_lag="auto", names=names)
print(result.sentence())
result.plot()
