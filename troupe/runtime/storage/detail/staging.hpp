#pragma once

#include <troupe/base/result.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// The hidden folders in which checkpoints grow and from which they vanish.
namespace troupe::detail {

/// ".checkpoint_000003.<pid>.<start of the process>.partial": says whose it is, so that what a dead
/// writer left behind can be told from what a living one is writing.
std::string staging_name(uint32_t number);

/// ".checkpoint_000003.deleted": on its way out, whoever finds it may finish the job.
std::string deleted_name(uint32_t number);

/// Removes unfinished folders of dead writers, and of this process (one writer at a time per trial,
/// so they are leftovers too), and deleted ones.
Status remove_leftovers(const std::filesystem::path& trial_dir);

/// The number in "checkpoint_000003"; nothing for any other name.
std::optional<uint32_t> checkpoint_number(std::string_view directory_name);

}  // namespace troupe::detail
