// Layout of `--help`: at most 100 columns, with a command's own options before the common ones.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace radl {

std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace radl
