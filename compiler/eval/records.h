// Record syntax for RADL's numbered features: `disks = [{ size = 100G, mount = '/data' }]`, `networks =
// [lan]`, `applications = ['git']`; and maps for features with a common prefix: `gpu = { count = 4 }`.
//
// In: the evaluated value of such a feature. Out: the features that it defines, added to the system's.
// Internal to compiler/eval.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compiler/eval/hir.h"
#include "compiler/eval/value.h"

namespace radl::hir {

// True if a system feature of this name is a list of records.
bool is_record_list(std::string_view name);

class RecordWriter {
 public:
  // Sets the feature's value and adds it. `none` adds nothing.
  using Leaf = std::function<void(Feature feature, const expr::Value& value, Span at, Features& into)>;

  RecordWriter(Arena& arena, Diagnostics& diagnostics, Leaf leaf)
      : arena_(arena), diagnostics_(diagnostics), leaf_(std::move(leaf)) {}

  // `list`: a feature without its value. Numbers disks and networks after those in `into`, and replaces those
  // in `into` from another list.
  void list(const Feature& list, const ast::Expr& written, const expr::Value& value, Features& into);
  // Expands `gpu = { count = 4 }` to `gpu.count = 4`.
  void map(const Feature& feature, const ast::Expr& written, const expr::Value& value, Features& into);
  // Removes the features that such lists defined.
  void drop(Records records, Features& from);
  // If a system has disks, adds the first, from which it boots: by default a Linux.
  void finish(Features& system);

 private:
  struct Part {
    const expr::Value& value;
    const ast::Expr* written;  // null if only a larger expression was written
    Span at;
  };
  static Part element(const expr::Value& list, const ast::Expr& written, size_t i);
  void record(Feature shape, const std::string& prefix, const Part& part, Features& into);
  void disk(Feature shape, const Part& part, Features& into);
  void network(Feature shape, const Part& part, Features& into);
  void application(Feature shape, const Part& part, Features& into);
  void add(Feature shape, std::string_view name, const expr::Value& value, Span at, Features& into);
  void refuse(const Feature& shape, const Part& part, std::string_view example);

  Arena& arena_;
  Diagnostics& diagnostics_;
  Leaf leaf_;
};

}  // namespace radl::hir
