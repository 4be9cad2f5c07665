// Data from the progress lines of a training's processes. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/steps/training/result.h"

namespace radl::training {

class Heard {
 public:
  // `news`: a line; its texts are translated to the names of the training's properties. `chief`: name of the
  // chief's task. `now`: seconds since the apply began; nullopt: the line may be from an earlier run.
  void take(Json& news, const std::string& chief, std::optional<double> now);
  void took(const std::string& phase, double seconds);
  // Why a task failed, in its own words; else "".
  std::string failure_of(const std::string& task) const;
  RunFacts facts() const;

 private:
  mutable std::mutex mutex_;
  RunFacts facts_;
  std::map<std::string, std::string> failures_;  // by Task::name()
};

}  // namespace radl::training
