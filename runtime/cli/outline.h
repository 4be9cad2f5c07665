// Completions and the manual of radlc, generated from its parser's outline.
#pragma once

#include <string>

#include "common/command_line/outline.h"

namespace radl::cli {

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
// radl(5): its words, blocks, features and resources come from the compiler's tables.
std::string language_manual();

}  // namespace radl::cli
