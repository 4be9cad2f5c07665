// Describes the observed machines of an infrastructure.
#pragma once

#include <optional>

#include "runtime/clouds/cloud.h"
#include "runtime/clouds/hosts/machine.h"
#include "runtime/clouds/hosts/record.h"
#include "runtime/clouds/hosts/visit.h"

namespace radl::hosts {

// "worker[0] (gpu1)".
std::string who(const std::string& address, const Machine& machine);

// A machine with radlc's marker; `by_key`: it accepts radlc's key.
Seen host_seen(const Context& context, const Record& record, const Visit& visit, bool by_key);
// `record` is null if there is none.
Result<std::optional<Seen>> key_seen(const Context& context, const Record* record);

}  // namespace radl::hosts
