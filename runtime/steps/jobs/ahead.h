// What runs on a node before a command, in the same one.
#pragma once

#include <string>

namespace radl::jobs {

// `script`: whole lines of shell text, which end the command if they fail. `input`: what they read from
// standard input, all of it.
struct Ahead {
  std::string script, input;
};

}  // namespace radl::jobs
