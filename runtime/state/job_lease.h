// Leases of jobs of a state in a folder: a file for each job, DIRECTORY/NAME/leases/DIGEST, that its
// supervisor holds as FileLock does. Internal to runtime/state.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/state/store.h"

namespace radl {

// "leases/..": where the lease of the job with this step's id is, below the state's own folder.
std::string lease_name(const std::string& step);

// Conflict: somebody else supervises it, whom the message names. `take_over`: that one is asked to let go,
// and has a minute for it.
Result<std::unique_ptr<JobLease>> take_lease(const std::string& folder, const std::string& step,
                                             const LockInfo& self, bool take_over, Clock& clock,
                                             const Stop& stop);
// Who holds it, if anybody does, be it this process.
std::optional<LockInfo> lease_holder(const std::string& folder, const std::string& step);

// Both kinds of store.
Status supervised_by_another(const std::string& step, const LockInfo& by);

}  // namespace radl
