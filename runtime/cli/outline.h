// The command line as data, read from the parser itself: completions and the manual are made from it, so they
// cannot differ from what radlc accepts.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace radl::cli {

struct OptionOutline {
  std::vector<std::string> names;    // "-o", "--output"; empty: a positional
  std::string value;                 // "FILE"; empty: a flag
  std::vector<std::string> choices;  // all values there are, if few
  std::string description;
  std::string group;
  bool required = false, repeats = false;
};

struct CommandOutline {
  std::string name, description, group;
  std::vector<OptionOutline> options, positionals;
  std::vector<CommandOutline> commands;
};

// `clouds`: the values of options that take a type of cloud.
CommandOutline outline_of(const CLI::App& app, const std::vector<std::string>& clouds);

// What completes a value: by the word that stands for it in the help.
enum class ValueKind { None, File, RadlFile, Directory, Code, Input, Node, Region, Any };
ValueKind value_kind(const OptionOutline& option);
// What a shell asks `radlc completions --values` for; nullptr: nothing.
const char* asked_kind(ValueKind kind);
// Whether a positional after the first is a node's name.
bool takes_node(const CommandOutline& command);

std::string bash_completion(const CommandOutline& program);
std::string zsh_completion(const CommandOutline& program);
std::string fish_completion(const CommandOutline& program);

// radlc(1) in man(7) macros.
std::string manual_page(const CommandOutline& program, const std::string& version);

}  // namespace radl::cli
