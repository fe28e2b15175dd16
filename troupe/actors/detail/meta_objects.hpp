#pragma once

namespace troupe::detail {

/// Tells CAF about the messages of Troupe. Before the first actor system; again is fine.
void init_message_types();

/// The same for a process without a CAF service of its own: CAF's modules too.
void init_all_types();

}  // namespace troupe::detail
