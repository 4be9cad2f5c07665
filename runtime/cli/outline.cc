#include "runtime/cli/outline.h"

#include <algorithm>

namespace radl::cli {
namespace {

bool has_word(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

ValueKind value_kind(const OptionOutline& option) {
  const std::string& value = option.value;
  if (value.empty()) return ValueKind::None;
  if (value == "CODE") return ValueKind::Code;
  if (value == "NAME=VALUE") return ValueKind::Input;
  if (value == "NODE" || value == "ADDRESS") return ValueKind::Node;
  if (value == "REGION") return ValueKind::Region;
  if (has_word(value, "DIR")) return ValueKind::Directory;
  bool source = option.names.empty() &&
                (value.find("FILE") != std::string::npos || value.find("PATH") != std::string::npos);
  if (source) return ValueKind::RadlFile;
  if (has_word(value, "FILE") || has_word(value, "PATH")) return ValueKind::File;
  return ValueKind::Any;
}

const char* asked_kind(ValueKind kind) {
  return kind == ValueKind::Input    ? "input"
         : kind == ValueKind::Node   ? "node"
         : kind == ValueKind::Region ? "region"
                                     : nullptr;
}

bool takes_node(const CommandOutline& command) {
  return std::any_of(command.positionals.begin(), command.positionals.end(),
                     [](const OptionOutline& each) { return value_kind(each) == ValueKind::Node; });
}

}  // namespace radl::cli
