#include <troupe/base/error.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/base/metrics_registry.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <mutex>
#include <variant>

namespace troupe {
namespace {

void add_to(std::atomic<double>& target, double v) noexcept {
  double old = target.load(std::memory_order_relaxed);
  while (!target.compare_exchange_weak(old, old + v, std::memory_order_relaxed)) {
  }
}

bool is_name(std::string_view text, bool colon) noexcept {
  const auto letter = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':');
  };
  if (text.empty() || text.size() > limits::max_name_bytes || !letter(text.front()))
    return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string number(double v) {
  if (std::isnan(v))
    return "NaN";
  if (std::isinf(v))
    return v > 0 ? "+Inf" : "-Inf";
  std::array<char, 40> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), v);
  return {digits.data(), result.ptr};
}

std::string escape(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

// `a="1",b="2"`, sorted by name, without braces.
std::string label_text(std::string_view metric, MetricLabels labels) {
  std::sort(labels.begin(), labels.end());
  std::string text;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto& [name, value] = labels[i];
    const bool reserved = name.starts_with("__") || name == "le";
    if (!is_name(name, false) || reserved || (i > 0 && labels[i - 1].first == name))
      throw Exception(ErrorCode::invalid_argument,
                      "metric '" + std::string(metric) + "': label '" + name +
                          "' is reserved, given twice, or not letters, digits and '_'");
    if (!text.empty())
      text += ',';
    text += name + "=\"" + escape(value, true) + '"';
  }
  return text;
}

std::string braces(const std::string& labels) {
  return labels.empty() ? "" : '{' + labels + '}';
}

std::string with_bound(const std::string& labels, const std::string& bound) {
  return '{' + labels + (labels.empty() ? "" : ",") + "le=\"" + bound + "\"}";
}

void expose_series(std::string& out, const std::string& name, const std::string& labels,
                   const Counter& counter) {
  out += name + braces(labels) + ' ' + std::to_string(counter.value()) + '\n';
}

void expose_series(std::string& out, const std::string& name, const std::string& labels,
                   const Gauge& gauge) {
  out += name + braces(labels) + ' ' + number(gauge.value()) + '\n';
}

void expose_series(std::string& out, const std::string& name, const std::string& labels,
                   const Histogram& histogram) {
  // Counted from the buckets, so that "+Inf" equals the count while others observe.
  std::uint64_t total = 0;
  const auto bounds = histogram.bounds();
  for (std::size_t i = 0; i <= bounds.size(); ++i) {
    total += histogram.bucket(i);
    const std::string bound = i < bounds.size() ? number(bounds[i]) : "+Inf";
    out += name + "_bucket" + with_bound(labels, bound) + ' ' + std::to_string(total) + '\n';
  }
  out += name + "_sum" + braces(labels) + ' ' + number(histogram.sum()) + '\n';
  out += name + "_count" + braces(labels) + ' ' + std::to_string(total) + '\n';
}

template <class T>
using Family = std::map<std::string, std::unique_ptr<T>>;  // by label text

struct Metric {
  std::string help;
  std::vector<double> bounds;
  std::variant<Family<Counter>, Family<Gauge>, Family<Histogram>> family;
};

constexpr std::array<std::string_view, 3> kind_names{"counter", "gauge", "histogram"};

}  // namespace

void Gauge::add(double v) noexcept {
  add_to(value_, v);
}

Histogram::Histogram(std::vector<double> upper_bounds) : bounds_(std::move(upper_bounds)) {
  const bool ascending =
      std::adjacent_find(bounds_.begin(), bounds_.end(), std::greater_equal<>()) == bounds_.end();
  if (!ascending ||
      !std::all_of(bounds_.begin(), bounds_.end(), [](double b) { return std::isfinite(b); }))
    throw Exception(ErrorCode::invalid_argument,
                    "the bounds of a histogram must be finite and ascend");
  buckets_ = std::make_unique<std::atomic<std::uint64_t>[]>(bounds_.size() + 1);
}

