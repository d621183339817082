"""What a report explains and cites: the measures in words, and the sources."""

MEASURES_IN_WORDS = {
    "hsic": (
        "HSIC (the Hilbert-Schmidt independence criterion) is 0 for independent variables and "
        "grows with any kind of dependence, straight or curved. It has the scale of its kernels, "
        "so compare it only between targets measured alike."
    ),
    "cka": (
        "CKA (centred kernel alignment) is HSIC on a scale from 0 (independent) to 1 (the same, as "
        "far as the kernels can tell), so that targets of different kinds can be compared. It is "
        "not a correlation: two bell-shaped variables with a correlation of .5 have a CKA of 0.12."
    ),
    "dcor": (
        "The squared distance correlation is 0 for independent variables and 1 for a straight "
        "line; targets of different kinds can be compared."
    ),
}

REFERENCES = {
    "test": (
        "Bounliphone, W., Gretton, A., Tenenhaus, A., Blaschko, M. (2015). A low variance "
        "consistent test of relative dependency. ICML, PMLR 37, 20–29.",
        "https://proceedings.mlr.press/v37/bounliphone15.html",
    ),
    "hsic": (
        "Song, L., Smola, A., Gretton, A., Bedo, J., Borgwardt, K. (2012). Feature selection via "
        "dependence maximization. Journal of Machine Learning Research 13, 1393–1434. (The "
        "unbiased estimate of HSIC.)",
        "https://jmlr.org/papers/v13/song12a.html",
    ),
    "cka": (
        "Kornblith, S., Norouzi, M., Lee, H., Hinton, G. (2019). Similarity of neural network "
        "representations revisited. ICML, PMLR 97, 3519–3529.",
        "https://proceedings.mlr.press/v97/kornblith19a.html",
    ),
    "dcor": (
        "Székely, G. J., Rizzo, M. L. (2013). The distance correlation t-test of independence in "
        "high dimension. Journal of Multivariate Analysis 117, 193–213.",
        "https://doi.org/10.1016/j.jmva.2013.02.012",
    ),
    "ranking": (
        "Mogstad, M., Romano, J. P., Shaikh, A. M., Wilhelm, D. (2024). Inference for ranks with "
        "applications to mobility across neighbourhoods and academic achievement across "
        "countries. Review of Economic Studies 91, 476–518.",
        "https://doi.org/10.1093/restud/rdad006",
    ),
}
