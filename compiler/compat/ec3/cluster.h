// What several templates say together, while EC3 puts them together: blocks in the order in which they first
// appeared, each with its features and recipe so far.
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

// EC3's word for a block that has a name.
struct Aspect {
  std::string_view keyword, name;
  const ast::Block* block = nullptr;  // where it was defined first, or only referred to; null: nowhere yet
  bool reference = false;
  sema::FeatureSet features;  // of network, system and all other blocks with features
  uint32_t softs_at = 0;      // before which feature the first soft group was written

  // configure
  YamlPtr recipe;                              // null: not YAML
  bool composed = false;                       // the recipe is no longer what one block says
  std::vector<const ast::Configure*> written;  // the blocks that it was made of
};

struct Cluster {
  Cluster(Diagnostics& diagnostics, bool ec3) : diagnostics(diagnostics), ec3(ec3) {}

  Diagnostics& diagnostics;
  bool ec3;           // false: RADL 1 in several files
  bool part = false;  // other files may define what is missing

  std::deque<Aspect> aspects;
  std::vector<Aspect*> order;
  std::vector<const ast::Deploy*> deploys;
  std::vector<const ast::Contextualize*> contextualizes;
  std::vector<std::unique_ptr<sema::Document>> parts;  // one for each template

  Aspect* find(std::string_view keyword, std::string_view name) const;
  Aspect& add(std::string_view keyword, std::string_view name, const ast::Block* block);
  // The same at the end of the order.
  void move_to_end(const Aspect& aspect);

 private:
  std::map<std::pair<std::string_view, std::string_view>, Aspect*> index_;
};

// Adds the blocks of one template. A later value replaces an earlier one that it contradicts. Values of
// different kinds are errors, and so is a duplicate within one file.
void add_template(Cluster& cluster, const ast::Tree& tree);

// The features of `from` added to `into`: an interval is narrowed, or replaced where they have nothing in
// common; a value is replaced; groups unite by name; sets and soft features unite.
void unite(Cluster& cluster, sema::FeatureSet& into, const sema::FeatureSet& from);
// -1, 0, 1. EC3 counts units in powers of 1024, RADL in powers of 1000.
int compare(const Cluster& cluster, const hir::Number& a, const hir::Number& b);
// What EC3 multiplies by for a unit; 0 for one that it does not know.
int64_t unit_factor(std::string_view unit);

// The recipe of two blocks: plays of lists one after the other, keys of maps united, else the second.
YamlPtr join_recipes(const YamlPtr& first, const YamlPtr& second);

// Replaces in every recipe and system what is EC3's: `ec3_inherit_from`; `ec3_append` and `ec3_prio` of
// plays; `ec3_file`, `ec3_xpath` and `ec3_jpath` of variables. `read_file` gives a file that lies beside the
// templates. With `strict` what cannot be replaced is an error; else it stays.
using ReadFile = std::function<std::optional<std::string>(std::string_view name)>;
void inherit(Cluster& cluster);
void replace_expressions(Cluster& cluster, const ReadFile& read_file, bool strict);

// A place in the recipe that holds this text; else the name of its block.
Span place_in_recipe(const Aspect& configure, std::string_view text);

// The values of `ec3_xpath` and `ec3_jpath`, or why there is none.
struct PathValue {
  YamlPtr value;  // null: not found
  std::string fault, hint;
};
PathValue xpath_value(const Cluster& cluster, std::string_view path);
PathValue jpath_value(const Cluster& cluster, std::string_view path);

// RADL text as EC3 writes it (`ec3_xpath: /system/wn`).
std::string shown_aspects(const Cluster& cluster, const std::vector<const Aspect*>& aspects);

}  // namespace radl::ec3
