// The Ansible plugins that radlc passes to its runs. The callback plugin reports progress as lines "@radl
// {json}" on standard output.
#pragma once

namespace radl::recipes {

extern const char* const kCallbackPlugin;

// A shell plugin for nodes that share this machine. Ansible takes the login's home from the password file,
// which has the real one. "@LOGIN@" is replaced by the login's name.
extern const char* const kShellPlugin;

}  // namespace radl::recipes
