// A script that runs on a node before a command, in the same round trip.
#pragma once

#include <string>

namespace radl::jobs {

// `script`: complete lines of shell text; a failure ends the command. `input`: its complete standard
// input.
struct Ahead {
  std::string script, input;
};

}  // namespace radl::jobs
