// The files of bindings know both Python and the core. They convert, release Python's lock and translate errors.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "python.hpp"

#include "flow/batch.hpp"
#include "k_best/k_best.hpp"
#include "flow/map.hpp"
#include "posterior/marginals.hpp"
#include "posterior/rounds.hpp"
#include "images/cells.hpp"
#include "images/near.hpp"
#include "images/overlap.hpp"
#include "images/parts.hpp"
#include "numbers/special.hpp"
#include "places/local_field.hpp"
#include "places/tree.hpp"
#include "problem/problem.hpp"
#include "tables/border.hpp"
#include "tables/components.hpp"
#include "tables/rows.hpp"
#include "tables/sparse.hpp"
#include "sampling/sample.hpp"
#include "posterior/weights.hpp"

void bind_segments(nb::module_& m);

namespace {

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using RowTable = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Seeds = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Volume = nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// (n_daughters): indices into the caller's edge list.
std::vector<std::int64_t> to_given(const dunno::Problem& problem, const std::vector<std::int32_t>& chosen) {
  std::vector<std::int64_t> edge(chosen.size());
  for (std::size_t j = 0; j < chosen.size(); ++j)
    edge[j] = chosen[j] == dunno::kAppears ? dunno::kAppears : problem.given[chosen[j]];
  return edge;
}

dunno::Problem make_problem(const Indices& mother, const Indices& daughter, const Numbers& cost,
                            std::int64_t n_mothers, std::int64_t n_daughters, const Numbers& appear,
                            const Numbers& disappear, const Numbers& divide,
                            const std::optional<Numbers>& dividing_cost, const std::optional<Indices>& first_edge,
                            const std::optional<Indices>& second_edge, const std::optional<Numbers>& triple_cost) {
  const dunno::EdgeList edges{mother.data(), daughter.data(), cost.data(),
                              dividing_cost ? dividing_cost->data() : nullptr,
                              static_cast<std::int64_t>(mother.shape(0))};
  dunno::TripleList triples{};
  if (triple_cost)
    triples = {first_edge->data(), second_edge->data(), triple_cost->data(),
               static_cast<std::int64_t>(triple_cost->shape(0))};
  return dunno::make_problem(edges, n_mothers, n_daughters, to_vector(appear), to_vector(disappear),
                             to_vector(divide), triple_cost ? &triples : nullptr);
}

nb::tuple solve(const dunno::Problem& problem) {
  std::unique_ptr<dunno::Map> map;
  {
    Unlocked unlocked;
    PythonStop stop;
    map = std::make_unique<dunno::Map>(problem, stop);
    map->solve();
  }
  return nb::make_tuple(map->cost(), to_numpy(to_given(problem, map->chosen())), to_numpy(map->daughter_duals()),
                        to_numpy(map->mother_duals()));
}

nb::tuple solve_batch(const dunno::Problem& problem, const Table& costs) {
  dunno::Batch batch;
  {
    Unlocked unlocked;
    PythonStop stop;
    batch = dunno::solve_batch(problem, costs.data(), static_cast<std::int64_t>(costs.shape(0)), stop);
  }
  return nb::make_tuple(to_numpy(std::move(batch.cost)), to_numpy(std::move(batch.edge)));
}

nb::tuple k_best(const dunno::Problem& problem, std::int64_t k, bool freeze) {
  dunno::KBest best;
  std::vector<std::int64_t> daughter, edge;
  {
    Unlocked unlocked;
    PythonStop stop;
    best = dunno::k_best(problem, k, freeze, stop);
    for (const dunno::Difference& difference : best.differences) {
      daughter.push_back(difference.daughter);
      edge.push_back(difference.edge == dunno::kAppears ? dunno::kAppears : problem.given[difference.edge]);
    }
  }
  return nb::make_tuple(to_numpy(std::move(best.cost)), to_numpy(to_given(problem, best.map)),
                        to_numpy(std::move(best.start)), to_numpy(std::move(daughter)), to_numpy(std::move(edge)));
}

// (n_given): in the caller's order, zero for edges that were dropped.
std::vector<double> to_given_order(const dunno::Problem& problem, const std::vector<double>& values) {
  std::vector<double> given(problem.n_given, 0.0);
  for (std::size_t e = 0; e < values.size(); ++e) given[problem.given[e]] = values[e];
  return given;
}

dunno::Method to_method(const std::string& name) {
  return name == "exact"   ? dunno::Method::kExact
         : name == "bp"    ? dunno::Method::kPropagation
         : name == "rough" ? dunno::Method::kRough
                           : dunno::Method::kAuto;
}

nb::tuple from_marginals(const dunno::Problem& problem, dunno::Marginals&& found) {
  return nb::make_tuple(to_numpy(to_given_order(problem, found.edge)),
                        to_numpy(to_given_order(problem, found.dividing)), to_numpy(std::move(found.appear)),
                        to_numpy(std::move(found.disappear)), to_numpy(std::move(found.divide)), found.log_evidence,
                        found.exact, problem.triples ? nb::cast(to_numpy(std::move(found.triple))) : nb::none());
}

nb::tuple marginals(const dunno::Problem& problem, const std::string& method) {
  dunno::Marginals found;
  {
    Unlocked unlocked;
    PythonStop stop;
    found = dunno::marginals(problem, dunno::make_log_weights(problem, stop), to_method(method), stop);
  }
  return from_marginals(problem, std::move(found));
}

nb::tuple marginals_again(dunno::Rounds& rounds, const dunno::Problem& problem, const std::string& method) {
  dunno::Marginals found;
  {
    Unlocked unlocked;
    PythonStop stop;
    found = rounds.marginals(problem, to_method(method), stop);
  }
  return from_marginals(problem, std::move(found));
}

// The samples one after the other, and whether they are independent. `state` seeds the generator.
nb::tuple sample(const dunno::Problem& problem, std::int64_t n, const Seeds& state) {
  if (state.shape(0) != 4) throw nb::value_error("the generator's state has four numbers");
  dunno::Samples found;
  std::vector<std::int64_t> edge;
  {
    Unlocked unlocked;
    PythonStop stop;
    found = dunno::sample(problem, n, dunno::Random({state(0), state(1), state(2), state(3)}), stop);
    edge = to_given(problem, found.edge);
  }
  return nb::make_tuple(to_numpy(std::move(edge)), found.exact);
}

// Calls work(pixels) with a pointer of the labels' own type.
template <typename Work>
auto with_labels(const Volume& labels, Work work) {
  const auto type = labels.dtype();
  const void* pixels = labels.data();
  if (type == nb::dtype<std::uint8_t>()) return work(static_cast<const std::uint8_t*>(pixels));
  if (type == nb::dtype<std::uint16_t>()) return work(static_cast<const std::uint16_t*>(pixels));
  if (type == nb::dtype<std::uint32_t>()) return work(static_cast<const std::uint32_t*>(pixels));
  if (type == nb::dtype<std::uint64_t>()) return work(static_cast<const std::uint64_t*>(pixels));
  if (type == nb::dtype<std::int8_t>()) return work(static_cast<const std::int8_t*>(pixels));
  if (type == nb::dtype<std::int16_t>()) return work(static_cast<const std::int16_t*>(pixels));
  if (type == nb::dtype<std::int32_t>()) return work(static_cast<const std::int32_t*>(pixels));
  if (type == nb::dtype<std::int64_t>()) return work(static_cast<const std::int64_t*>(pixels));
  throw nb::type_error("labels must be integers");
}

// The same for an image, whose pixels may be fractions.
template <typename Work>
auto with_image(const Volume& image, Work work) {
  if (image.dtype() == nb::dtype<float>()) return work(static_cast<const float*>(image.data()));
  if (image.dtype() == nb::dtype<double>()) return work(static_cast<const double*>(image.data()));
  return with_labels(image, work);
}

dunno::Shape shape_of(const Volume& volume) {
  return {static_cast<std::int64_t>(volume.shape(0)), static_cast<std::int64_t>(volume.shape(1)),
          static_cast<std::int64_t>(volume.shape(2))};
}

// Columns of regions, to be filled row by row.
struct RegionColumns {
  std::vector<std::int64_t> label, area, sum, low, high;

