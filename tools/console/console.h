// `radlc console`: evaluates radl 2 expressions against a program and the known attributes of its nodes.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl {

// The meaning of names. The caller fills it from a compiled program and a state.
struct ConsoleScope {
  std::map<std::string, ir::Json> inputs;   // input.NAME; {"$secret": ..} shows as (sensitive)
  std::map<std::string, ir::Json> outputs;  // output.NAME, or NAME alone if no system has that name
  struct Machine {
    std::map<std::string, ir::Json> attributes;  // ip, hostname, ...; a missing one is known after apply
  };
  std::map<std::string, std::vector<Machine>> systems;  // NAME[i].attribute, count(NAME)
};

struct ConsoleAnswer {
  bool ok = false;
  std::string text;  // the value as RADL, or the diagnostics as shown by `radlc check`
};

// Evaluates an expression, or `:help`, `:names`, `:functions`, `:type EXPRESSION`. `color`: of diagnostics.
ConsoleAnswer evaluate_line(std::string_view line, const ConsoleScope& scope, bool color = false);

// Valid names: inputs, outputs, systems and their nodes.
std::vector<std::string> console_names(const ConsoleScope& scope);

// Completions of the last word of a line: names, attributes of a node, functions with their `(`, and console
// commands. Each begins with the word; sorted.
std::vector<std::string> console_completions(std::string_view line, const ConsoleScope& scope);
// Offset of that word in the line.
size_t console_word(std::string_view line);

}  // namespace radl
