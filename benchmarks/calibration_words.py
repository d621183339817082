"""The words of the calibration page; every number in them comes from the tables."""

INTRODUCTION = """\
# Calibration: how far the numbers can be trusted

Does a test at 5% reject a true null in 5% of samples? Does a 95% interval contain the truth in
95%? These tables answer by simulation.

![Levels of the published test, of its variance with CKA and of the default, for every law and \
number of rows, beside the 5% line. Only the default stays near the line.](_static/calibration.svg)

Each dot is a law; the blue band is 3.5% to 6.5%. Red dots reject too often (more than 7.5%), grey
ones too seldom (less than 3%), hollow ones are exact independence.

{extremes}

Where the default misses the line by much it errs on the safe side: **exact independence of the
source from both targets stays conservative**, and so do dependences without a linear part in few
rows. The hypothesis "equally dependent" has a corner at independence, and every test that looks at
a difference of two dependences rejects too seldom near it. Below 30 rows take p-values as
approximate.

The goals that were set beforehand, and what the default reaches, with two binomial standard errors
allowed and, in brackets, with none; exact independence is left out:

{goals}

Everything here is written by `make calibration` from counts in `benchmarks/results`; random seeds
are fixed. In brackets: how far a rate of 0.050 is known, two binomial standard errors.
{draws}
The constants of jackknife-t were chosen earlier, with other seeds and the Gaussian kernel, on
independent, weak, linear, strong, spiral, circle, ten-dimensional, heavy-tailed and categorical;
the other laws had no part in it.

The laws. The two targets depend equally on the source in all of them:

{laws}

The settings: `hsic` and "cka, Gaussian" with the Gaussian kernel at the median distance, which is
the published choice; `cka` with the default kernel, Laplace at the mean distance; `dcor` with
distances. Categories have the delta kernel.
"""

LEVEL = """\
## Level

Two-sided level at 5%: the plug-in variance with the normal law → jackknife-t.

{table}
"""

TAILS = """\
### Both tails of the default

How often the default at 5%, two-sided, claims that the first depends less / that it depends more;
2.5% each is right.

{table}
"""

COVERAGE = """\
## Coverage of the interval of one dependence

Share of 95% intervals that contain the true value: plug-in variance → score interval. The truth
comes from 250 samples of 400 rows.

{table}
"""

POWER = """\
## Power

Two-sided power at 5%, and in brackets the power after the test has been adjusted, with the matched
null, to reject exactly 5% of true nulls. Nobody can adjust a test in this way in practice; it
shows how much of a power is only excess level.

{table}
"""

RANKINGS = """\
## Rankings

Targets y = x + ε; "tied" all with noise 1, "three groups" with noise 0.5, 1 and 2, "one ahead" one
with noise 0.5. Shares of samples in which something goes wrong at 95% confidence, 5% being right:
a false claim about a tied pair (old: the plug-in variance and joint normal maxima; now: step-down
p-values from jackknife-t), the strongest not among the best, a rank outside of its range (ties
broken beforehand), some difference or some dependence outside of its simultaneous interval. The
last column is the share of the true differences that were found.

How ties count in the ranks was settled after a first look. Where a range must hold every rank that
tied targets share, some range was wrong in .09 of samples with 5 tied targets and in .18 with 20,
at 50 rows: the rule that a target outside the best set starts at rank 2 costs that much under
exact ties.

{table}
"""

SCALES = """\
## Over all bandwidths

`sensitivity` looks at 13 bandwidths, from an eighth to eight times the mean distance. How often
its bands hold all true differences at once, beside intervals of each by itself; how often the
smallest of all p-values is below 5%; and how often the adjusted answers are: "at some bandwidth",
beside 13 times the smallest, and "at every bandwidth". Under laws of this page there is no
difference at any bandwidth: 5% is right for "at some", and "at every" must not be more. {samples}
samples.

{table}
"""

CLUSTERS = """\
## Clusters

Two-sided level at 5% of a difference, {samples} samples: clusters × rows in each, or sizes from 1
to 45.
In "mixed" the noise of one target is shared by the rows of a cluster and that of the other is not:
the two dependences are equal, but nothing is symmetric. "Four different clusters" is the default
where kernel matrices fit into memory; "from A" leaves clusters out to first order, for larger
samples.

{table}
"""

