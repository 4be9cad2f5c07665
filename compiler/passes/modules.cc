// Follows `use`, and writes `each` out: trees to instances.
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
  build.root = std::make_unique<Instance>();
  for (const auto& tree : build.trees) build.root->trees.push_back(tree.get());
  build.scopes = std::make_unique<Scopes>(*build.root, build.options, build.sources, build.diagnostics);
  instantiate(*build.root, *build.library, *build.scopes, build.diagnostics);
}

}  // namespace radl::passes
