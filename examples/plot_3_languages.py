"""
Languages: which is nearer, from the same texts in ten languages?
=================================================================

947 help pages of a program exist in ten languages. No dictionary is used: each language has its own
TF-IDF features, and two languages are near if pages that are alike in one are alike in the other.
"""

import reldep
from reldep.datasets import load_languages

pages = load_languages()

# %%
# Is Danish nearer to Swedish than to French? The raw HSIC is swayed by how concentrated each
# language's features are; the normalised test compares like with like.
for measure in ("hsic", "cka"):
    result = reldep.compare(
        pages.da, pages.sv, pages.fr, measure=measure, names=("Danish", "Swedish", "French")
    )
    print(f"{measure}: {result.sentence()}\n")

# %%
# All targets at once, with simultaneous intervals.
others = {name: pages[name] for name in pages if name != "pt"}
ranking = reldep.rank(pages.pt, others, measure="cka")
print(ranking.summary())

# %%
ranking.plot()
