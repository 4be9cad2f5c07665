#include "common/command_line/outline.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace radl {
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

OptionOutline option_of(const CLI::Option& option, const ChoicesByValue& choices) {
  OptionOutline made;
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  made.description = option.get_description();
  made.preset = option.get_default_str();
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
    if (auto known = choices.find(made.value); known != choices.end() && made.choices.empty())
      made.choices = known->second;
  }
  return made;
}

}  // namespace

CommandOutline outline_of(const CLI::App& app, const ChoicesByValue& choices) {
  CommandOutline made;
  made.name = app.get_name();
  made.description = app.get_description();
  made.group = app.get_group();
  made.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    OptionOutline each = option_of(*option, choices);
    (each.names.empty() ? made.positionals : made.options).push_back(std::move(each));
  }
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    made.commands.push_back(outline_of(*command, choices));
  }
  return made;
}

}  // namespace radl
