#include <troupe/serialization/objective.hpp>
#include <troupe/tune/detail/retention.hpp>

#include <algorithm>
#include <limits>
#include <tuple>

namespace troupe::tune::detail {
namespace {

bool older(const CheckpointRow& a, const CheckpointRow& b) {
  return std::tie(a.ref.iteration, a.ref.number) < std::tie(b.ref.iteration, b.ref.number);
}

}  // namespace

const CheckpointRow* newest_checkpoint(const std::vector<CheckpointRow>& checkpoints) {
  const auto newest = std::max_element(checkpoints.begin(), checkpoints.end(), older);
  return newest != checkpoints.end() ? &*newest : nullptr;
}

std::vector<std::uint32_t> checkpoints_to_delete(const std::vector<CheckpointRow>& checkpoints,
                                                 std::optional<std::uint32_t> num_to_keep,
                                                 bool ranked, Mode order) {
  std::vector<std::uint32_t> numbers;
  if (!num_to_keep || checkpoints.size() <= *num_to_keep)
    return numbers;
  const CheckpointRow* newest = newest_checkpoint(checkpoints);
  std::vector<const CheckpointRow*> by_rank;
  for (const CheckpointRow& checkpoint : checkpoints)
    by_rank.push_back(&checkpoint);
  const auto score = [&](const CheckpointRow* row) {
    return row->score ? score_of(*row->score, order) : std::numeric_limits<double>::quiet_NaN();
  };
  std::sort(by_rank.begin(), by_rank.end(), [&](const auto* a, const auto* b) {
    if (ranked && better_score(score(a), score(b)))
      return true;
    if (ranked && better_score(score(b), score(a)))
      return false;
    return older(*b, *a);
  });
  for (std::size_t i = *num_to_keep; i < by_rank.size(); ++i)
    if (by_rank[i] != newest)
      numbers.push_back(by_rank[i]->ref.number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace troupe::tune::detail