void Histogram::observe(double v) noexcept {
  // A NaN is below no bound and so falls into the last bucket.
  const auto at = std::partition_point(bounds_.begin(), bounds_.end(),
                                       [&](double bound) { return !(v <= bound); });
  buckets_[static_cast<std::size_t>(at - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
  add_to(sum_, v);
}

std::uint64_t Histogram::count() const noexcept {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i)
    total += bucket(i);
  return total;
}

std::vector<double> Histogram::latency_bounds_s() {
  return {1e-5, 2.5e-5, 1e-4, 2.5e-4, 1e-3, 2.5e-3, 1e-2, 2.5e-2, 0.1, 0.25, 1, 2.5, 10, 30, 60};
}

struct MetricsRegistry::State {
  std::mutex mutex;
  std::map<std::string, Metric, std::less<>> metrics;
  std::size_t series = 0;

  template <class T, class Make>
  T& find_or_make(std::string_view name, const MetricLabels& labels, std::string_view help,
                  const Make& make) {
    if (!is_name(name, true))
      throw Exception(ErrorCode::invalid_argument,
                      "metric name '" + std::string(name) +
                          "': letters, digits, '_' and ':' only, no digit first");
    const std::string text = label_text(name, labels);
    const std::lock_guard lock(mutex);
    auto metric = metrics.find(name);
    if (metric == metrics.end())
      metric = metrics.emplace(name, Metric{std::string(help), {}, Family<T>()}).first;
    auto* family = std::get_if<Family<T>>(&metric->second.family);
    if (family == nullptr)
      throw Exception(ErrorCode::failed_precondition,
                      "metric '" + std::string(name) + "' is a " +
                          std::string(kind_names[metric->second.family.index()]) + " already");
    auto& slot = (*family)[text];
    if (!slot) {
      if (series >= limits::max_metric_series) {
        family->erase(text);
        throw Exception(ErrorCode::resource_exhausted,
                        "metric '" + std::string(name) + "': more than " +
                            std::to_string(limits::max_metric_series) +
                            " series; a label has too many different values");
      }
      slot = make(metric->second);
      ++series;
    }
    return *slot;
  }
};

MetricsRegistry::MetricsRegistry() : state_(std::make_unique<State>()) {}
MetricsRegistry::~MetricsRegistry() = default;

MetricsRegistry& MetricsRegistry::global() {
  static auto* const registry = new MetricsRegistry;  // used until the end of the process
  return *registry;
}

Counter& MetricsRegistry::counter(std::string_view name, const MetricLabels& labels,
                                  std::string_view help) {
  return state_->find_or_make<Counter>(name, labels, help,
                                       [](Metric&) { return std::make_unique<Counter>(); });
}

Gauge& MetricsRegistry::gauge(std::string_view name, const MetricLabels& labels,
                              std::string_view help) {
  return state_->find_or_make<Gauge>(name, labels, help,
                                     [](Metric&) { return std::make_unique<Gauge>(); });
}

Histogram& MetricsRegistry::histogram(std::string_view name, const MetricLabels& labels,
                                      std::string_view help, std::vector<double> upper_bounds) {
  auto made =
      std::make_unique<Histogram>(std::move(upper_bounds));  // checks before anything is kept
  return state_->find_or_make<Histogram>(name, labels, help, [&](Metric& metric) {
    const auto& family = std::get<Family<Histogram>>(metric.family);
    if (family.size() == 1)
      metric.bounds.assign(made->bounds().begin(), made->bounds().end());
    return std::make_unique<Histogram>(metric.bounds);
  });
}

std::string MetricsRegistry::expose() const {
  const std::lock_guard lock(state_->mutex);
  std::string out;
  for (const auto& entry : state_->metrics) {
    const std::string& name = entry.first;
    const Metric& metric = entry.second;
    if (!metric.help.empty())
      out += "# HELP " + name + ' ' + escape(metric.help, false) + '\n';
    out += "# TYPE " + name + ' ' + std::string(kind_names[metric.family.index()]) + '\n';
    std::visit(
        [&](const auto& family) {
          for (const auto& [labels, series] : family)
            expose_series(out, name, labels, *series);
        },
        metric.family);
  }
  return out;
}

}  // namespace troupe
