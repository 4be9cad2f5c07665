// The language's words as an editor shows them. Read from the tables that the compiler itself checks with;
// what no table holds (blocks, inputs' own features, recipe variables) is listed in vocabulary_words.cc.
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
  std::vector<std::string> values;  // what a string may be; empty: anything
  std::vector<std::string> units;
  bool group = false;     // takes contains ( )
  bool compares = false;  // takes all comparators
  bool number = false;
  std::string preset;  // default, as written; may be empty
  bool required = false;
  bool radl2 = false;  // of `radl 2` alone
};

// The features that an owner (Cursor::owner, but for modules) has; empty when it is not known.
std::vector<Word> features_of(std::string_view owner);
// `name` as written ("disk.2.size") in the owner; nullopt when no table knows it.
std::optional<Word> find_feature(std::string_view owner, std::string_view name);

struct BlockWord {
  std::string_view name, snippet, doc;
  bool radl2 = false;
};
const std::vector<BlockWord>& block_words();

// Variables that Ansible recipes are given.
struct RecipeVariable {
  std::string_view name, doc;
};
const std::vector<RecipeVariable>& recipe_variables();

// What stands behind the dot in expressions of radl 2.
struct MemberWord {
  std::string_view name, doc;
};
const std::vector<MemberWord>& node_members();            // of `worker[0]`, `worker[*]` and `self`
const std::vector<MemberWord>& system_members();          // of `worker`
const std::vector<MemberWord>& job_members(bool trains);  // of a configure with a training, or a program
const std::vector<MemberWord>& module_members();          // of `module`
const MemberWord* find_member(const std::vector<MemberWord>& members, std::string_view name);

}  // namespace radl::lsp
