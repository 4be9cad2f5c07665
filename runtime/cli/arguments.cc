#include "runtime/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "common/shell_quote.h"
#include "common/text.h"

namespace radl::cli {
namespace {

void collect_long_names(const CLI::App& app, std::set<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.insert(name);
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    collect_long_names(*command, names);
}

}  // namespace

std::vector<std::string> with_double_dashes(const CLI::App& app, std::vector<std::string> arguments) {
  std::set<std::string> names;
  collect_long_names(app, names);
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument.size() < 3 || argument[0] != '-' || argument[1] == '-') continue;
    std::string name = argument.substr(1, argument.find('=') - 1);
    if (name.size() > 1 && names.count(name)) argument.insert(0, "-");
  }
  return arguments;
}

std::vector<std::string> with_command_line(std::vector<std::string> arguments) {
  auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) return arguments;
  const bool one = dashes + 2 == arguments.end();
  std::string line;
  for (auto word = dashes + 1; word != arguments.end(); ++word)
    line += (line.empty() ? "" : " ") + (one ? *word : shell_quote(*word));
  arguments.erase(dashes, arguments.end());
  arguments.push_back("--command=" + line);
  return arguments;
}

void one_value_each(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_positional() && option->get_items_expected_max() > 1) option->allow_extra_args(false);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) one_value_each(*command);
}

std::string empty_option(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->count() == 0 || option->get_items_expected_min() == 0) continue;
    for (const std::string& value : option->results()) {
      if (value.empty()) return "option '" + option->get_name() + "' has an empty value";
    }
  }
  for (const CLI::App* command : app.get_subcommands()) {
    if (std::string wrong = empty_option(*command); !wrong.empty()) return wrong;
  }
  return "";
}

std::string unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (names.empty()) return "";
  for (const std::string& argument : arguments) {
    if (argument.starts_with("-") || argument == app.get_name()) continue;
    for (const std::string& name : names) {
      if (name == argument) return "";
    }
    std::string near = nearest(argument, names);
    return "unknown command '" + argument + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?");
  }
  return "";
}

std::string unknown_option(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::set<std::string> known;
  collect_long_names(app, known);  // of other commands nothing was set up: see main.cc
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    std::string name = argument.substr(2, argument.find('=') - 2);
    if (known.count(name)) continue;
    std::string near = nearest(name, {known.begin(), known.end()});
    return "unknown option '--" + name + "'" + (near.empty() ? "" : "; did you mean '--" + near + "'?");
  }
  return "";
}

}  // namespace radl::cli
