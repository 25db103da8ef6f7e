#include "segments/sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dunno::segments {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

int count(std::uint8_t objects) { return (objects & 1) + (objects >> 1 & 1) + (objects >> 2 & 1); }

// Farther than what messages and weights leave between two uses of an object; the product for three is no underflow.
constexpr double kLowest = -230.0;

// exp of a scaled logarithm: what is impossible stays so, all else is far from underflow.
double scaled(double log_value) { return log_value == kNever ? 0.0 : std::exp(std::max(log_value, kLowest)); }

}  // namespace

void Sums::look(std::int64_t mask, const std::vector<double>& heard, const std::vector<double>& rest) {
  first_state_ = graph_.state_begin[mask];
  tables_.resize(static_cast<std::size_t>(graph_.states_of(mask)));
  before_.clear();
  after_.clear();
  for (std::int64_t s = 0; s < graph_.states_of(mask); ++s) fill(s, heard, rest);
}

double Sums::scale_of(const Table& table, std::uint8_t objects) {
  double sum = 0.0;
  for (int o = 0; o < kMostObjects; ++o) sum += (objects >> o & 1) != 0 ? table.scale[o] : 0.0;
  return sum;
}

void Sums::set_scale(Table& table, std::int64_t s, const std::vector<double>& heard, const double* rest) const {
  for (int o = 0; o < kMostObjects; ++o) table.scale[o] = (table.all >> o & 1) != 0 ? rest[o] : 0.0;
  for (std::int64_t l = side_.lane_begin[s]; l < side_.lane_begin[s + 1]; ++l) {
    for (std::int32_t u = side_.lanes[l].first_use; u < side_.lanes[l].first_use + side_.lanes[l].n_uses; ++u) {
      const std::uint8_t objects = graph_.use_objects[u];
      const double each = heard[u] / count(objects);
      for (int o = 0; o < kMostObjects; ++o) {
        if ((objects >> o & 1) != 0) table.scale[o] = std::max(table.scale[o], each);
      }
    }
  }
  for (double& scale : table.scale) scale = scale == kNever ? 0.0 : scale;
}

Sums::Row Sums::said(const Table& table, const Lane& lane, const std::vector<double>& heard) const {
  Row row{};
  for (std::int32_t u = lane.first_use; u < lane.first_use + lane.n_uses; ++u) {
    const std::uint8_t objects = graph_.use_objects[u];
    row[objects] = scaled(heard[u] - scale_of(table, objects));
  }
  return row;
}

void Sums::fill(std::int64_t s, const std::vector<double>& heard, const std::vector<double>& rest) {
  const std::int64_t state = first_state_ + s;
  const std::int64_t n = side_.lane_begin[state + 1] - side_.lane_begin[state];
  const double* own_rest = rest.data() + graph_.object_begin[state];
  Table& table = tables_[s];
  table.all = static_cast<std::uint8_t>((1 << (graph_.object_begin[state + 1] - graph_.object_begin[state])) - 1);
  table.first = before_.size();
  table.size = static_cast<std::size_t>(n) + 1;
  set_scale(table, state, heard, own_rest);
  before_.resize(table.first + table.size);
  after_.resize(table.first + table.size);
  const auto add = [&](const Row& from, const Row& by, Row& to) {
    to = from;
    for (std::uint8_t used = 1; used <= table.all; ++used) {
      if (by[used] == 0.0) continue;
      for (std::uint8_t sub = used; sub <= table.all; ++sub) {
        if ((sub & used) == used) to[sub] += by[used] * from[sub ^ used];
      }
    }
  };
  Row* before = &before_[table.first];
  Row* after = &after_[table.first];
  before[0] = {1.0};
  for (std::uint8_t sub = 0; sub <= table.all; ++sub) {
    double product = 1.0;
    for (int o = 0; o < kMostObjects; ++o) product *= (sub >> o & 1) != 0 ? scaled(own_rest[o] - table.scale[o]) : 1.0;
    after[n][sub] = product;
  }
  for (std::int64_t l = n - 1; l >= 0; --l) add(after[l + 1], said(table, lane(s, l), heard), after[l]);
  for (std::int64_t l = 0; l < n; ++l) add(before[l], said(table, lane(s, l), heard), before[l + 1]);
}

double Sums::total(std::int64_t s) const {
  const Table& table = tables_[s];
  return std::log(after_[table.first][table.all]) + scale_of(table, table.all);
}

double Sums::without(std::int64_t s, std::int64_t l, std::uint8_t objects) const {
  const Table& table = tables_[s];
  const auto left = static_cast<std::uint8_t>(table.all ^ objects);
  const Row& before = before_[table.first + l];
  const Row& after = after_[table.first + l + 1];
  double sum = 0.0;
  for (std::uint8_t sub = 0; sub <= left; ++sub) {
    if ((sub & left) == sub) sum += before[sub] * after[left ^ sub];
  }
  return std::log(sum) + scale_of(table, left);
}

}  // namespace dunno::segments
