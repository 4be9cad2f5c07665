// Waiting for something to happen, instead of sleeping and hoping.
#pragma once

#include <chrono>
#include <thread>

namespace radl::test {

// Asks every few milliseconds until `holds()` is true; false when it is not within `patience`. Machines that
// run tests are slow at times: the patience bounds a failure, nothing is measured by it.
template <class Condition>
bool wait_until(Condition holds, std::chrono::milliseconds patience = std::chrono::seconds(30)) {
  for (auto end = std::chrono::steady_clock::now() + patience; !holds();
       std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    if (std::chrono::steady_clock::now() > end) return holds();
  }
  return true;
}

}  // namespace radl::test
