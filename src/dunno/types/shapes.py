"""The shape that a cell's second moments tell of."""

import numpy as np

from dunno.types.arrays import Floats


def elongation(covariance: Floats) -> Floats:
    """(n,) ratio of the longest to the shortest axis, at least 1.

    Example:
        >>> elongation(np.array([[[1.0, 0.0], [0.0, 9.0]]]))
        array([3.])
    """
    axes = np.linalg.eigvalsh(covariance)
    return np.asarray(np.sqrt(np.maximum(axes[:, -1] / axes[:, 0], 1.0)))


def fullness(area: Floats, covariance: Floats) -> Floats:
    """(n,) area or volume over that of the ellipse or ellipsoid with the same second moments: 1 for one, less for others.

    Example:
        >>> fullness(np.array([4.0]), np.array([np.eye(2) / 3])).round(3)  # a square of side 2
        array([0.955])
    """
    d = covariance.shape[-1]
    ball = np.pi if d == 2 else 4 * np.pi / 3
    return np.asarray(area / (ball * np.sqrt((d + 2) ** d * np.linalg.det(covariance))))


def long_axis(covariance: Floats) -> Floats:
    """(n, d) unit vector along the longest axis; of its two directions the one towards larger x (else y, else z).

    Example:
        >>> long_axis(np.array([[[9.0, 0.0], [0.0, 1.0]]]))
        array([[1., 0.]])
    """
    axis = np.linalg.eigh(covariance)[1][:, :, -1] + 0.0  # no minus zeros
    sign = np.ones(len(axis))
    for component in axis.T:  # the last one that is not zero decides
        sign = np.where(component == 0, sign, np.sign(component))
    return np.asarray(axis * sign[:, None] + 0.0)
