// What the passes hand on to each other. Each field says which pass makes it. Later passes add to `items`
// (their steps), `program` and `secrets`, and `order` takes over `steps`; nothing else is changed once made.
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

// Places in a string in which @input.NAME@ was replaced, back to the text as the user wrote it.
class SpanMap {
 public:
  struct Piece {
    uint32_t made_begin, made_end;      // in the text that was made
    uint32_t source_begin, source_end;  // in the user's: @input.NAME@
  };
  void add(uint32_t made_file, uint32_t source_file, std::vector<Piece> pieces);
  bool empty() const { return files_.empty(); }
  Span back(Span made) const;
  // Whether any of it came from an input.
  bool given(Span made) const;

 private:
  struct File {
    uint32_t source_file;
    std::vector<Piece> pieces;  // in order
  };
  std::unordered_map<uint32_t, File> files_;
};

// One recipe for one system: an item of `contextualize`, or the default.
struct BoundItem {
  const Instance* instance = nullptr;
  std::string system;  // full name
  const ast::Configure* configure = nullptr;
  std::string recipe;  // full name
  ir::StepKind kind = ir::StepKind::Ansible;
  int group = 0;
  const ast::Item* written = nullptr;  // null: the default
  Span span;
  std::vector<size_t> steps;  // passes/steps.cc: places in Build::steps
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
  std::vector<std::unique_ptr<ast::Tree>> templates;  // what `trees` was composed of; it shares their nodes
  // modules
  std::unique_ptr<ModuleLibrary> library;
  std::unique_ptr<Instance> root;
  // inputs
  std::unique_ptr<Scopes> scopes;
  // lower: the program with full names and the values of its features
  hir::Document values;
  bool evaluated = false;  // a file is `radl 2`, or there are modules
  // check: what the documents say together
  sema::Document document;
  // nodes
  std::unordered_map<std::string, std::vector<size_t>> nodes_of;  // system -> places in program.nodes
  std::map<std::string, int> deployed;                            // system -> nodes, as its deploys say
  // items
  bool configuration_off = false;  // `contextualize ()`
  std::vector<BoundItem> items;
  // steps: not yet in order, without edges
  std::vector<ir::Step> steps;
  struct TrainingStep {
    size_t step;  // place in `steps`
    const Instance* instance;
    const ast::Configure* configure;
  };
  std::vector<TrainingStep> trainings;
  std::vector<IdleRecipe> idle_recipes;
  // all the rest
  ir::Program program;
  ir::Secrets secrets;

  // Where inputs may be missing, what nothing uses may be used once they are there.
  bool unused_is_known() const { return !options.inputs_may_be_missing || !asks_for_inputs; }
  ir::Origin origin(Span span) const;
  // Folder of a source file; of the program's first file for 0 and for strings that came from outside.
  std::string folder_of(uint32_t file) const;
  std::vector<std::string> node_addresses(const std::string& system) const;
};

struct Pass {
  std::string_view name;
  std::string_view doc;
  void (*run)(Build&);
  bool needs_clean = false;  // not run when there are errors
  std::string (*dump)(const Build&) = nullptr;
};

// One pass a file, in the order in which they run (pipeline.cc, which also has the shortest ones).
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

// How documents are checked.
sema::CheckOptions check_options(const Build& build);

const std::vector<Pass>& pipeline();
void run_pipeline(Build& build);

}  // namespace radl::passes
