// The files of a program, and what of them is sent to its nodes. Internal to program.cc.
#pragma once

#include <optional>
#include <string>

#include "common/ignore_rules.h"
#include "compiler/eval/properties.h"

namespace radl::passes {

struct ProgramSource {
  ir::Json made;        // docs/ir.md, "Program steps"; null: there is none
  IgnoreRules ignored;  // of a folder
};

// What is wrong, and with which property.
struct SourceComplaint {
  const char* property;
  DiagCode code;
  std::string message;
};

// `given`: the properties of the program.
std::optional<SourceComplaint> program_source(const ir::Json& given, LocalFiles& files, ProgramSource& into);

}  // namespace radl::passes
