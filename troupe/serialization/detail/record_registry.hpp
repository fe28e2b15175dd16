#pragma once

#include <troupe/serialization/record.hpp>

namespace troupe::detail {

/// Adds a record type to the list. Ends the program with a message when the number or the name is
/// taken by another type: two meanings of stored bytes can not be allowed to start.
bool register_record_type(const RecordInfo& info);

}  // namespace troupe::detail
