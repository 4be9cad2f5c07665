// Follows `use`: trees to instances.
#include <filesystem>

#include "compiler/passes/build.h"

namespace radl::passes {

void modules(Build& build) {
  SearchPath search;
  if (!build.paths.empty())
    search.project = std::filesystem::path(build.paths.front()).parent_path().string();
  search.folders = build.options.module_path;
  search.standard_library = standard_library_folder(build.options.environment);
  build.library = std::make_unique<ModuleLibrary>(build.sources, build.diagnostics, std::move(search));
  std::vector<const ast::Tree*> trees;
  for (const auto& tree : build.trees) trees.push_back(tree.get());
  build.root = instantiate(trees, *build.library, build.diagnostics);
}

}  // namespace radl::passes
