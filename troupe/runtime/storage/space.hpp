#pragma once

#include <filesystem>

namespace troupe {

/// True when nothing more can be written into a folder, because the disk or a quota is full. Finds
/// out by writing a small file there and removing it; takes a fraction of a millisecond. False when
/// it cannot be said. Ask while what did not fit still lies there. Thread rules: any thread.
/// Fault point: storage.space.probe, at which every disk is full.
[[nodiscard]] bool out_of_space(const std::filesystem::path& folder);

}  // namespace troupe
