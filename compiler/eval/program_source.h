// The files of a program, and which of them are sent to its nodes. Internal to program.cc.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/ignore_rules.h"
#include "compiler/eval/properties.h"

namespace radl::passes {

struct ProgramSource {
  ir::Json made;        // docs/ir.md, "Program steps"; null if there are none
  IgnoreRules ignored;  // for a folder
};

// An error message and the property that it is about.
struct SourceComplaint {
  const char* property;
  DiagCode code;
  std::string message;
};

// `given`: the program's properties.
std::optional<SourceComplaint> program_source(const ir::Json& given, LocalFiles& files, ProgramSource& into);

}  // namespace radl::passes
