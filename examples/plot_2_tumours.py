"""
Tumours: which molecules define a subtype?
==========================================

77 adrenocortical carcinomas with expression and copy number of about 200 genes. Two of the
published groupings of these tumours have a known origin, which makes them a check of the method:
the clusters C1A and C1B were found in expression, the SCNA clusters in copy number.
"""

import matplotlib.pyplot as plt

import reldep
from reldep.datasets import load_acc

acc = load_acc()
results = {
    grouping: reldep.compare(
        acc.clinical[grouping],
        acc.expression,
        acc.copy_number,
        missing="drop",
        names=(grouping, "expression", "copy number"),
    )
    for grouping in ("C1A.C1B", "SCNA.cluster")
}
for result in results.values():
    print(result.sentence(), "\n")

# %%
# Both estimates are larger for the block that the grouping was made from. For C1A and C1B the
# difference is significant. The SCNA clusters are related to expression nearly as closely, and the
# data do not decide.
figure, axes = plt.subplots(1, 2, figsize=(9.2, 6.4), layout="constrained")
for ax, result in zip(axes, results.values(), strict=True):
    result.plot(ax=ax)
