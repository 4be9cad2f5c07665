// Job leases for a state in a folder: a file per job, DIRECTORY/NAME/leases/DIGEST, locked by its supervisor
// with a FileLock. Internal to runtime/state.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/state/store.h"

namespace radl {

// "leases/..": the lease file of the job with this step ID, below the state's folder.
std::string lease_name(const std::string& step);

// Conflict: another supervisor has it; the message names it. `take_over`: asks it to release the job, and
// waits up to a minute.
Result<std::unique_ptr<JobLease>> take_lease(const std::string& folder, const std::string& step,
                                             const LockInfo& self, bool take_over, Clock& clock,
                                             const Stop& stop);
// The holder, if any, including this process.
std::optional<LockInfo> lease_holder(const std::string& folder, const std::string& step);

// The error for both kinds of store.
Status supervised_by_another(const std::string& step, const LockInfo& by);

}  // namespace radl
