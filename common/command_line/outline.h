// A command line as data, read from its parser. Completions and manual pages are generated from it, so they
// cannot differ from what the program accepts.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace radl {

struct OptionOutline {
  std::vector<std::string> names;    // "-o", "--output"; empty for a positional
  std::string value;                 // "FILE"; empty for a flag
  std::vector<std::string> choices;  // all possible values, if there are few
  std::string description;
  std::string preset;  // default value, if the help shows it
  std::string group;
  bool required = false, repeats = false;
};

struct CommandOutline {
  std::string name, description, group;
  std::string footer;  // text below the options in the help: examples
  std::vector<OptionOutline> options, positionals;
  std::vector<CommandOutline> commands;
};

// Choices of options by the word for their value in the help, such as CLOUD.
using ChoicesByValue = std::map<std::string, std::vector<std::string>>;

// Excludes hidden options and commands.
CommandOutline outline_of(const CLI::App& app, const ChoicesByValue& choices = {});

}  // namespace radl
