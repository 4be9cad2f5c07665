// What a run reports outside its numbered events: before they begin, and beside them.
#pragma once

#include <functional>
#include <string>

namespace radl::driver {

struct Notice {
  enum class Kind { Progress, Note, Warning };
  Kind kind = Kind::Note;
  std::string text;  // may hold words of nodes, files and clouds: a terminal gets it escaped
};

// A front end's; called in the thread of the run.
using Tell = std::function<void(const Notice&)>;

}  // namespace radl::driver
