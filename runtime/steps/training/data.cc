#include "runtime/steps/training/data.h"

namespace radl::training {
namespace {

DatasetSource source_of(const Json& training) {
  const Json data = training.value("data", Json::object());
  const Json dataset = training.value("job", Json::object()).value("dataset", Json::object());
  return dataset_source(data.value("shown", dataset.value("name", "")), data);
}

}  // namespace

TrainingData::TrainingData(const Json& training, const Context& context,
                           std::function<void(const std::string& line)> say)
    : context_(context), say_(std::move(say)), source_(source_of(training)) {}

Result<bool> TrainingData::bring(const NodeHandle& node, jobs::Member& member, const std::string& directory) {
  if (!source_.own()) {
    auto lacks = member.is_empty(directory);
    if (!lacks || !*lacks) return lacks;
  }
  {
    std::lock_guard lock(mutex_);
    if (!dataset_) {
      auto found = local_dataset(source_, false, context_, say_);
      if (!found) return found.status();
      dataset_ = std::move(*found);
    }
  }
  auto placed = place_dataset(node, context_, *dataset_, directory, source_.own());
  if (!placed) return std::move(placed).status().at(node.address);
  return placed;
}

}  // namespace radl::training
