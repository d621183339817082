"""
Mice: does diet show more in lipids or in genes?
================================================

Forty mice of two genotypes were fed five diets. Two blocks were measured on each liver: 21 fatty
acids and the expression of 120 genes. Which block is more closely related to the diet, and which
to the genotype?
"""

import reldep
from reldep.datasets import load_nutrimouse

mice = load_nutrimouse()
names = ("diet", "lipids", "genes")
diet = reldep.compare(mice.diet, mice.lipid, mice.gene, names=names)
print(diet)

# %%
# The dotted line of equality lies outside the dashed lines, the limits of the difference: diet is
# more closely related to lipids.
diet.plot()

# %%
# The same question for the genotype.
names = ("genotype", "lipids", "genes")
genotype = reldep.compare(mice.genotype, mice.lipid, mice.gene, names=names)
print(genotype.sentence())

# %%
# The blocks have different numbers of columns and different units, so their raw HSICs are not
# comparable; CKA, the default, is normalised. The test as the paper published it, with raw
# HSIC and the normal law, agrees here.
names = ("diet", "lipids", "genes")
kernels = ("delta", "gaussian", "gaussian")
print(reldep.paper_test(mice.diet, mice.lipid, mice.gene, kernel=kernels, names=names).sentence())

# %%
# How many mice would the next study need to see this difference with 80% power?
print(diet.sample_size(power=0.8))
