#include <troupe/base/detail/edit_distance.hpp>

#include <algorithm>
#include <utility>

namespace troupe::detail {

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t cap) {
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference >= cap)
    return cap;
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return std::min(last[b.size()], cap);
}

std::vector<std::string> close_matches(std::string_view wanted,
                                       std::span<const std::string> candidates, std::size_t count) {
  constexpr std::size_t longest = 128;  // keeps the cost of an error message bounded
  const std::size_t cap = std::max<std::size_t>(2, wanted.size() / 3 + 1);
  std::vector<std::pair<std::size_t, std::string>> found;
  if (wanted.size() > longest)
    return {};
  for (const auto& candidate : candidates) {
    if (candidate.size() > longest)
      continue;
    const std::size_t distance = edit_distance(wanted, candidate, cap + 1);
    if (distance <= cap && distance < std::max(wanted.size(), candidate.size()))
      found.emplace_back(distance, candidate);
  }
  std::sort(found.begin(), found.end());
  if (found.size() > count)
    found.resize(count);
  std::vector<std::string> names;
  for (auto& entry : found)
    names.push_back(std::move(entry.second));
  return names;
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string> candidates) {
  std::string text;
  for (const auto& name : close_matches(wanted, candidates))
    text += (text.empty() ? " (did you mean '" : "' or '") + name;
  return text.empty() ? text : text + "'?)";
}

}  // namespace troupe::detail
