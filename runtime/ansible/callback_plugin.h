// The Ansible callback plugin plugins that runs of ours bring along. The callback tells what happens, as
// lines "@radl {json}" on standard output.
#pragma once

namespace radl::recipes {

extern const char* const kCallbackPlugin;

// A shell plugin for nodes that share this machine: Ansible asks the password file for the login's home,
// which is the real one. "@LOGIN@" stands for the login's name.
extern const char* const kShellPlugin;

}  // namespace radl::recipes
