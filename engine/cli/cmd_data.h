// Shared by the sources of `radl-train data`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/cli/command.h"

namespace radl::engine::cli::data_command {

// The folder of the CIFAR-10 subset: `named`, RADL_CIFAR10_SUBSET, the installed one, or the one in the
// source tree of the build; "" if there is none.
std::string find_subset(const std::string& named);

using Chosen = std::shared_ptr<std::function<int()>>;
// `look`, `stage` and `rates`: radlc's questions about a dataset and its location.
void add_look(CLI::App* data, const Chosen& chosen, Context& context);
void add_stage(CLI::App* data, const Chosen& chosen, Context& context);
void add_rates(CLI::App* data, const Chosen& chosen, Context& context);

}  // namespace radl::engine::cli::data_command
