// The Ansible callback plugin that tells us what happens, as lines "@radl {json}" on standard output.
#pragma once

namespace radl::recipes {

extern const char* const kCallbackPlugin;

}  // namespace radl::recipes
