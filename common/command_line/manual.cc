#include "common/command_line/manual.h"

namespace radl {
namespace {

std::string option_entry(const OptionOutline& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  }
  if (!option.value.empty()) names += (names.empty() ? "" : " ") + ("\\fI" + roff(option.value) + "\\fR");
  std::string text = roff(option.description);
  if (!option.choices.empty()) {
    text += " (";
    for (size_t i = 0; i < option.choices.size(); ++i) text += (i ? ", " : "") + roff(option.choices[i]);
    text += ")";
  }
  if (!option.preset.empty()) text += " (default: " + roff(option.preset) + ")";
  return ".TP\n" + names + "\n" + (text.empty() ? "\\&" : text) + "\n";
}

bool is_help(const OptionOutline& option) { return option.names.size() == 2 && option.names[1] == "--help"; }

// `path`: the program and the commands around this one, with a trailing space.
void command_entry(const CommandOutline& command, const std::string& path, std::string& out) {
  out += ".SS " + roff(path + command.name);
  for (const OptionOutline& positional : command.positionals) {
    std::string value = roff(positional.value) + (positional.repeats ? "..." : "");
    out += positional.required ? " " + value : " [" + value + "]";
  }
  out += "\n" + roff(command.description) + ".\n";
  for (const OptionOutline& positional : command.positionals) out += option_entry(positional);
  for (const OptionOutline& option : command.options)
    if (!is_help(option)) out += option_entry(option);
  if (!command.footer.empty()) out += ".PP\n.nf\n" + roff(command.footer) + "\n.fi\n";
  for (const CommandOutline& inner : command.commands) command_entry(inner, path + command.name + " ", out);
}

}  // namespace

std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    bool line_start = out.empty() || out.back() == '\n';
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string manual_options(const CommandOutline& program) {
  std::string out = ".SH OPTIONS\nThese options come before the command.\n";
  for (const OptionOutline& option : program.options)
    if (!is_help(option)) out += option_entry(option);
  return out;
}

std::string manual_commands(const CommandOutline& program) {
  std::string out = ".SH COMMANDS\n";
  for (const CommandOutline& command : program.commands) command_entry(command, program.name + " ", out);
  return out;
}

}  // namespace radl
