#include "benchmarks/regret_rows.hpp"

#include <troupe/base/error.hpp>
#include <troupe/base/random.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <utility>

#include "benchmarks/suite.hpp"

namespace troupe::bench {
namespace {

constexpr int replicates = 1000;
/// Regrets below are rounding.
constexpr double regret_floor = 1e-8;

/// Regrets of a function, one a seed.
using Sample = std::vector<double>;
using Samples = std::map<std::string, Sample>;

Samples samples(const std::vector<RegretRow>& rows, std::uint64_t evaluations, Half half) {
  Samples result;
  for (const RegretRow& row : rows)
    if (row.evaluations == evaluations && belongs(row.function, half))
      result[row.function].push_back(std::max(row.regret, regret_floor));
  return result;
}

/// Of an even number the mean of the two in the middle.
double middle(Sample values) {
  const std::size_t half = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// What is added to both regrets before they are divided.
double least_of(const std::string& function) {
  const TestFunction& found = test_function(function);
  return found.resolution * found.scale;
}

double ratio(const Sample& ours, const Sample& theirs, double least) {
  return std::clamp((middle(ours) + least) / (middle(theirs) + least), 1e-3, 1e3);
}

Sample resample(const Sample& sample, Random& random) {
  Sample result;
  for (std::size_t i = 0; i < sample.size(); ++i)
    result.push_back(random.pick(sample));
  return result;
}

/// How many standard deviations the rank sum of `ours` lies below what chance gives; ties share
/// their ranks.
double rank_deviation(const Sample& ours, const Sample& theirs) {
  const auto m = static_cast<double>(ours.size());
  const auto n = static_cast<double>(theirs.size());
  double wins = 0;
  std::map<double, double> counts;
  for (const double a : ours)
    ++counts[a];
  for (const double b : theirs) {
    ++counts[b];
    for (const double a : ours)
      wins += a < b ? 1 : a == b ? 0.5 : 0;
  }
  double ties = 0;
  for (const auto& [value, count] : counts)
    ties += count * count * count - count;
  const double all = m + n;
  const double variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
  return variance > 0 ? (wins - m * n / 2) / std::sqrt(variance) : 0;
}

struct Pair {
  const Sample* ours;
  const Sample* theirs;
  double least;
};

void bootstrap(const std::vector<Pair>& pairs, Comparison& comparison) {
  std::vector<double> ratios;
  for (int replicate = 0; replicate < replicates; ++replicate) {
    Random random(1, static_cast<std::uint64_t>(replicate), RandomPurpose::test);
    double sum = 0;
    for (const Pair& pair : pairs) {
      const Sample ours = resample(*pair.ours, random);
      sum += std::log(ratio(ours, resample(*pair.theirs, random), pair.least));
    }
    ratios.push_back(std::exp(sum / static_cast<double>(pairs.size())));
  }
  std::sort(ratios.begin(), ratios.end());
  comparison.low = ratios[static_cast<std::size_t>(0.025 * replicates)];
  comparison.high = ratios[static_cast<std::size_t>(0.975 * replicates)];
}

template <class T>
bool read(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string to_csv(const RegretRow& row) {
  std::array<char, 200> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "%llu,%llu,%.6g,%.4g,%llu",
                static_cast<unsigned long long>(row.seed),
                static_cast<unsigned long long>(row.evaluations), row.regret, row.seconds,
                static_cast<unsigned long long>(row.duplicates));
  return row.version + ',' + row.sampler + ',' + row.function + ',' + numbers.data();
}

std::vector<RegretRow> read_regret_rows(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream)
    throw Exception(ErrorCode::not_found, "cannot open the table of regrets " + file.string());
  std::vector<RegretRow> rows;
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    std::vector<std::string_view> fields;
    for (std::size_t start = 0; start <= line.size();) {
      const std::size_t end = std::min(line.find(',', start), line.size());
      fields.push_back(std::string_view(line).substr(start, end - start));
      start = end + 1;
    }
    RegretRow row;
    if (fields.size() == 8)
      row = {std::string(fields[0]), std::string(fields[1]), std::string(fields[2])};
    if (fields.size() != 8 || !read(fields[3], row.seed) || !read(fields[4], row.evaluations) ||
        !read(fields[5], row.regret) || !read(fields[6], row.seconds) ||
        !read(fields[7], row.duplicates)) {
      throw Exception(ErrorCode::corrupt,
                      file.string() + ", line " + std::to_string(number) +
                          ": expected version,sampler,function,seed,evaluations,regret,seconds,"
                          "duplicates, found '" +
                          line + "'");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

bool belongs(std::string_view function, Half half) {
  if (half == Half::both)
    return true;
  const auto& all = suite();
  const auto found = std::find_if(all.begin(), all.end(), [&](const TestFunction& candidate) {
    return candidate.name == function;
  });
  return found != all.end() && ((found - all.begin()) % 2 == 0) == (half == Half::development);
}

Comparison compare(const std::vector<RegretRow>& ours, const std::vector<RegretRow>& theirs,
                   std::uint64_t evaluations, Half half) {
  const Samples our_samples = samples(ours, evaluations, half);
  const Samples their_samples = samples(theirs, evaluations, half);
  Comparison comparison;
  std::vector<Pair> pairs;
  double sum = 0;
  comparison.worst = 0;
  for (const auto& [function, sample] : our_samples) {
    const auto found = their_samples.find(function);
    if (found == their_samples.end())
      continue;
    pairs.push_back({&sample, &found->second, least_of(function)});
    const double one = ratio(sample, found->second, pairs.back().least);
    sum += std::log(one);
    if (one > comparison.worst) {
      comparison.worst = one;
      comparison.worst_function = function;
    }
    // 1.96: two-sided, p < 0.05.
    const double deviation = rank_deviation(sample, found->second);
    comparison.better += deviation > 1.96 ? 1 : 0;
    comparison.worse += deviation < -1.96 ? 1 : 0;
  }
  if (pairs.empty())
    return {};
  comparison.functions = pairs.size();
  comparison.ratio = std::exp(sum / static_cast<double>(pairs.size()));
  bootstrap(pairs, comparison);
  return comparison;
}

double score(const std::vector<RegretRow>& rows, std::uint64_t evaluations, Half half) {
  const Samples all = samples(rows, evaluations, half);
  if (all.empty())
    return 0;
  double sum = 0;
  for (const auto& [name, sample] : all) {
    const TestFunction& function = test_function(name);
    sum += std::log(middle(sample) / function.scale + function.resolution);
  }
  return std::exp(sum / static_cast<double>(all.size()));
}

}  // namespace troupe::bench
