// What a family of clouds is given when one of it is first asked for: its options and its connections.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "common/http/http.h"
#include "runtime/clouds/timing.h"

namespace radl {

template <class Options>
class Loaded {
 public:
  explicit Loaded(std::function<Result<Options>()> load) : load_(std::move(load)) {}

  const Result<Options>& options() const {
    std::call_once(once_, [this] {
      http_ = std::make_unique<http::Client>();
      options_.emplace(load_());
    });
    return *options_;
  }
  http::Client& http() const {  // of what options() has been called for
    return *http_;
  }

 private:
  const std::function<Result<Options>()> load_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<http::Client> http_;
  mutable std::optional<Result<Options>> options_;
};

// Options::timing and Options::caller of the environment (timing.h).
template <class Options>
Status take_timing(const EnvironmentOf& environment, const std::string& prefix, Options& options) {
  auto timing = timing_from(environment, prefix, options.timing);
  if (!timing.ok()) return timing.status();
  options.timing = *timing;
  auto caller = caller_from(environment);
  if (!caller.ok()) return caller.status();
  options.caller = *caller;
  return {};
}

}  // namespace radl
