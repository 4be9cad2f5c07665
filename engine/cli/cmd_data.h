// What the files of `radl-train data` share.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/cli/command.h"

namespace radl::engine::cli::data_command {

// The folder of CIFAR-10's subset: `named`, RADL_CIFAR10_SUBSET, installed, or in the source tree that the
// program was built from; "" when there is none.
std::string find_subset(const std::string& named);

using Chosen = std::shared_ptr<std::function<int()>>;
// `look`, `stage` and `rates`: what radlc asks about a dataset and its place.
void add_look(CLI::App* data, const Chosen& chosen, Context& context);
void add_stage(CLI::App* data, const Chosen& chosen, Context& context);
void add_rates(CLI::App* data, const Chosen& chosen, Context& context);

}  // namespace radl::engine::cli::data_command
