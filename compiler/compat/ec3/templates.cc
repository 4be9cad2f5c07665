#include "compiler/compat/ec3/templates.h"

#include <algorithm>
#include <iterator>

#include "compiler/compat/ec3/includes.h"
#include "compiler/syntax/parser.h"

namespace radl::ec3 {
namespace {

using Trees = std::vector<std::unique_ptr<ast::Tree>>;

bool is_radl2(const std::unique_ptr<ast::Tree>& tree) { return tree->dialect == ast::Dialect::Radl2; }

// The trees of RADL 1, in order; the others stay.
Trees take_radl1(Trees& trees) {
  Trees taken, left;
  for (auto& tree : trees) (is_radl2(tree) ? left : taken).push_back(std::move(tree));
  trees = std::move(left);
  return taken;
}

std::unique_ptr<ast::Tree> read_template(const TemplateFiles& files, const std::string& path, Span from,
                                         Diagnostics& diagnostics) {
  auto file = files.load_template(path);
  if (!file.ok()) {
    diagnostics.report(DiagCode::FileUnreadable, from, file.status().text());
    return nullptr;
  }
  auto tree = parse(**file, diagnostics, {.dialect = DialectChoice::Ec3});
  if (!is_radl2(tree)) return tree;
  diagnostics.report(DiagCode::IncludeNothing, from,
                     path + " is a file of `radl 2`, not a template of EC3's");
  return nullptr;
}

}  // namespace

Trees compose_files(Trees& trees, const TemplateFiles& files, Diagnostics& diagnostics) {
  auto first = std::find_if_not(trees.begin(), trees.end(), is_radl2);
  if (first == trees.end()) return {};
  bool ec3 = (*first)->dialect == ast::Dialect::Ec3;
  if (!ec3 && std::count_if(trees.begin(), trees.end(), is_radl2) + 1 == std::ssize(trees)) return {};
  Trees templates = take_radl1(trees);
  TemplateFolders folders(files.module_path);
  Composition composition;
  composition.open = !trees.empty();
  for (const auto& tree : templates) composition.given.push_back(template_name(tree->source->path()));
  auto read = [&](const std::string& path, Span from) {
    return read_template(files, path, from, diagnostics);
  };
  if (ec3) {
    drop_repeated(templates);
    follow_includes(templates, folders, read, diagnostics);
  }
  composition.read_file = [&](std::string_view name) -> std::optional<std::string> {
    auto path = folders.find(std::string(name), {});
    if (!path) return std::nullopt;
    auto file = files.load_file(*path);
    return file.ok() ? std::optional(std::string((*file)->text())) : std::nullopt;
  };
  trees.insert(trees.begin(), compose(templates, composition, diagnostics));
  return templates;
}

}  // namespace radl::ec3
