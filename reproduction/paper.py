"""What the paper prints, to compare with our numbers.

Bounliphone, W., Gretton, A., Tenenhaus, A. and Blaschko, M. (2015), A low variance consistent
test of relative dependency, ICML, PMLR 37, 20-29: its three tables on languages, and the figures
on synthetic data and on gliomas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reldep.data.variables import FloatArray

LEVEL = 0.05

# Source, the language or languages it should be nearer to, the one it should be farther from,
# and the printed p-value, which may be a bound. Two near languages have the weights (1, 1, -2).
LANGUAGES = {
    "groups": (
        ("es", ("pt",), "fi", "0.0066"),
        ("fr", ("it",), "da", "0.0418"),
        ("it", ("es",), "fi", "0.0169"),
        ("pt", ("es",), "da", "0.0173"),
        ("de", ("nl",), "fi", "< 1e-4"),
        ("nl", ("en",), "es", "< 1e-4"),
        ("da", ("sv",), "fr", "< 1e-6"),
        ("sv", ("en",), "it", "< 1e-4"),
        ("en", ("de",), "es", "< 1e-4"),
    ),
    "romance": (
        ("fr", ("es",), "it", "0.0157"),
        ("fr", ("pt",), "it", "0.1882"),
        ("es", ("fr",), "it", "0.2147"),
        ("es", ("pt",), "it", "< 1e-4"),
        ("es", ("pt",), "fr", "< 1e-4"),
        ("pt", ("fr",), "it", "0.7649"),
        ("pt", ("es",), "it", "0.0011"),
        ("pt", ("es",), "fr", "< 1e-8"),
    ),
    "contrasts": (
        ("da", ("de", "sv"), "fi", "< 1e-9"),
        ("da", ("sv", "en"), "fr", "< 1e-9"),
        ("de", ("sv", "en"), "it", "< 1e-5"),
        ("fr", ("it", "es"), "sv", "< 1e-5"),
        ("es", ("fr", "pt"), "nl", "0.0175"),
    ),
}

# p of the joint and of the split test, by γ3 and m.
SYNTHETIC: dict[tuple[float, float], tuple[float, float]] = {
    (0.7, 500): (0.0189, 0.3492),
    (0.7, 1000): (1e-4, 0.3690),
    (0.7, 3000): (1e-6, 0.2876),
    (1.7, 500): (1e-9, 0.982),
    (1.7, 1000): (1e-10, 0.0326),
    (1.7, 3000): (1e-13, 0.005),
}

# Distance in standard deviations from the centre of an ellipse that contains 95% of a normal law in
# the plane: the root of the 95% quantile of chi-squared with two degrees of freedom.
RADIUS_95 = 2.447746830680816


@dataclass(frozen=True)
class PrintedEllipse:
    """An ellipse of the paper's figure on gliomas, read off its vector coordinates.

    Attributes
    ----------
    hsic : tuple of float
        The centre: HSIC of the location with expression, and with copy number.
    standard_errors : tuple of float
        Of both, if the printed ellipse contains 95%.
    correlation : float
    printed : str
        The p-value that the paper prints.
    """

    hsic: tuple[float, float]
    standard_errors: tuple[float, float]
    correlation: float
    printed: str

    def covariance(self, radius: float = RADIUS_95) -> FloatArray:
        """Return the covariance if the printed outline is `radius` standard deviations away."""
        extents = RADIUS_95 * np.array(self.standard_errors)
        correlations = np.array([[1.0, self.correlation], [self.correlation, 1.0]])
        return np.asarray(correlations * np.outer(extents, extents) / radius**2)

    def statistic(self, radius: float = RADIUS_95) -> float:
        """Return z of the difference of the two HSICs."""
        difference = np.array([1.0, -1.0])
        error = np.sqrt(difference @ self.covariance(radius) @ difference)
        return float((self.hsic[0] - self.hsic[1]) / error)


GLIOMA = {
    "joint": PrintedEllipse((3.5200e-3, 2.374e-4), (6.0014e-4, 3.8366e-4), -0.0705, "< 1e-5"),
    "split": PrintedEllipse((3.0063e-3, 1.671e-4), (9.6041e-4, 5.9907e-4), 0.0, "0.005"),
}
GLIOMA_TUMOURS = 53


def is_yes(printed: str) -> bool:
    """Whether a printed p-value, or a printed bound of one, is below 5%.

    Examples
    --------
    >>> is_yes("< 1e-4"), is_yes("0.7649")
    (True, False)
    """
    return float(printed.removeprefix("<")) < LEVEL
