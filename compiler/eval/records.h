// Records beside RADL's numbered features: `disks = [{ size = 100G, mount = '/data' }]`, `networks = [lan]`,
// `applications = ['git']`, and a map for the features with one prefix: `gpu = { count = 4 }`.
//
// In: the evaluated value of such a feature. Out: the features that it stands for, added to those of the
// system. Internal to compiler/eval.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compiler/eval/hir.h"
#include "compiler/eval/value.h"

namespace radl::hir {

// Whether a feature of a system with this name is a list of records.
bool is_record_list(std::string_view name);

class RecordWriter {
 public:
  // Gives the feature the value and adds it; `none` adds nothing.
  using Leaf = std::function<void(Feature feature, const expr::Value& value, Span at, Features& into)>;

  RecordWriter(Arena& arena, Diagnostics& diagnostics, Leaf leaf)
      : arena_(arena), diagnostics_(diagnostics), leaf_(std::move(leaf)) {}

  // `list`: a feature without its value. Disks and networks are numbered after those in `into`; the disks and
  // networks that `into` has from another list are replaced.
  void list(const Feature& list, const ast::Expr& written, const expr::Value& value, Features& into);
  // `gpu = { count = 4 }` is `gpu.count = 4`.
  void map(const Feature& feature, const ast::Expr& written, const expr::Value& value, Features& into);
  // Removes the features of such lists.
  void drop(Records records, Features& from);
  // A system that has disks has a first one, from which it starts: a Linux, if nothing of it is written.
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
