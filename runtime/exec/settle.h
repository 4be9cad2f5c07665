// What came of a create whose answer is not known. Internal to runtime/exec.
#pragma once

#include <chrono>
#include <optional>

#include "runtime/exec/session.h"

namespace radl {

// The provider said no: there is nothing that could still show up.
bool is_refusal(Code code);

// Looks by the intent's token until something is there, or until `settled_at`: only from then on does an
// empty look prove that nothing was made. nullopt: that is proven. Cancelled: the user did not want to wait;
// the intent must stay open, and the next run looks again. Otherwise the provider's error.
Result<std::optional<Made>> find_settled(Session& session, Provider& provider, const Intent& intent,
                                         std::chrono::steady_clock::time_point settled_at);

}  // namespace radl
