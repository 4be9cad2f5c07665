// How `--help` looks: at most 100 columns, and the options of a task before those that every command has.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace radl::cli {

std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace radl::cli
