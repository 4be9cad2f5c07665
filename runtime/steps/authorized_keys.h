// Lines of a login's ~/.ssh/authorized_keys that are ours for a while.
#pragma once

#include <string>

namespace radl {

// Shell text: the login's keys without those that end in " radlc-MARK", also of earlier runs that were
// killed, and with the line `added` behind them where there is one. `stale`: a command of sed that removes
// others. Two runs may do this at the same time, and a node may be switched off in its midst: the lock is the
// folder's, and the file is there whole or as it was.
std::string edit_authorized_keys(const std::string& mark, const std::string& added,
                                 const std::string& stale = "");

}  // namespace radl
