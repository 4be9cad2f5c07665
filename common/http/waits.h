// How long a call may wait, and who is told when the server asks for a wait.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "common/stop.h"

namespace radl::http {

struct Waits {
  Waits() = default;  // no limit
  Waits(const Stop& until) : stop(until) {}
  Waits(const Stop& until, std::function<void(const std::string& line)> listener)
      : stop(until), tell(std::move(listener)) {}

  Stop stop;
  std::function<void(const std::string& line)> tell;  // may be empty
};

}  // namespace radl::http
