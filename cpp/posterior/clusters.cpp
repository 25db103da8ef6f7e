#include "posterior/clusters.hpp"

#include <limits>
#include <numeric>
#include <utility>

namespace dunno {

Groups::Groups(const Problem& problem)
    : n_mothers_(problem.n_mothers),
      leader_(problem.n_mothers + problem.n_daughters),
      size_(problem.n_mothers + problem.n_daughters, 1) {
  std::iota(leader_.begin(), leader_.end(), 0);
}

std::int32_t Groups::find(std::int32_t cell) {
  while (leader_[cell] != cell) cell = leader_[cell] = leader_[leader_[cell]];
  return cell;
}

void Groups::join(std::int32_t mother, std::int32_t daughter, std::int32_t most) {
  std::int32_t a = of_mother(mother), b = of_daughter(daughter);
  if (a == b || size_[a] > most - size_[b]) return;
  if (size_[a] < size_[b]) std::swap(a, b);
  leader_[b] = a;
  size_[a] += size_[b];
}

std::vector<std::vector<std::int32_t>> Groups::mothers() {
  std::vector<std::int32_t> place(leader_.size(), -1);
  std::vector<std::vector<std::int32_t>> result;
  for (std::int32_t i = 0; i < n_mothers_; ++i) {
    std::int32_t& group = place[of_mother(i)];
    if (group < 0) {
      group = static_cast<std::int32_t>(result.size());
      result.emplace_back();
    }
    result[group].push_back(i);
  }
  return result;
}

Groups connected_components(const Problem& problem) {
  Groups groups(problem);
  for (std::int32_t j = 0; j < problem.n_daughters; ++j)
    for (std::int32_t e = problem.row[j]; e < problem.row[j + 1]; ++e)
      groups.join(problem.mother[e], j, std::numeric_limits<std::int32_t>::max());
  return groups;
}

Cluster ClusterBuilder::build(Groups& groups, const std::vector<std::int32_t>& mothers,
                              const std::vector<char>& eligible, std::int32_t fewest) {
  Cluster cluster;
  const std::int32_t group = groups.of_mother(mothers.front());
  std::vector<std::int32_t> daughters;
  for (const std::int32_t i : mothers)
    for (std::int32_t k = edges_.first[i]; k < edges_.first[i + 1]; ++k) {
      const std::int32_t j = edges_.daughter[edges_.edge[k]];
      if (eligible[edges_.edge[k]] && groups.of_daughter(j) == group && number_[j]++ == 0) daughters.push_back(j);
    }
  for (const std::int32_t j : daughters) {
    const bool stays = number_[j] >= fewest;
    number_[j] = stays ? static_cast<std::int32_t>(cluster.daughters.size()) + 1 : 0;  // counted from one
    if (stays) cluster.daughters.push_back(j);
  }
  cluster.mothers.reserve(mothers.size());
  cluster.edge.reserve(mothers.size());
  cluster.graph.daughters.reserve(mothers.size());
  std::vector<std::int32_t> inside, numbers;
  for (const std::int32_t i : mothers) {
    inside.clear();
    numbers.clear();
    for (std::int32_t k = edges_.first[i]; k < edges_.first[i + 1]; ++k) {
      const std::int32_t e = edges_.edge[k], number = number_[edges_.daughter[e]];
      if (number == 0 || !eligible[e]) continue;
      inside.push_back(e);
      numbers.push_back(number - 1);
    }
    if (inside.empty()) continue;
    cluster.mothers.push_back(i);
    cluster.edge.push_back(inside);  // copied, and so without room to spare
    cluster.graph.daughters.push_back(numbers);
  }
  cluster.graph.n_daughters = static_cast<std::int32_t>(cluster.daughters.size());
  for (const std::int32_t j : cluster.daughters) number_[j] = 0;
  return cluster;
}

template <typename Number>
double ClusterSolver<Number>::solve(const Cluster& cluster) {
  folded_.resize(cluster.graph);
  beliefs_.resize(cluster.graph);
  for (std::size_t i = 0; i < cluster.mothers.size(); ++i)
    if (weights_.is_listed(cluster.mothers[i]))
      beliefs_.twins[i].assign(cluster.edge[i].size() * cluster.edge[i].size(), Number(0.0));
  fold(cluster);
  frontier_.forward(cluster.plan, folded_);
  frontier_.backward(beliefs_);
  tell(cluster);
  return frontier_.log_sum();
}

// A mother's cut edges add to its having none inside, or one; a daughter's to its having none.
template <typename Number>
void ClusterSolver<Number>::fold(const Cluster& cluster) {
  for (std::size_t i = 0; i < cluster.mothers.size(); ++i) {
    const std::int32_t mother = cluster.mothers[i];
    const auto outside = messages_.outside_of_mother(mother);
    const Number pair = weights_.pair[mother];
    folded_.none[i] = weights_.none[mother] + outside.single + pair * outside.pairs;
    folded_.pair[i] = pair;
    weights_.triples_among(mother, cluster.edge[i], folded_.triple[i]);
    for (std::size_t k = 0; k < cluster.edge[i].size(); ++k) {
      const std::int32_t e = cluster.edge[i][k];
      folded_.single[i][k] = weights_.single[e] + messages_.dividing_outside(e, outside);
      folded_.dividing[i][k] = weights_.dividing[e];
    }
  }
  for (std::size_t j = 0; j < cluster.daughters.size(); ++j)
    folded_.appear[j] = messages_.outside_of_daughter(cluster.daughters[j]);
}

template <typename Number>
void ClusterSolver<Number>::tell(const Cluster& cluster) {
  for (std::size_t i = 0; i < cluster.mothers.size(); ++i) {
    messages_.none[cluster.mothers[i]] = beliefs_.none[i] / folded_.none[i];
    for (std::size_t k = 0; k < cluster.edge[i].size(); ++k) {
      const std::int32_t e = cluster.edge[i][k];
      const Number single = folded_.single[i][k];
      messages_.alone[e] = single == Number(0.0) ? Number(0.0) : beliefs_.single[i][k] / single;
      messages_.twin[e] = beliefs_.pair[i][k];
      messages_.in[e] = beliefs_.single[i][k] + beliefs_.pair[i][k];
    }
  }
  for (std::size_t j = 0; j < cluster.daughters.size(); ++j)
    messages_.out[cluster.daughters[j]] = beliefs_.appear[j] / folded_.appear[j];
  if (weights_.triples) tell_twins(cluster);
}

template <typename Number>
void ClusterSolver<Number>::tell_twins(const Cluster& cluster) {
  for (std::size_t i = 0; i < cluster.mothers.size(); ++i) {
    if (beliefs_.twins[i].empty()) continue;
    messages_.twins.resize(weights_.triple.size(), Number(0.0));
    const auto& edge = cluster.edge[i];
    const Triples& triples = *weights_.triples;
    for (std::size_t k = 0; k < edge.size(); ++k)
      for (std::size_t l = k + 1; l < edge.size(); ++l)
        messages_.twins[triples.at(cluster.mothers[i], edge[k], edge[l])] =
            messages_.twins[triples.at(cluster.mothers[i], edge[l], edge[k])] = beliefs_.twins[i][k * edge.size() + l];
  }
}

template class ClusterSolver<double>;
template class ClusterSolver<Wide>;

}  // namespace dunno
