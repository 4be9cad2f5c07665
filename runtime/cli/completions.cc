// Completion scripts for bash, zsh and fish.
#include <algorithm>

#include "common/shell_quote.h"
#include "runtime/cli/outline.h"

namespace radl::cli {
namespace {

std::string words(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& each : list) out += (out.empty() ? "" : " ") + each;
  return out;
}

std::vector<std::string> option_names(const std::vector<OptionOutline>& options) {
  std::vector<std::string> names;
  for (const OptionOutline& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> command_names(const CommandOutline& command) {
  std::vector<std::string> names;
  for (const CommandOutline& each : command.commands) names.push_back(each.name);
  return names;
}

// A command's options and the program's, which may appear anywhere.
std::vector<OptionOutline> all_options(const CommandOutline& program, const CommandOutline& command) {
  std::vector<OptionOutline> all = command.options;
  for (const OptionOutline& option : program.options) {
    bool there = std::any_of(all.begin(), all.end(),
                             [&](const OptionOutline& each) { return each.names == option.names; });
    if (!there) all.push_back(option);
  }
  return all;
}

// ---- bash
// ----------------------------------------------------------------------------------------------------

std::string bash_value(const OptionOutline& option) {
  if (!option.choices.empty())
    return "COMPREPLY=($(compgen -W \"" + words(option.choices) + "\" -- \"$cur\"))";
  switch (value_kind(option)) {
    case ValueKind::Directory:
      return "COMPREPLY=($(compgen -d -- \"$cur\"))";
    case ValueKind::RadlFile:
      return "_radlc_files";
    case ValueKind::Code:
      return "COMPREPLY=($(compgen -W \"$(radlc explain --list 2>/dev/null | cut -d' ' -f1)\" -- \"$cur\"))";
    case ValueKind::File:
      return "COMPREPLY=($(compgen -f -- \"$cur\"))";
    case ValueKind::Input:
    case ValueKind::Node:
    case ValueKind::Region:
      return std::string("COMPREPLY=(); _radlc_values ") + asked_kind(value_kind(option));
    default:
      return "COMPREPLY=()";
  }
}

std::string bash_command(const CommandOutline& program, const CommandOutline& command,
                         const std::string& path) {
  std::string out = "    " + shell_quote(path) + ")\n";
  std::vector<OptionOutline> options = all_options(program, command);
  out += "      case \"$prev\" in\n";
  for (const OptionOutline& option : options) {
    if (option.value.empty()) continue;
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : "|") + name;
    out += "        " + names + ") " + bash_value(option) + "; return ;;\n";
  }
  out += "      esac\n";
  out += "      if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W \"" +
         words(option_names(options)) + "\" -- \"$cur\"))\n";
  if (!command.commands.empty()) {
    out += "      else\n        COMPREPLY=($(compgen -W \"" + words(command_names(command)) +
           "\" -- \"$cur\"))\n";
  } else if (!command.positionals.empty()) {
    out += "      else\n        " + bash_value(command.positionals[0]) +
           (takes_node(command) ? "\n        _radlc_values node\n" : "\n");
  }
  return out + "      fi ;;\n";
}

void bash_commands(const CommandOutline& program, const CommandOutline& command, const std::string& path,
                   std::string& out) {
  out += bash_command(program, command, path);
  for (const CommandOutline& each : command.commands) {
    bash_commands(program, each, path.empty() ? each.name : path + " " + each.name, out);
  }
}

void bash_paths(const CommandOutline& command, const std::string& path, std::string& out) {
  for (const CommandOutline& each : command.commands) {
    std::string inner = path.empty() ? each.name : path + " " + each.name;
    out += " " + shell_quote(inner);
    bash_paths(each, inner, out);
  }
}

// ---- zsh
// -----------------------------------------------------------------------------------------------------

std::string zsh_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::string zsh_value(const OptionOutline& option) {
  if (!option.choices.empty()) return ":" + option.value + ":(" + words(option.choices) + ")";
  switch (value_kind(option)) {
    case ValueKind::None:
      return "";
    case ValueKind::Directory:
      return ":folder:_files -/";
    case ValueKind::RadlFile:
      return ":RADL file:_files -g \"*.radl(-.) *(-/)\"";
    case ValueKind::File:
      return ":file:_files";
    case ValueKind::Code:
      return ":code:($(radlc explain --list 2>/dev/null | cut -d\" \" -f1))";
    case ValueKind::Input:
    case ValueKind::Node:
    case ValueKind::Region:
      return ":" + option.value + ": _radlc_values " + asked_kind(value_kind(option));
    case ValueKind::Any:
      return ":" + option.value + ":";
  }
  return "";
}

std::string zsh_name(const std::string& path) {
  std::string out = "_radlc";
  for (char c : path.empty() ? path : " " + path) out += c == ' ' || c == '-' ? '_' : c;
  return out;
}

void zsh_function(const CommandOutline& program, const CommandOutline& command, const std::string& path,
                  std::string& out) {
  for (const CommandOutline& each : command.commands) {
    zsh_function(program, each, path.empty() ? each.name : path + " " + each.name, out);
  }
  out += zsh_name(path) + "() {\n  local line state\n  _arguments -s -S -C";
  for (const OptionOutline& option : all_options(program, command)) {
    for (const std::string& name : option.names) {
      bool takes_joined = !option.value.empty() && name.starts_with("--");
      out += " \\\n    '" + std::string(option.repeats ? "*" : "") + name + (takes_joined ? "=" : "") + "[" +
             zsh_text(option.description) + "]" + zsh_value(option) + "'";
    }
  }
  if (command.commands.empty()) {
    for (const OptionOutline& positional : command.positionals) {
      std::string value = takes_node(command) ? ":file or node: _radlc_file_or_node" : zsh_value(positional);
      out += " \\\n    '" + std::string(positional.repeats ? "*" : "") +
             (positional.required || positional.repeats ? "" : ":") + value + "'";
      if (positional.repeats) break;  // takes every further word; --help describes what follows
    }
    out += "\n}\n\n";
    return;
  }
  out +=
      " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n  case $state in\n    command)\n     "
      " local -a commands\n      commands=(";
  for (const CommandOutline& each : command.commands)
    out += "\n        '" + each.name + ":" + zsh_text(each.description) + "'";
  out += "\n      )\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n";
  for (const CommandOutline& each : command.commands) {
    out +=
        "        " + each.name + ") " + zsh_name(path.empty() ? each.name : path + " " + each.name) + " ;;\n";
  }
  out += "      esac ;;\n  esac\n}\n\n";
}

// ---- fish
// ----------------------------------------------------------------------------------------------------

std::string fish_value(const OptionOutline& option) {
  if (!option.choices.empty()) return " -x -a " + shell_quote(words(option.choices));
  switch (value_kind(option)) {
    case ValueKind::None:
      return "";
    case ValueKind::Directory:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::Code:
      return " -x -a '(radlc explain --list 2>/dev/null | string split -f1 \" \")'";
    case ValueKind::RadlFile:
      return " -k -x -a '(__fish_complete_suffix .radl)'";
    case ValueKind::File:
      return " -r -F";
    case ValueKind::Input:
    case ValueKind::Node:
    case ValueKind::Region:
      return std::string(" -x -a '(__radlc_values ") + asked_kind(value_kind(option)) + ")'";
    case ValueKind::Any:
      return " -x";
  }
  return "";
}

void fish_options(const std::vector<OptionOutline>& options, const std::string& condition, std::string& out) {
  for (const OptionOutline& option : options) {
    out += "complete -c radlc" + (condition.empty() ? "" : " -n " + shell_quote(condition));
    for (const std::string& name : option.names)
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    out += fish_value(option) + " -d " + shell_quote(option.description) + "\n";
  }
}

void fish_commands(const CommandOutline& command, const std::string& path, std::string& out) {
  std::string names = words(command_names(command));
  std::string here =
      path.empty() ? "not __fish_seen_subcommand_from " + names
                   : "__fish_seen_subcommand_from " + path + "; and not __fish_seen_subcommand_from " + names;
  for (const CommandOutline& each : command.commands) {
    out += "complete -c radlc -n " + shell_quote(here) + " -a " + each.name + " -d " +
           shell_quote(each.description) + "\n";
  }
  for (const CommandOutline& each : command.commands) {
    std::string condition = "__fish_seen_subcommand_from " + each.name;
    if (!path.empty()) condition = "__fish_seen_subcommand_from " + path + "; and " + condition;
    fish_options(each.options, condition, out);
    if (each.commands.empty() && !each.positionals.empty()) {
      out += "complete -c radlc -n " + shell_quote(condition) + fish_value(each.positionals[0]) + "\n";
      if (takes_node(each))
        out += "complete -c radlc -n " + shell_quote(condition) + " -x -a '(__radlc_values node)'\n";
    }
    if (!each.commands.empty()) fish_commands(each, each.name, out);
  }
}

constexpr char kMade[] = "# Made by `radlc completions`; do not edit.\n";

// bash takes apart a word at each '=', and a value such as `model=resnet20` is one.
constexpr char kBashFunctions[] = R"sh(
# Adds names from the files and states of this computer.
_radlc_values() {
  local more
  mapfile -t more < <(compgen -W "$(radlc completions --values="$1" --current="=$cur" \
    "${COMP_WORDS[@]/#/--word==}" 2>/dev/null)" -- "$cur")
  COMPREPLY+=("${more[@]}")
  if [[ $1 == input && ${more[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}

_radlc() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} line=${COMP_LINE:0:COMP_POINT}
  local last=${line##*[[:space:]]}
  COMPREPLY=()
  if [[ $last != *=* ]]; then _radlc_command; return; fi
  line=${line%"$last"}
  line=${line%"${line##*[![:space:]]}"}
  prev=${line##*[[:space:]]} cur=$last
  if [[ $cur == --* ]]; then prev=${cur%%=*} cur=${cur#*=}; fi
  _radlc_command
  if [[ $COMP_WORDBREAKS == *=* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*=}"}"}")
  else
    COMPREPLY=("${COMPREPLY[@]/#/${last%"$cur"}}")
  fi
}

complete -F _radlc radlc
)sh";

constexpr char kZshValues[] = R"sh(# Names from the files and states of this computer.
_radlc_values() {
  local -a values
  values=(${(f)"$(radlc completions --values=$1 --current="=$PREFIX" "--word=="${^words[1,CURRENT]} 2>/dev/null)"})
  if [[ $1 == input ]]; then compadd -S '' -a values; else compadd -a values; fi
}

_radlc_file_or_node() {
  _files -g "*.radl(-.) *(-/)"
  _radlc_values node
}

)sh";

constexpr char kFishValues[] = R"sh(# Names from the files and states of this computer.
function __radlc_values
  set -l current (commandline -ct | string replace -r '^--[^=]*=' '')
  radlc completions --values=$argv[1] --current="=$current" "--word=="(commandline -opc) 2>/dev/null
end
)sh";

}  // namespace

std::string bash_completion(const CommandOutline& program) {
  std::string out = std::string("# bash completion for radlc\n") + kMade;
  out +=
      "_radlc_files() {\n  local IFS=$'\\n'\n  COMPREPLY=($(compgen -d -- \"$cur\") $(compgen -f -X "
      "'!*.radl' -- \"$cur\"))\n"
      "  compopt -o filenames 2>/dev/null\n}\n\n"
      "_radlc_command() {\n  local path= word try known\n  local paths=(";
  bash_paths(program, "", out);
  out +=
      " )\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    try=${path:+$path }$word\n"
      "    for known in \"${paths[@]}\"; do\n      if [[ $known == \"$try\" ]]; then path=$try; break; fi\n  "
      "  done\n  done\n"
      "  case \"$path\" in\n";
  bash_commands(program, program, "", out);
  return out + "  esac\n}\n" + kBashFunctions;
}

std::string zsh_completion(const CommandOutline& program) {
  std::string out = std::string("#compdef radlc\n") + kMade + "\n" + kZshValues;
  zsh_function(program, program, "", out);
  return out + "if [ \"$funcstack[1]\" = _radlc ]; then\n  _radlc \"$@\"\nelse\n  compdef _radlc radlc\nfi\n";
}

std::string fish_completion(const CommandOutline& program) {
  std::string out =
      std::string("# fish completion for radlc\n") + kMade + kFishValues + "complete -c radlc -f\n";
  fish_options(program.options, "", out);
  fish_commands(program, "", out);
  return out;
}

}  // namespace radl::cli
