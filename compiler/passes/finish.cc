// What concerns the program as a whole: its name, its sources and their digest, and whether the IR is sound.
#include <fmt/format.h>

#include <cassert>
#include <filesystem>

#include "common/digest.h"
#include "compiler/passes/build.h"
#include "compiler/passes/requirements.h"

namespace radl::passes {

namespace {

std::string program_name(const Build& build) {
  for (const sema::Definition& description : build.document.descriptions) {
    if (std::string_view name = description.features.text("name"); !name.empty()) return std::string(name);
  }
  return build.paths.empty() ? "program" : std::filesystem::path(build.paths.front()).stem().string();
}

void add_sources(Build& build) {
  std::vector<ir::Source>& sources = build.program.sources;
  for (const SourceFile* file : build.files) sources.push_back({file->path(), file->sha256()});
  for (const SourceFile* file : build.library->files()) sources.push_back({file->path(), file->sha256()});
  for (const ir::Source& file : build.scopes->files_read()) sources.push_back(file);
  // Contents in order, not paths: the digest is the same in another folder.
  Sha256 sum;
  for (const ir::Source& source : sources) sum.update(source.sha256 + "\n");
  build.program.source_digest = sum.finish_hex();
}

}  // namespace

void finish(Build& build) {
  ir::Program& program = build.program;
  program.name = program_name(build);
  add_sources(build);
  program.inputs = build.scopes->program_inputs(build.secrets);
  bool anything = std::any_of(program.steps.begin(), program.steps.end(), [](const ir::Step& step) {
    return step.kind != ir::StepKind::CloudInit && step.kind != ir::StepKind::Barrier;
  });
  bool block = !build.root->contextualize.empty();
  program.contextualize = anything || !block;
  Status status = ir::verify(program);
  assert(status.ok() && "the passes made an IR that does not hold");
}

}  // namespace radl::passes
