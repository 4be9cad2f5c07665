// The data that passes share. Each field names the pass that sets it. Later passes add to `items` (their
// steps), `program` and `secrets`, and `order` moves `steps`; no pass changes other fields once set.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/check/check.h"
#include "compiler/check/document.h"
#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/eval/hir.h"
#include "compiler/eval/instance.h"
#include "compiler/eval/scopes.h"
#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"

namespace radl::passes {

// Maps positions in a string in which @input.NAME@ was replaced back to the user's text.
class SpanMap {
 public:
  struct Piece {
    uint32_t made_begin, made_end;      // in the generated text
    uint32_t source_begin, source_end;  // in the user's text: @input.NAME@
  };
  void add(uint32_t made_file, uint32_t source_file, std::vector<Piece> pieces);
  bool empty() const { return files_.empty(); }
  Span back(Span made) const;
  // True if any of it came from an input.
  bool given(Span made) const;

 private:
  struct File {
    uint32_t source_file;
    std::vector<Piece> pieces;  // in order
  };
  std::unordered_map<uint32_t, File> files_;
};

// A recipe for one system: an item of `contextualize`, or the default.
struct BoundItem {
  const Instance* instance = nullptr;
  std::string system;  // full name
  const ast::Configure* configure = nullptr;
  std::string recipe;  // full name
  ir::StepKind kind = ir::StepKind::Ansible;
  int group = 0;
  const ast::Item* written = nullptr;  // null for the default
  Span span;
  std::vector<size_t> steps;  // set by passes/steps.cc: indices into Build::steps
};

struct Build {
  Build(const std::vector<std::string>& paths, const CompileOptions& options, SourceMap& sources,
        Diagnostics& diagnostics)
      : paths(paths), options(options), sources(sources), diagnostics(diagnostics) {}

  const std::vector<std::string>& paths;
  const CompileOptions& options;
  SourceMap& sources;
  Diagnostics& diagnostics;

  // read
  std::vector<const SourceFile*> files;  // as given
  SpanMap filled;
  std::vector<std::unique_ptr<ast::Tree>> trees;
  bool asks_for_inputs = false;                       // an `input` without default, or @input.NAME@
  std::vector<std::unique_ptr<ast::Tree>> templates;  // sources of the composed `trees`; they share nodes
  // modules
  std::unique_ptr<ModuleLibrary> library;
  std::unique_ptr<Instance> root;
  // inputs
  std::unique_ptr<Scopes> scopes;
  // lower: the program with full names and evaluated features
  hir::Document values;
  bool evaluated = false;  // a file is `radl 2`, or there are modules
  // check: the merged documents
  sema::Document document;
  // nodes
  std::unordered_map<std::string, std::vector<size_t>> nodes_of;  // system -> indices into program.nodes
  std::map<std::string, int> deployed;                            // system -> node count from its deploys
  // items
  bool configuration_off = false;  // `contextualize ()`
  std::vector<BoundItem> items;
  // steps: unordered, without edges
  std::vector<ir::Step> steps;
  struct TrainingStep {
    size_t step;  // index into `steps`
    const Instance* instance;
    const ast::Configure* configure;
  };
  std::vector<TrainingStep> trainings;
  std::vector<IdleRecipe> idle_recipes;
  // several passes
  ir::Program program;
  ir::Secrets secrets;

  // False if inputs are missing: something that looks unused may be used once they are given.
  bool unused_is_known() const { return !options.inputs_may_be_missing || !asks_for_inputs; }
  ir::Origin origin(Span span) const;
  // Folder of a source file. For 0 and strings from outside: the folder of the program's first file.
  std::string folder_of(uint32_t file) const;
  std::vector<std::string> node_addresses(const std::string& system) const;
};

struct Pass {
  std::string_view name;
  std::string_view doc;
  void (*run)(Build&);
  bool needs_clean = false;  // skipped after errors
  std::string (*dump)(const Build&) = nullptr;
};

// One pass per file, in order of execution (pipeline.cc also contains the shortest ones).
void read(Build& build);
void modules(Build& build);
void lower(Build& build);
void complete_systems(Build& build);  // the last part of lower (complete_systems.cc)
void check(Build& build);
void networks(Build& build);
void nodes(Build& build);
void moves(Build& build);
void items(Build& build);
void steps(Build& build);
void wireguard(Build& build);
void conflicts(Build& build);
void outputs(Build& build);
void names(Build& build);
void order(Build& build);
void finish(Build& build);

// Options for the document check.
sema::CheckOptions check_options(const Build& build);

const std::vector<Pass>& pipeline();
void run_pipeline(Build& build);

}  // namespace radl::passes
