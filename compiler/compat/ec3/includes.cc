#include "compiler/compat/ec3/includes.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/text.h"

namespace radl::ec3 {
namespace {

namespace fs = std::filesystem;

class Follower {
 public:
  Follower(std::vector<std::unique_ptr<ast::Tree>>& trees, TemplateFolders& folders, const ReadTemplate& read,
           Diagnostics& diagnostics)
      : trees_(trees), folders_(folders), read_(read), diagnostics_(diagnostics) {}

  void run() {
    bool several = trees_.size() > 1;
    for (const auto& tree : trees_) note(*tree);
    while (!includes_.empty()) {
      std::vector<std::string> names;
      for (const Include& include : includes_) names.push_back(include.name);
      for (const std::string& name : names) {
        auto at = std::find_if(includes_.begin(), includes_.end(),
                               [&](const Include& i) { return i.name == name; });
        const Include include = *at;
        for (std::string_view part : split(include.templates, ' '))
          if (!part.empty()) add(std::string(part), include, several);
        std::erase_if(includes_, [&](const Include& i) { return i.name == name; });
      }
    }
  }

 private:
  struct Include {
    std::string name, templates, beside;
    Span span;
  };

  void note(const ast::Tree& tree) {
    const std::string& path = tree.source->path();
    read_names_.insert(template_name(path));
    read_paths_.insert(fs::path(path).lexically_normal().string());
    folders_.add_file(path);
    for (const ast::Block* block : tree.blocks) {
      if (block->kind != ast::Kind::General || block->keyword.text != "include") continue;
      Include made{std::string(block->name.text), {}, path, block->name.span};
      for (const ast::Feature* feature : static_cast<const ast::FeatureBlock*>(block)->body.items) {
        auto* text = ast::as<ast::String>(feature->value);
        if (text == nullptr || feature->name.text != "template") continue;
        made.templates = std::string(text->text);
        made.span = text->span;
      }
      if (trim(made.templates).empty())
        diagnostics_
            .report(DiagCode::IncludeNothing, made.span,
                    "`include " + made.name + "` does not say which templates")
            .with_help("write `template = 'openports im'`: names of files without .radl");
      auto known = std::find_if(includes_.begin(), includes_.end(),
                                [&](const Include& each) { return each.name == made.name; });
      if (known == includes_.end())
        includes_.push_back(std::move(made));
      else
        *known = std::move(made);
    }
  }

  // One template alone may be a part, whose other parts are elsewhere.
  void add(const std::string& name, const Include& include, bool needed) {
    if (!read_names_.insert(template_name(name)).second) return;
    std::optional<std::string> path = folders_.find(name + ".radl", include.beside);
    if (!path) path = folders_.find(name, include.beside);
    if (!path) {
      diagnostics_
          .report(needed ? DiagCode::IncludeNothing : DiagCode::TemplateNotFound, include.span,
                  "the template `" + name + "` is not beside this file")
          .with_help("give its file on the command line as well");
      return;
    }
    if (!read_paths_.insert(*path).second) return;
    auto tree = read_(*path, include.span);
    if (!tree) return;
    trees_.push_back(std::move(tree));
    note(*trees_.back());
  }

  std::vector<std::unique_ptr<ast::Tree>>& trees_;
  TemplateFolders& folders_;
  const ReadTemplate& read_;
  Diagnostics& diagnostics_;
  std::vector<Include> includes_;
  std::set<std::string> read_names_, read_paths_;
};

}  // namespace

void TemplateFolders::add_file(const std::string& path) {
  std::string folder = fs::path(path).parent_path().string();
  if (std::find(folders_.begin(), folders_.end(), folder) == folders_.end()) folders_.push_back(folder);
}

std::optional<std::string> TemplateFolders::find(const std::string& name, const std::string& beside) const {
  std::vector<fs::path> folders;
  auto add = [&](const fs::path& folder) {
    folders.push_back(folder);
    folders.push_back(folder / "templates");
  };
  if (!beside.empty()) add(fs::path(beside).parent_path());
  for (const std::string& folder : folders_) add(folder);
  for (const std::string& folder : module_path_) folders.emplace_back(folder);
  for (const fs::path& folder : folders) {
    std::error_code error;
    fs::path path = (folder / name).lexically_normal();
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return std::nullopt;
}

std::string template_name(const std::string& path) {
  fs::path file = fs::path(path).filename();
  return file.extension() == ".radl" ? file.stem().string() : file.string();
}

void drop_repeated(std::vector<std::unique_ptr<ast::Tree>>& trees) {
  std::set<std::string> known;
  std::erase_if(trees, [&](const auto& tree) {
    return !known.insert(fs::path(tree->source->path()).lexically_normal().string()).second;
  });
}

void follow_includes(std::vector<std::unique_ptr<ast::Tree>>& trees, TemplateFolders& folders,
                     const ReadTemplate& read, Diagnostics& diagnostics) {
  Follower(trees, folders, read, diagnostics).run();
}

}  // namespace radl::ec3
