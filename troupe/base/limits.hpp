#pragma once

#include <cstddef>

/// Every limit of Troupe that bytes from outside meet, in one place, with its unit in the name.
/// A limit is checked before memory is allocated, and its error names the limit and the size met.
namespace troupe::limits {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = 1024 * kib;

/// The largest message between processes, and the largest text or file parsed as a whole.
inline constexpr std::size_t max_message_bytes = 16 * mib;
/// The largest payload of one record in the journal or in a file.
inline constexpr std::size_t max_record_bytes = 16 * mib;
/// Nesting of lists and maps in a Value; the outermost container has depth 1.
inline constexpr std::size_t max_value_depth = 64;
/// Entries of one map and elements of one list in a Value.
inline constexpr std::size_t max_map_entries = 1'000'000;
inline constexpr std::size_t max_list_elements = 4'000'000;
/// Nesting of recursive types in an archive.
inline constexpr std::size_t max_archive_depth = 64;
/// Names: experiments, trials, registered trainables, metrics keys, files, hosts.
inline constexpr std::size_t max_name_bytes = 255;
/// The key of a map entry (keys such as "env/agent/obs" are paths).
inline constexpr std::size_t max_key_bytes = 4 * kib;
/// How much of the last output of a worker travels with its exit report.
inline constexpr std::size_t max_output_tail_bytes = 16 * kib;
/// Checkpoints and binaries move in chunks of this size ...
inline constexpr std::size_t blob_chunk_bytes = 1 * mib;
/// ... with so many on their way at once.
inline constexpr std::size_t blob_window_chunks = 4;
/// The message of an Error that crosses a process boundary; the rest is cut.
inline constexpr std::size_t max_error_message_bytes = 8 * kib;
/// Time series (name and labels) in one metrics registry.
inline constexpr std::size_t max_metric_series = 10'000;

}  // namespace troupe::limits
