// Copies a training's dataset to the nodes that need it.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/steps/dataset.h"
#include "runtime/steps/jobs/member.h"

namespace radl::training {

class TrainingData {
 public:
  // `training`: docs/ir.md. All arguments must outlive this object. `say` receives lines about fetching.
  TrainingData(const Json& training, const Context& context,
               std::function<void(const std::string& line)> say);
  const std::string& name() const { return source_.name; }
  // True: something was sent. User data is compared by content; a known dataset only needs to exist. May be
  // called concurrently for several nodes: it is fetched once.
  Result<bool> bring(const NodeHandle& node, jobs::Member& member, const std::string& directory);

 private:
  const Context& context_;
  std::function<void(const std::string& line)> say_;
  DatasetSource source_;
  std::mutex mutex_;
  std::optional<LocalDataset> dataset_;
};

}  // namespace radl::training