  void add(const dunno::Region& region) {
    label.push_back(region.label);
    area.push_back(region.area);
    sum.insert(sum.end(), region.sum.begin(), region.sum.end());
    low.insert(low.end(), region.low.begin(), region.low.end());
    high.insert(high.end(), region.high.begin(), region.high.end());
  }
  nb::tuple to_tuple() {
    return nb::make_tuple(to_numpy(std::move(label)), to_numpy(std::move(area)), to_numpy(std::move(sum)),
                          to_numpy(std::move(low)), to_numpy(std::move(high)));
  }
};

nb::tuple measure(const Volume& labels) {
  RegionColumns columns;
  {
    Unlocked unlocked;
    const auto regions = with_labels(labels, [&](auto pixels) { return dunno::measure(pixels, shape_of(labels)); });
    for (const dunno::Region& region : regions) columns.add(region);
  }
  return columns.to_tuple();
}

dunno::Runs runs_of(const Volume& labels) {
  return with_labels(labels, [&](auto pixels) { return dunno::find_runs(pixels, shape_of(labels)); });
}

std::uint64_t digest(const Volume& labels) {
  Unlocked unlocked;
  return dunno::digest(runs_of(labels));
}

// What measure_cells finds, in columns.
struct CellColumns {
  RegionColumns regions;
  std::vector<double> covariance, touching, total, mean, deviation;
  std::vector<std::int64_t> pieces;
  std::uint64_t digest = 0;
  double background = std::numeric_limits<double>::quiet_NaN();

