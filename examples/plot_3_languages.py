"""
Languages: which is nearer, from the same texts in ten languages?
=================================================================

947 help pages of a program exist in ten languages. No dictionary is used: each language has its own
TF-IDF features, and two languages are close if pages that are similar in one are similar in the
other.
Your own texts are lists of strings with ``kernel="text"``.
"""

import reldep
from reldep.datasets import load_languages

pages = load_languages()

# %%
# Is Danish closer to Swedish than to French? The paper's test compares raw HSICs, which also depend
# on how varied each language's own pages are, and points the other way.
names = ("Danish", "Swedish", "French")
print(reldep.paper_test(pages.da, pages.sv, pages.fr, names=names).sentence())

# %%
# The default compares CKAs, which divide that out. Adjacent pages often have the same topic;
# `max_lag` allows for it.
print(reldep.compare(pages.da, pages.sv, pages.fr, names=names).sentence())
print(reldep.compare(pages.da, pages.sv, pages.fr, names=names, max_lag="auto").sentence())

# %%
# All targets at once, with simultaneous intervals.
others = {name: pages[name] for name in pages if name != "pt"}
ranking = reldep.rank(pages.pt, others)
print(ranking.summary())

# %%
ranking.plot()
