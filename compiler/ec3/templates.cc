#include "compiler/ec3/templates.h"

#include "compiler/ec3/includes.h"
#include "compiler/syntax/parser.h"

namespace radl::ec3 {

std::vector<std::unique_ptr<ast::Tree>> compose_files(std::vector<std::unique_ptr<ast::Tree>>& trees,
                                                      const TemplateFiles& files, Diagnostics& diagnostics) {
  if (!needs_composition(trees)) return {};
  TemplateFolders folders(files.module_path);
  Composition composition;
  for (const auto& tree : trees) composition.given.push_back(template_name(tree->source->path()));
  auto read = [&](const std::string& path, Span from) -> std::unique_ptr<ast::Tree> {
    auto file = files.load_template(path);
    if (file.ok()) return parse(**file, diagnostics, {.dialect = DialectChoice::Ec3});
    diagnostics.report(DiagCode::FileUnreadable, from, file.status().text());
    return nullptr;
  };
  if (trees.front()->dialect == ast::Dialect::Ec3) {
    drop_repeated(trees);
    follow_includes(trees, folders, read, diagnostics);
  }
  composition.read_file = [&](std::string_view name) -> std::optional<std::string> {
    auto path = folders.find(std::string(name), {});
    if (!path) return std::nullopt;
    auto file = files.load_file(*path);
    return file.ok() ? std::optional(std::string((*file)->text())) : std::nullopt;
  };
  std::vector<std::unique_ptr<ast::Tree>> templates = std::move(trees);
  trees.clear();
  trees.push_back(compose(templates, composition, diagnostics));
  return templates;
}

}  // namespace radl::ec3
