// The language's words for display in an editor. Read from the tables that the compiler checks with;
// vocabulary_words.cc lists words that are in no table (blocks, inputs' own features, recipe variables).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::lsp {

struct Word {
  std::string name;                 // "net_interface.N.connection"
  std::string kind;                 // "string", "number", "size", ...: one or two words
  std::string doc;                  // Markdown
  std::vector<std::string> values;  // allowed values of a string; empty: any
  std::vector<std::string> units;
  bool group = false;     // accepts contains ( )
  bool compares = false;  // accepts all comparison operators
  bool number = false;
  std::string preset;  // default as written; may be empty
  bool required = false;
  bool radl2 = false;  // only in `radl 2`
};

// The features of an owner (Cursor::owner, except modules); empty if unknown.
std::vector<Word> features_of(std::string_view owner);
// The feature `name` as written ("disk.2.size") of the owner; nullopt if unknown.
std::optional<Word> find_feature(std::string_view owner, std::string_view name);

struct BlockWord {
  std::string_view name, snippet, doc;
  bool radl2 = false;
};
const std::vector<BlockWord>& block_words();

// Variables available in Ansible recipes.
struct RecipeVariable {
  std::string_view name, doc;
};
const std::vector<RecipeVariable>& recipe_variables();

// Members after a dot in radl 2 expressions.
struct MemberWord {
  std::string_view name, doc;
};
const std::vector<MemberWord>& node_members();            // of `worker[0]`, `worker[*]` and `self`
const std::vector<MemberWord>& system_members();          // of `worker`
const std::vector<MemberWord>& job_members(bool trains);  // of a configure with a training or a program
const std::vector<MemberWord>& module_members();          // of `module`
const MemberWord* find_member(const std::vector<MemberWord>& members, std::string_view name);

}  // namespace radl::lsp
