#include "tools/templates/templates.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "compiler/syntax/parser.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

void take(const ast::Features& body, std::string_view name, std::string& into) {
  for (const ast::Feature* feature : body.items) {
    auto* text = ast::as<ast::String>(feature->value);
    if (text && feature->name.text == name && into.empty()) into = text->text;
  }
}

int rank(const std::string& kind) {
  return kind == "main" ? 0 : kind == "component" ? 1 : kind == "images" ? 2 : kind.empty() ? 4 : 3;
}

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator it(path, options, error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().extension() == ".radl") files.push_back(it->path().string());
    }
  }
  return files;
}

}  // namespace

Template describe_template(const ast::Tree& tree, const std::string& path) {
  Template found;
  found.path = path;
  found.readable = !tree.syntax_errors;
  std::string id;
  for (const ast::Block* block : tree.blocks) {
    auto* feature_block = ast::as<ast::FeatureBlock>(block);
    if (!feature_block || block->kind != ast::Kind::Description) continue;
    if (id.empty()) id = block->name.text;
    take(feature_block->body, "name", found.name);
    take(feature_block->body, "kind", found.kind);
    take(feature_block->body, "short", found.summary);
    take(feature_block->body, "content", found.content);
  }
  if (found.name.empty()) found.name = id;
  if (found.name.empty()) found.name = fs::path(path).stem().string();
  return found;
}

std::vector<Template> list_templates(const std::vector<std::string>& paths) {
  std::vector<Template> found;
  for (const std::string& path : files_of(paths)) {
    SourceMap sources;
    Diagnostics unheard;
    auto source = sources.load(path);
    if (!source) {
      Template unread;
      unread.path = path;
      unread.name = fs::path(path).stem().string();
      unread.readable = false;
      found.push_back(std::move(unread));
      continue;
    }
    found.push_back(describe_template(*parse(**source, unheard, {.dialect = DialectChoice::Ec3}), path));
  }
  std::sort(found.begin(), found.end(), [](const Template& a, const Template& b) {
    return std::tuple(rank(a.kind), a.name, a.path) < std::tuple(rank(b.kind), b.name, b.path);
  });
  return found;
}

}  // namespace radl
