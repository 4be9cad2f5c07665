// `radlc console`: expressions of radl 2, evaluated against a program and what is known of its nodes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl {

// What names mean. Filled by the caller from a compiled program and a state.
struct ConsoleScope {
  std::map<std::string, ir::Json> inputs;   // input.NAME; {"$secret": ..} shows as (sensitive)
  std::map<std::string, ir::Json> outputs;  // output.NAME, and alone where no system has the name
  struct Machine {
    std::map<std::string, ir::Json> attributes;  // ip, hostname, ...; what is missing is known after apply
  };
  std::map<std::string, std::vector<Machine>> systems;  // NAME[i].attribute, count(NAME)
};

struct ConsoleAnswer {
  bool ok = false;
  std::string text;  // the value as RADL, or the diagnostics as `radlc check` shows them
};

// One expression, or one of `:help`, `:names`, `:functions`, `:type EXPRESSION`. `color`: of diagnostics.
ConsoleAnswer evaluate_line(std::string_view line, const ConsoleScope& scope, bool color = false);

// What can be named: inputs, outputs, systems and their nodes.
std::vector<std::string> console_names(const ConsoleScope& scope);

// What the last word of a line may become: names, attributes of a node, functions with their `(`, commands
// of the console. Each begins with the word; sorted.
std::vector<std::string> console_completions(std::string_view line, const ConsoleScope& scope);
// Where in the line that word begins.
size_t console_word(std::string_view line);

}  // namespace radl