  template <typename Label>
  void measure(const Label* pixels, const dunno::Runs& runs, const std::optional<Volume>& image,
               const std::vector<std::int64_t>& order) {
    const dunno::FrameCells frame = dunno::measure_cells(pixels, runs);
    digest = frame.digest;
    std::vector<dunno::Brightness> brightness;
    if (image) brightness = with_image(*image, [&](auto light) { return dunno::find_brightness(light, runs); });
    for (const std::int64_t r : order) {
      const dunno::Cell& cell = frame.cells[r];
      regions.add(cell.region);
      covariance.insert(covariance.end(), cell.covariance.begin(), cell.covariance.end());
      const double outline = static_cast<double>(std::max<std::int64_t>(cell.outline.pixels, 1));
      touching.push_back(static_cast<double>(cell.outline.touching) / outline);
      pieces.push_back(cell.pieces);
      if (!image) continue;
      total.push_back(brightness[r].total);
      mean.push_back(brightness[r].mean);
      deviation.push_back(brightness[r].deviation);
    }
  }
  nb::tuple to_tuple() {
    const nb::tuple light = nb::make_tuple(to_numpy(std::move(total)), to_numpy(std::move(mean)),
                                           to_numpy(std::move(deviation)), background);
    return nb::make_tuple(regions.to_tuple(), to_numpy(std::move(covariance)), to_numpy(std::move(touching)),
                          to_numpy(std::move(pieces)), digest, light);
  }
};

void refuse_other_shape(const Volume& labels, const std::optional<Volume>& image) {
  if (image && shape_of(*image) != shape_of(labels)) throw nb::value_error("labels and image of different shapes");
}

// Regions, shapes and, where there is an image, brightness; rows by ascending label.
nb::tuple measure_cells(const Volume& labels, const std::optional<Volume>& image) {
  refuse_other_shape(labels, image);
  CellColumns columns;
  {
    Unlocked unlocked;
    const dunno::Runs runs = runs_of(labels);
    with_labels(labels, [&](auto pixels) { columns.measure(pixels, runs, image, dunno::by_label(runs)); });
    if (image) columns.background = with_image(*image, [&](auto light) { return dunno::find_background(light, runs); });
  }
  return columns.to_tuple();
}

dunno::Point sides_of_a_pixel(const Numbers& scale) {
  if (scale.shape(0) != 3) throw nb::value_error("a pixel has three sides");
  return {scale(0), scale(1), scale(2)};
}

std::vector<std::int64_t> counted(std::int64_t n) {
  std::vector<std::int64_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
}

// Some masks, by their row, in halves (into 1), in two parts (2) and in three (3); and an image of numbers: 1 to n the masks, then
// the parts of those that are cut, then those of the larger ones that are cut again.
nb::tuple cut_masks(const Volume& labels, const std::optional<Volume>& image, const Indices& rows, const Indices& into,
                    const Numbers& scale) {
  refuse_other_shape(labels, image);
  const std::size_t n = rows.shape(0);
  if (into.shape(0) != n) throw nb::value_error("a mask is cut into a number of parts");
  const dunno::Point sides = sides_of_a_pixel(scale);
  CellColumns two, more;
  std::vector<double> apart, ratio, neck;
  std::vector<std::int64_t> cut, again;
  std::vector<std::int32_t> numbers;
  {
    Unlocked unlocked;
    dunno::Runs runs = runs_of(labels);
    const std::vector<std::int64_t> order = dunno::by_label(runs);
    std::vector<dunno::AskedMask> asked, larger;
    for (std::size_t k = 0; k < n; ++k) {
      if (rows(k) < 0 || rows(k) >= runs.n_regions() || (k > 0 && rows(k) <= rows(k - 1)))
        throw nb::value_error("rows of masks, ascending");
      asked.push_back({order[rows(k)], into(k) > 1});
    }
    const std::int64_t first = runs.n_regions() + 1;
    dunno::Parts found = dunno::find_parts(runs, asked, first, sides);
    for (const dunno::Halves& halves : found.halves) {
      for (int a = 0; a < 3; ++a) apart.push_back(halves.first[a] - halves.second[a]);
      ratio.push_back(halves.ratio);
    }
    for (std::size_t i = 0; i < order.size(); ++i) runs.label[order[i]] = static_cast<std::int64_t>(i) + 1;
    numbers.assign(labels.size(), 0);
    dunno::paint(runs, numbers);
    dunno::paint(found.runs, numbers);
    two.measure(numbers.data(), found.runs, image, counted(found.runs.n_regions()));
    const std::vector<std::int64_t> largest = dunno::larger_parts(found.runs);
    for (std::size_t k = 0; k < found.cut.size(); ++k)
      if (into(found.cut[k]) > 2) larger.push_back({largest[k], true});
    const dunno::Parts cut_again = dunno::find_parts(found.runs, larger, first + found.runs.n_regions(), sides);
    for (const std::int64_t k : cut_again.cut) again.push_back(found.cut[larger[k].region / 2]);
    dunno::paint(cut_again.runs, numbers);
    more.measure(numbers.data(), cut_again.runs, image, counted(cut_again.runs.n_regions()));
    neck = std::move(found.neck);
    cut = std::move(found.cut);
  }
  return nb::make_tuple(to_numpy(std::move(apart)), to_numpy(std::move(ratio)), to_numpy(std::move(neck)),
                        to_numpy(std::move(cut)), two.to_tuple(), to_numpy(std::move(again)), more.to_tuple(),
                        to_numpy(std::move(numbers)));
}

nb::tuple near_masks(const Volume& labels, double reach, const Numbers& scale) {
  const dunno::Point sides = sides_of_a_pixel(scale);
  std::vector<std::int64_t> first, second;
  std::vector<double> distance;
  {
    Unlocked unlocked;
    const dunno::Runs runs = runs_of(labels);
    const std::vector<std::int64_t> order = dunno::by_label(runs);
    std::vector<std::int64_t> row(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) row[order[i]] = static_cast<std::int64_t>(i);
    for (const dunno::NearPair& pair : dunno::find_near(runs, reach, sides)) {
      first.push_back(std::min(row[pair.first], row[pair.second]));
      second.push_back(std::max(row[pair.first], row[pair.second]));
      distance.push_back(pair.distance);
    }
  }
  return nb::make_tuple(to_numpy(std::move(first)), to_numpy(std::move(second)), to_numpy(std::move(distance)));
}

template <typename Label>
using Flat = nb::ndarray<const Label, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Label>
nb::tuple count_overlaps(const Flat<Label>& first, const Flat<Label>& second) {
  if (first.shape(0) != second.shape(0)) throw nb::value_error("two images of different sizes");
  std::vector<dunno::Overlap> overlaps;
  {
    Unlocked unlocked;
    overlaps = dunno::count_overlaps(first.data(), second.data(), static_cast<std::int64_t>(first.shape(0)));
  }
  std::vector<std::int64_t> one, other, pixels;
  for (const dunno::Overlap& overlap : overlaps) {
    one.push_back(overlap.first);
    other.push_back(overlap.second);
    pixels.push_back(overlap.pixels);
  }
  return nb::make_tuple(to_numpy(std::move(one)), to_numpy(std::move(other)), to_numpy(std::move(pixels)));
}

// Columns are int64 or float64 arrays of one length.
nb::bytes format_rows(const nb::list& given) {
  std::vector<dunno::Column> columns;
  std::vector<nb::object> kept;  // the arrays must outlive the pointers
  std::int64_t rows = -1;
  for (nb::handle each : given) {
    Indices whole;
    Numbers fraction;
    dunno::Column column;
    std::int64_t length = 0;
    if (nb::try_cast<Indices>(each, whole, false)) {
      column.whole = whole.data();
      length = static_cast<std::int64_t>(whole.shape(0));
    } else if (nb::try_cast<Numbers>(each, fraction, false)) {
      column.fraction = fraction.data();
      length = static_cast<std::int64_t>(fraction.shape(0));
    } else {
      throw nb::value_error("a column is neither int64 nor float64, or not contiguous");
    }
    if (rows >= 0 && length != rows) throw nb::value_error("columns of different lengths");
    rows = length;
    columns.push_back(column);
    kept.push_back(nb::borrow(each));
  }
  std::string text;
  {
    Unlocked unlocked;
    text = dunno::format_rows(columns, rows < 0 ? 0 : rows);
  }
  return nb::bytes(text.data(), text.size());
}

// Steps from (n, d) places that end outside a box; widths are (n, d), or (1, d) for all places alike.
nb::object steps_outside(Table places, Numbers low, Numbers high, Table width, Numbers below, Numbers slope) {
  const std::size_t n = places.shape(0), d = places.shape(1), rows = width.shape(0), knots = below.shape(0);
  if (low.shape(0) != d || high.shape(0) != d || width.shape(1) != d || (rows != n && rows != 1))
    throw nb::value_error("places, box and widths are of different shapes");
  if (knots < 2 || slope.shape(0) != knots) throw nb::value_error("expected two knots or more, with a slope each");
  std::vector<double> found;
  {
    Unlocked unlocked;
    found = dunno::steps_outside(places.data(), n, d, low.data(), high.data(), width.data(), rows == 1 ? 0 : d,
                                 {below.data(), slope.data(), knots});
  }
  return nb::cast(to_numpy(std::move(found)));
}

// A function of every number.
template <typename Function>
nb::ndarray<nb::numpy, double, nb::ndim<1>> each(const Numbers& x, const Function& function) {
  std::vector<double> result(x.shape(0));
  {
    Unlocked unlocked;
    std::transform(x.data(), x.data() + x.shape(0), result.begin(), function);
  }
  return to_numpy(std::move(result));
}

void check_dimensions(const Table& places, const Table& others) {
  if (places.shape(1) != others.shape(1)) throw nb::value_error("places of different dimensions");
}

nb::tuple within(const Table& places, const Table& others, double reach, std::int64_t most) {
  check_dimensions(places, others);
  if (most < 1) throw nb::value_error("expected to keep at least one other of each place");
  std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> pairs;
  {
    Unlocked unlocked;
    pairs = dunno::within(places.data(), places.shape(0), others.data(), others.shape(0), others.shape(1), reach,
                          most);
  }
  return nb::make_tuple(to_numpy(std::move(pairs.first)), to_numpy(std::move(pairs.second)));
}

nb::tuple nearest(const Table& places, const Table& others, std::int64_t k) {
  check_dimensions(places, others);
  dunno::Nearest found;
  {
    Unlocked unlocked;
    found = dunno::nearest(places.data(), places.shape(0), others.data(), others.shape(0), others.shape(1), k);
  }
  return nb::make_tuple(to_numpy(std::move(found.distance)), to_numpy(std::move(found.index)));
}

nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> nearest_in_groups(const Table& places, const Indices& begin,
                                                                    std::int64_t k) {
  std::vector<std::int64_t> index;
  {
    Unlocked unlocked;
    index = dunno::nearest_in_groups(places.data(), places.shape(1), begin.data(),
                                     static_cast<std::int64_t>(begin.shape(0)) - 1, k);
  }
  return to_numpy(std::move(index));
}

dunno::Neighbours to_neighbours(const Table& places, const RowTable& near) {
  const std::size_t m = places.shape(0), k = near.shape(1), d = places.shape(1);
  const auto is_row = [&](std::int32_t row) { return row >= 0 && static_cast<std::size_t>(row) < m; };
  if (near.shape(0) != m || d > dunno::kMostDimensions || !std::all_of(near.data(), near.data() + m * k, is_row))
    throw nb::value_error("expected the neighbours of each place, as rows of places with at most three dimensions");
  return {places.data(), near.data(), m, k, d};
}

nb::object squared_distances(const Table& places, const RowTable& near) {
  const dunno::Neighbours cells = to_neighbours(places, near);
  std::vector<double> found;
  {
    Unlocked unlocked;
    found = dunno::squared_distances(cells);
  }
  return nb::cast(to_numpy(std::move(found)));
}

nb::object local_field(const Table& places, const RowTable& near, const Table& share, const Numbers& reach, const Table& mean,
                       double hold, double hold_slopes) {
  const dunno::Neighbours cells = to_neighbours(places, near);
  if (share.shape(0) != cells.m || share.shape(1) != cells.k || reach.shape(0) != cells.m || mean.shape(0) != cells.m ||
      mean.shape(1) != cells.d)
    throw nb::value_error("shares, reach and displacements are of different shapes");
  std::vector<double> found;
  {
    Unlocked unlocked;
    found = dunno::local_field(cells, share.data(), reach.data(), mean.data(), hold, hold_slopes);
  }
  return nb::cast(to_numpy(std::move(found)));
}

nb::tuple sparse_product(const Indices& begin, const Indices& column, const Numbers& value, const Indices& other_begin,
                         const Indices& other_column, const Numbers& other_value, std::int64_t n_columns) {
  const dunno::RowsView first{begin.data(), column.data(), value.data(), static_cast<std::int64_t>(begin.shape(0)) - 1};
  const dunno::RowsView second{other_begin.data(), other_column.data(), other_value.data(),
                               static_cast<std::int64_t>(other_begin.shape(0)) - 1};
  dunno::Rows rows;
  {
    Unlocked unlocked;
    rows = dunno::product(first, second, n_columns);
  }
  return nb::make_tuple(to_numpy(std::move(rows.begin)), to_numpy(std::move(rows.column)), to_numpy(std::move(rows.value)));
}

nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> components(const Indices& first, const Indices& second, std::int64_t n) {
  const auto is_row = [&](std::int64_t row) { return row >= 0 && row < n; };
  if (first.shape(0) != second.shape(0) || !std::all_of(first.data(), first.data() + first.shape(0), is_row) ||
      !std::all_of(second.data(), second.data() + second.shape(0), is_row))
    throw nb::value_error("an edge has two ends, both below n");
  return to_numpy(dunno::components(first.data(), second.data(), static_cast<std::int64_t>(first.shape(0)), n));
}

}  // namespace

