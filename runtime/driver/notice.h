// Messages of a run outside its numbered events: before them and beside them.
#pragma once

#include <functional>
#include <string>

namespace radl::driver {

struct Notice {
  enum class Kind { Progress, Note, Warning };
  Kind kind = Kind::Note;
  std::string text;  // may contain text from nodes, files and clouds: escape it for a terminal
};

// Supplied by a front end; called on the run's thread.
using Tell = std::function<void(const Notice&)>;

}  // namespace radl::driver
