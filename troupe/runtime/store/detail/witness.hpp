#pragma once

#include <troupe/runtime/store/detail/format.hpp>

#include <filesystem>
#include <optional>

namespace troupe::detail {

/// Nothing when the file is not there. Error corrupt: it is there and damaged; the message says
/// what to do.
Result<std::optional<Witness>> read_witness(const std::filesystem::path& file);

/// Replaces it so that a crash leaves the old or the new one.
Status write_witness(const std::filesystem::path& file, const Witness& witness);

}  // namespace troupe::detail