NB_MODULE(_core, m) {
  { Unlocked looked; }  // for calls that are too short to be unlocked
  m.doc() = "The C++ core. Use it through dunno.assignment and dunno.labels, which check what they pass on.";

  nb::class_<dunno::Problem>(m, "Problem", "An assignment problem in rows of daughters.");
  m.def("make_problem", &make_problem, "mother"_a.noconvert(), "daughter"_a.noconvert(), "cost"_a.noconvert(),
        "n_mothers"_a, "n_daughters"_a, "appear"_a.noconvert(), "disappear"_a.noconvert(), "divide"_a.noconvert(),
        "dividing_cost"_a.noconvert() = nb::none(), "first_edge"_a.noconvert() = nb::none(),
        "second_edge"_a.noconvert() = nb::none(), "triple_cost"_a.noconvert() = nb::none(),
        "Sort an edge list into rows; raises ValueError on bad input.");
  m.def("is_convex", &dunno::Problem::is_convex, "problem"_a, "Whether divide >= -disappear for every mother.");
  m.def("solve", &solve, "problem"_a, "The cheapest assignment: cost, edge, daughters' duals, mothers' duals.");
  m.def("solve_batch", &solve_batch, "problem"_a, "costs"_a.noconvert(),
        "The cheapest assignment for each row of (K, given edges) costs: cost, edge (flat).");
  m.def("k_best", &k_best, "problem"_a, "k"_a, "freeze"_a = true,
        "The k cheapest assignments: cost, the first one's edge, and the others' differences from it (start, daughter, "
        "edge).");
  m.def("marginals", &marginals, "problem"_a, "method"_a,
        "Posterior marginals: edge, edge_dividing, appear, disappear, divide, log_evidence, exact, triple or None.");
  nb::class_<dunno::Rounds>(m, "Rounds", "What is kept of problems between calls with other costs.")
      .def(nb::init<>())
      .def("marginals", &marginals_again, "problem"_a, "method"_a, "As the function, beginning from what is kept.");
  m.def("sample", &sample, "problem"_a, "n"_a, "state"_a.noconvert(),
        "Posterior samples, flat (n * n_daughters), and whether all of them are independent.");
  m.def("measure", &measure, "labels"_a.noconvert(),
        "Label, area, coordinate sums and bounding box (low, high; flat triples) of every label in a (Z, Y, X) image.");
  m.def("digest", &digest, "labels"_a.noconvert(), "A number by which a (Z, Y, X) label image is known again.");
  m.def("measure_cells", &measure_cells, "labels"_a.noconvert(), "image"_a.noconvert() = nb::none(),
        "The columns of measure; covariance (flat 3 x 3), touching, pieces and digest; total, mean, deviation, background.");
  m.def("cut_masks", &cut_masks, "labels"_a.noconvert(), "image"_a.noconvert().none(), "rows"_a.noconvert(),
        "into"_a.noconvert(), "scale"_a.noconvert(),
        "Masks in halves: from one's centroid to the other's (flat triples), log ratio of areas, what the neck is worth. Those that "
        "are cut, and the columns of measure_cells of their parts, two of each; the same of larger parts that are cut again; and a "
        "flat image that numbers masks from 1 on, and then the parts in these orders.");
  m.def("near_masks", &near_masks, "labels"_a.noconvert(), "reach"_a, "scale"_a.noconvert(),
        "Pairs of masks (rows) no farther apart than the reach, in no order, and the distance of their nearest pixels.");
  m.def("count_overlaps", &count_overlaps<std::uint16_t>, "first"_a.noconvert(), "second"_a.noconvert(),
        "Pairs of labels that share pixels in two flat images, and how many.");
  m.def("count_overlaps", &count_overlaps<std::uint32_t>, "first"_a.noconvert(), "second"_a.noconvert());
  m.def("steps_outside", &steps_outside, "places"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), "width"_a.noconvert(),
        "below"_a.noconvert(), "slope"_a.noconvert(),
        "Probability of each place that a step from it ends outside a box; the law is told by a table.");
  m.def("squared_distances", &squared_distances, "places"_a.noconvert(), "near"_a.noconvert(),
        "From each place to those of some rows, flat.");
  m.def("local_field", &local_field, "places"_a.noconvert(), "near"_a.noconvert(), "share"_a.noconvert(),
        "reach"_a.noconvert(), "mean"_a.noconvert(), "hold"_a, "hold_slopes"_a,
        "Where an affine field through the neighbours' displacements carries each place, flat.");
  m.def("format_rows", &format_rows, "columns"_a,
        "Columns (int64 or float64) as lines: whole numbers, others with nine digits, nothing for NaN.");
  m.def("log_gamma", &dunno::log_gamma, "x"_a, "log of the gamma function of a positive number.");
  m.def("digamma", &dunno::digamma, "x"_a, "Its slope.");
  m.def("normal_below", [](const Numbers& x) { return each(x, dunno::normal_below); }, "x"_a.noconvert(),
        "Share of a standard normal below x.");
  m.def(
      "student_below",
      [](double tail, const Numbers& x) { return each(x, [&](double z) { return dunno::student_below(tail, z); }); },
      "tail"_a, "x"_a.noconvert(), "Share of a standard Student-t below x.");
  m.def(
      "chi_square_below",
      [](double degrees, const Numbers& x) { return each(x, [&](double z) { return dunno::chi_square_below(degrees, z); }); },
      "degrees"_a, "x"_a.noconvert(), "Share of a chi-square below x.");
  m.def(
      "f_below",
      [](double first, double second, const Numbers& x) {
        return each(x, [&](double z) { return dunno::f_below(first, second, z); });
      },
      "first"_a, "second"_a, "x"_a.noconvert(), "Share of Fisher's F below x.");
  m.def("beta_below", [](double a, double b, double x) { return dunno::beta_below(a, b, x, 1.0 - x); }, "a"_a, "b"_a, "x"_a,
        "Share of a beta distribution below x.");
  m.def("chi_square_beyond", &dunno::chi_square_beyond, "degrees"_a, "share"_a,
        "Beyond which a share of a chi-square lies.");
  m.def("f_beyond", &dunno::f_beyond, "first"_a, "second"_a, "share"_a, "Beyond which a share of Fisher's F lies.");
  m.def("bessel_i0e", [](const Numbers& x) { return each(x, dunno::bessel_i0e); }, "x"_a.noconvert(),
        "exp(-|x|) times the modified Bessel function of order 0.");
  m.def("dawson", [](const Numbers& x) { return each(x, dunno::dawson); }, "x"_a.noconvert(), "Dawson's integral.");
  m.def("within", &within, "places"_a.noconvert(), "others"_a.noconvert(), "reach"_a,
        "most"_a = std::numeric_limits<std::int64_t>::max(),
        "Pairs of (n, d) places and (m, d) others no farther apart than reach, by place, then by other; of each place the most "
        "nearest.");
  m.def("nearest", &nearest, "places"_a.noconvert(), "others"_a.noconvert(), "k"_a,
        "Distance and index of the k nearest others of each place (flat n * k); infinite and m where there are too few.");
  m.def("nearest_in_groups", &nearest_in_groups, "places"_a.noconvert(), "begin"_a.noconvert(), "k"_a,
        "The k nearest others of each place in its group (flat n * k); itself where there are too few.");
  m.def("components", &components, "first"_a.noconvert(), "second"_a.noconvert(), "n"_a,
        "The lowest row of each row's component, by edges between n rows.");
  m.def("sparse_product", &sparse_product, "begin"_a.noconvert(), "column"_a.noconvert(), "value"_a.noconvert(),
        "other_begin"_a.noconvert(), "other_column"_a.noconvert(), "other_value"_a.noconvert(), "n_columns"_a,
        "The product of two matrices kept as rows of columns and values: begin, column, value.");
  m.def(
      "request_stop", [](bool stop) { dunno::stop_requested().store(stop); }, "stop"_a,
      "Make all running calls of the core end with Stopped, or allow new ones.");
  bind_segments(m);

#ifdef DUNNO_CHECK
  m.attr("checks_invariants") = true;
#else
  m.attr("checks_invariants") = false;
#endif

  nb::exception<dunno::Stopped>(m, "Stopped", PyExc_RuntimeError);
}
