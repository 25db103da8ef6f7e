// Where an affine field through its neighbours' displacements carries each cell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dunno {

// Added up in NumPy's order, so that it does not matter which of the two does it.
inline double pairwise_sum(const double* terms, std::size_t n) {
  double sum = -0.0;
  std::size_t k = 0;
  if (n >= 8) {
    std::array<double, 8> part;
    for (; k < 8; ++k) part[k] = terms[k];
    for (; k + 8 <= n; k += 8)
      for (std::size_t j = 0; j < 8; ++j) part[j] += terms[k + j];
    sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  }
  for (; k < n; ++k) sum += terms[k];
  return sum;
}

struct Neighbours {
  const double* place;       // (m, d)
  const std::int32_t* near;  // (m, k) rows
  std::size_t m, k, d;
};

// (m, k) squared distances from each cell to its neighbours.
inline std::vector<double> squared_distances(const Neighbours& cells) {
  std::vector<double> found(cells.m * cells.k);
  for (std::size_t i = 0; i < cells.m; ++i)
    for (std::size_t j = 0; j < cells.k; ++j) {
      const double* other = cells.place + cells.near[i * cells.k + j] * cells.d;
      double sum = 0.0;
      for (std::size_t a = 0; a < cells.d; ++a) {
        const double apart = other[a] - cells.place[i * cells.d + a];
        sum += apart * apart;
      }
      found[i * cells.k + j] = sum;
    }
  return found;
}

constexpr std::size_t kMostDimensions = 3;

// The first unknown of a symmetric system, from its lower half: the others are eliminated, last first.
inline void first_unknown(double (&gram)[kMostDimensions + 1][kMostDimensions + 1],
                          double (&pull)[kMostDimensions + 1][kMostDimensions], std::size_t d, double* found) {
  for (std::size_t k = d; k > 0; --k)
    for (std::size_t a = 0; a < k; ++a) {
      const double factor = gram[k][a] / gram[k][k];
      for (std::size_t c = 0; c < d; ++c) pull[a][c] -= factor * pull[k][c];
      for (std::size_t b = 0; b <= a; ++b) gram[a][b] -= factor * gram[k][b];
    }
  for (std::size_t c = 0; c < d; ++c) found[c] = pull[0][c] / gram[0][0];
}

// (m, d) drift, dilation and shear through the neighbours of each cell, at the cell itself.
//   share  (m, k) how much each neighbour counts
//   reach  (m,) the unit of distances
//   mean   (m, d) displacements
//   hold   weights of no drift, and of no dilation and shear
inline std::vector<double> local_field(const Neighbours& cells, const double* share, const double* reach, const double* mean,
                                       double hold, double hold_slopes) {
  const std::size_t k = cells.k, d = cells.d;
  std::vector<double> found(cells.m * d), design((d + 1) * k, 1.0), weighted((d + 1) * k), terms(k);
  double gram[kMostDimensions + 1][kMostDimensions + 1], pull[kMostDimensions + 1][kMostDimensions];
  for (std::size_t i = 0; i < cells.m; ++i) {
    const std::int32_t* near = cells.near + i * k;
    for (std::size_t a = 0; a <= d; ++a)
      for (std::size_t j = 0; j < k; ++j) {
        double& x = design[a * k + j];
        if (a > 0) x = (cells.place[near[j] * d + a - 1] - cells.place[i * d + a - 1]) / reach[i];
        weighted[a * k + j] = share[i * k + j] * x;
      }
    for (std::size_t a = 0; a <= d; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        for (std::size_t j = 0; j < k; ++j) terms[j] = weighted[a * k + j] * design[b * k + j];
        gram[a][b] = pairwise_sum(terms.data(), k);
      }
      gram[a][a] += a == 0 ? hold : hold_slopes;
      for (std::size_t c = 0; c < d; ++c) {
        for (std::size_t j = 0; j < k; ++j) terms[j] = weighted[a * k + j] * mean[near[j] * d + c];
        pull[a][c] = pairwise_sum(terms.data(), k);
      }
    }
    first_unknown(gram, pull, d, found.data() + i * d);
  }
  return found;
}

}  // namespace dunno
