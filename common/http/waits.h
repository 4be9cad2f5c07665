// How long a call may wait, and who hears of it when the server asks for that.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "common/stop.h"

namespace radl::http {

struct Waits {
  Waits() = default;  // as long as it takes
  Waits(const Stop& until) : stop(until) {}
  Waits(const Stop& until, std::function<void(const std::string& line)> listener)
      : stop(until), tell(std::move(listener)) {}

  Stop stop;
  std::function<void(const std::string& line)> tell;  // none: nobody
};

}  // namespace radl::http
