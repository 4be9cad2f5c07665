#include "runtime/cli/outline.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace radl::cli {
namespace {

// "TEXT:{a,b}" -> a, b
std::vector<std::string> choices_in(const std::string& type) {
  size_t open = type.find('{'), close = type.find('}', open == std::string::npos ? 0 : open);
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::string inside = type.substr(open + 1, close - open - 1);
  for (size_t at = 0; at <= inside.size();) {
    size_t comma = std::min(inside.find(',', at), inside.size());
    if (comma > at) choices.push_back(inside.substr(at, comma - at));
    at = comma + 1;
  }
  return choices;
}

OptionOutline option_of(const CLI::Option& option, const std::vector<std::string>& clouds) {
  OptionOutline made;
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  made.description = option.get_description();
  made.group = option.get_group();
  made.required = option.get_required();
  made.repeats = option.get_expected_max() > 1 || option.get_items_expected_max() > 1;
  if (option.get_positional()) {
    made.value = option.get_name(true, false);
    made.names.clear();
    made.choices = choices_in(option.get_type_name());
  } else if (option.get_items_expected_max() != 0) {  // a flag takes none
    std::string type = option.get_type_name();
    made.choices = choices_in(type);
    made.value = type.substr(0, type.find(':'));
    if (made.value.empty()) made.value = "VALUE";
    if (made.value == "CLOUD" && made.choices.empty()) made.choices = clouds;
  }
  return made;
}

bool has_word(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

CommandOutline outline_of(const CLI::App& app, const std::vector<std::string>& clouds) {
  CommandOutline made;
  made.name = app.get_name();
  made.description = app.get_description();
  made.group = app.get_group();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    OptionOutline each = option_of(*option, clouds);
    (each.names.empty() ? made.positionals : made.options).push_back(std::move(each));
  }
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    made.commands.push_back(outline_of(*command, clouds));
  }
  return made;
}

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
