// The templates merged so far by EC3's composition: blocks in order of first appearance, with their merged
// features and recipes.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/check/document.h"
#include "compiler/compat/yaml/yaml_value.h"
#include "compiler/diag/diagnostic.h"

namespace radl::ec3 {

// EC3's term for a named block.
struct Aspect {
  std::string_view keyword, name;
  const ast::Block* block = nullptr;  // first definition or reference; null: none yet
  bool reference = false;
  sema::FeatureSet features;  // for networks, systems and all other blocks with features
  uint32_t softs_at = 0;      // index of the feature before which the first soft group was written

  // configure
  YamlPtr recipe;                              // null: not YAML
  bool composed = false;                       // the recipe differs from that of any single block
  std::vector<const ast::Configure*> written;  // the blocks that form it
};

struct Cluster {
  Cluster(Diagnostics& diagnostics, bool ec3) : diagnostics(diagnostics), ec3(ec3) {}

  Diagnostics& diagnostics;
  bool ec3;           // false: RADL 1 in several files
  bool part = false;  // other files may define the missing names

  std::deque<Aspect> aspects;
  std::vector<Aspect*> order;
  std::vector<const ast::Deploy*> deploys;
  std::vector<const ast::Contextualize*> contextualizes;
  std::vector<std::unique_ptr<sema::Document>> parts;  // one for each template

  Aspect* find(std::string_view keyword, std::string_view name) const;
  Aspect& add(std::string_view keyword, std::string_view name, const ast::Block* block);
  // Same, but moves the block to the end.
  void move_to_end(const Aspect& aspect);

 private:
  std::map<std::pair<std::string_view, std::string_view>, Aspect*> index_;
};

// Adds the blocks of a template. A later value replaces a contradicting earlier one. Values of different
// kinds are errors, and so is a duplicate within one file.
void add_template(Cluster& cluster, const ast::Tree& tree);

// Merges the features of `from` into `into`: an interval is narrowed, or replaced if the two do not overlap;
// a value is replaced; groups merge by name; sets and soft features are united.
void unite(Cluster& cluster, sema::FeatureSet& into, const sema::FeatureSet& from);
// Returns -1, 0 or 1. EC3's units are powers of 1024, RADL's are powers of 1000.
int compare(const Cluster& cluster, const hir::Number& a, const hir::Number& b);
// EC3's factor for a unit; 0 if EC3 does not support it.
int64_t unit_factor(std::string_view unit);

// Joins two recipes: concatenates lists of plays, merges keys of maps; otherwise the second wins.
YamlPtr join_recipes(const YamlPtr& first, const YamlPtr& second);

// Resolves EC3's constructs in every recipe and system: `ec3_inherit_from`; `ec3_append` and `ec3_prio` of
// plays; `ec3_file`, `ec3_xpath` and `ec3_jpath` of variables. `read_file` returns a file beside the
// templates. If `strict`, an unresolved construct is an error; otherwise it stays.
using ReadFile = std::function<std::optional<std::string>(std::string_view name)>;
void inherit(Cluster& cluster);
void replace_expressions(Cluster& cluster, const ReadFile& read_file, bool strict);

// The position of this text in the recipe, else of its block's name.
Span place_in_recipe(const Aspect& configure, std::string_view text);

// The result of `ec3_xpath` or `ec3_jpath`, or an error.
struct PathValue {
  YamlPtr value;  // null: not found
  std::string fault, hint;
};
PathValue xpath_value(const Cluster& cluster, std::string_view path);
PathValue jpath_value(const Cluster& cluster, std::string_view path);

// RADL text as printed by EC3 (`ec3_xpath: /system/wn`).
std::string shown_aspects(const Cluster& cluster, const std::vector<const Aspect*>& aspects);

}  // namespace radl::ec3