SERIES = """\
## Time order

The same for autoregressive series; blocks of the series take the place of clusters, 8 below 200
rows and 10 to 16 beyond. "Mixed, AR(0.9)" is worth about five independent rows at 100, and nothing
that was tried brings it to 5%: on 300 samples of the table 6 blocks rejected 31 where 8 rejected
32, on 300 others 17 where 8 rejected 26; with AR(0.5), AR(0.8) and AR(0.9) in all series 6 blocks
rejected 18, 17 and 16 of 300, and 8 blocks 12, 17 and 21. There are still 8, for their power.

{table}
"""

INDEPENDENCE = """\
## Independence where rows depend on each other

Level at 5% of the test of independence. Clusters of one size are permuted as a whole, clusters of
different sizes compared with an F law, series shifted circularly.

{table}
"""

CAUTIONS = """\
## Cautions

How often the package gives a caution, where it is due and where it is not; {samples} samples for
each number of rows. Where both targets depend equally on the source, the last column has the level
of the test that takes the rows as independent: that tells how much harm there is. The laws had no
part in setting the thresholds. "Raw HSIC against CKA" is due in samples in which the two disagree
in significance or, both significant, in sign. "Median that jumps" is due where two samples of the
law have different median distances in more than 5% of cases; near that limit it cannot be told
apart. A file sorted by a column that the question does not use looks like a series; the caution
says so and is not counted as due.

{table}

What was changed on evidence. Neighbours in file order were compared by their influence alone, with
a bar of 4 standard errors: of normal series (200 samples) AR(0.8) was seen in 14% at 50 rows and
71% at 100, and AR(0.5) hardly ever. Now the variables themselves are compared, and influence must
agree by one standard error: 93%, 100% and, for AR(0.5), 39% and 77%. Rows sorted by a column that
is not used were never suspected; now 12% to 23% are, and would be all if influence had no say.
Copied rows were not seen where fewer than 21 rows were different. Raw HSIC was compared with an
approximation of CKA, and only where the energies differed by a factor of 1.5.
"""

CLASSICS = """\
## Beside the classics

Williams's t and Steiger's Z compare two Pearson correlations that share a variable. Rejections at
5%, two-sided, for normal data, and in a case where Pearson's correlation is blind: what the
classics reject there is not power but excess level, since both correlations are 0.

{table}

Where dependence is linear and the data normal, the classics are the best tests, and
`kernel="linear"` comes near to them; the default pays for seeing other shapes as well.
"""

BOOTSTRAP = """\
## Beside a bootstrap

95% intervals of the difference of two CKAs, 50 rows, 200 samples, kernel matrices given; the
bootstrap is the percentile interval with resampled rows and held bandwidths.

{table}

The bootstrap covers about as well, with shorter intervals on these two laws, at more than a
hundred times the cost.
"""

PLANNING = """\
## Planning

Pilots of 80 rows ask for the number of rows with a power of 0.80; the table has the power that so
many rows have in truth, on average over pilots. Significant pilots are lucky ones: planning from
their estimate gives too little power. The careful plan starts from the lower 80% limit of the
effect. Where that limit is no effect at all there is no such plan, and an error says so: these
pilots are counted in the last column, and all averages leave them out.

{table}
"""

KERNEL = """\
## Which kernel by default

Thirty laws, CKA and jackknife-t; for every law the noise of the less dependent target was tuned on
seeds of its own so that the best of a few kernels has a power near 0.8, for 50 and for 100 rows.
Regret is what a kernel loses against the best of all on the same samples. The choice was made at 50
rows; 100 rows came later.

{table}

One Gaussian at the median distance is blind to anything finer than half the width of the data. A
Laplace kernel at the mean distance costs little where the Gaussian is good and is as good as
an average of Gaussians over scales; its one scale is a mean, which does not jump on counts and
levels, and on one column it is exact in O(m log m). It is the default.

Twelve more laws were written down after the choice and had no part in it; 300 samples. Their
regrets:

{held_out}

Power at 50 rows:

{powers}
"""
