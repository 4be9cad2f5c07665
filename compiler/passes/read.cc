// Files to trees. In RADL 1 files @input.NAME@ is replaced first, in the whole text, as RADL's clients do.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "compiler/passes/build.h"
#include "compiler/syntax/parser.h"

namespace radl::passes {

namespace {

constexpr std::string_view kMark = "@input.";
constexpr size_t kMaxFilled = size_t{256} << 20;  // of text: a value may hold placeholders again

// Whether the first block is `radl N`: then inputs are a part of the language, and strings are left alone.
bool has_version_block(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == ' ' || text[at] == '\t' || text[at] == '\n') {
      at++;
    } else {
      break;
    }
  }
  return text.substr(at).starts_with("radl ") || text.substr(at).starts_with("radl\t");
}

class Filler {
 public:
  Filler(const CompileOptions& options, const GivenInputs& given, Diagnostics& diagnostics)
      : options_(options), given_(given), diagnostics_(diagnostics) {}

  // The text with every placeholder replaced that has a value. Pieces are in order.
  std::string fill(std::string_view text, uint32_t file, std::vector<SpanMap::Piece>& pieces) {
    std::string made;
    size_t done = 0;
    for (size_t at = text.find(kMark); at != text.npos; at = text.find(kMark, at)) {
      size_t end = text.find('@', at + kMark.size());
      if (end == text.npos) break;
      std::string name(text.substr(at + kMark.size(), end - at - kMark.size()));
      Span span{file, static_cast<uint32_t>(at), static_cast<uint32_t>(end + 1)};
      std::optional<std::string> value = name.find('\n') == name.npos ? value_of(name, span) : std::nullopt;
      if (!value) {
        at += kMark.size();
        continue;
      }
      made.append(text, done, at - done);
      uint32_t begin = static_cast<uint32_t>(made.size());
      made += *value;
      pieces.push_back({begin, static_cast<uint32_t>(made.size()), span.begin, span.end});
      at = done = end + 1;
      if (made.size() > kMaxFilled) break;
    }
    return made.append(text.substr(done));
  }

  const std::set<std::string>& asked() const { return asked_; }

 private:
  // The value, in which placeholders are replaced as well; each is worked out once.
  std::optional<std::string> value_of(const std::string& name, Span at) {
    if (auto known = values_.find(name); known != values_.end()) return known->second;
    asked_.insert(name);
    if (!busy_.insert(name).second) {
      diagnostics_.report(DiagCode::ValueCycle, at,
                          fmt::format("the value of input '{}' contains itself", name));
      return std::nullopt;
    }
    std::optional<std::string> value = raw_value(name);
    if (value && value->find(kMark) != value->npos) {
      std::vector<SpanMap::Piece> inner;
      value = busy_.size() < 20 ? fill(*value, at.file, inner) : value;
    }
    busy_.erase(name);
    return values_[name] = value;
  }

  std::optional<std::string> raw_value(const std::string& name) {
    if (const auto* given = given_.find(name)) {
      if (given->text) return given->text;
      return given->json.is_string() ? given->json.get<std::string>() : given->json.dump();
    }
    return options_.ask ? options_.ask(name, "", false) : std::nullopt;
  }

  const CompileOptions& options_;
  const GivenInputs& given_;
  Diagnostics& diagnostics_;
  std::map<std::string, std::optional<std::string>> values_;
  std::set<std::string> asked_, busy_;
};

}  // namespace

namespace {

// `include NAME (template = 'FILE')` of EC3: the file in the folder of the one that includes it, in
// `templates/` there, or in the module path. Empty when it is nowhere.
std::string find_template(std::string_view name, const std::string& beside, const CompileOptions& options) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders = {beside, fs::path(beside) / "templates"};
  for (const std::string& folder : options.module_path) folders.emplace_back(folder);
  for (const fs::path& folder : folders) {
    for (const std::string& file : {std::string(name) + ".radl", std::string(name)}) {
      std::error_code error;
      fs::path path = (folder / file).lexically_normal();
      if (fs::is_regular_file(path, error)) return path.string();
    }
  }
  return {};
}

struct Include {
  std::string name;
  Span span;
  std::string beside;
};

std::vector<Include> includes_of(const ast::Tree& tree) {
  std::vector<Include> found;
  if (tree.dialect != ast::Dialect::Ec3) return found;
  std::string beside = std::filesystem::path(tree.source->path()).parent_path().string();
  for (const ast::Block* block : tree.blocks) {
    if (block->kind != ast::Kind::General || block->keyword.text != "include") continue;
    for (const ast::Feature* feature : static_cast<const ast::FeatureBlock*>(block)->body.items) {
      auto* text = ast::as<ast::String>(feature->value);
      if (text && feature->name.text == "template")
        found.push_back({std::string(text->text), text->span, beside});
    }
  }
  return found;
}

// Reads what EC3's templates include, each file once.
void follow_includes(Build& build) {
  namespace fs = std::filesystem;
  std::set<std::string> read, names;
  for (const SourceFile* file : build.files) {
    read.insert(fs::path(file->path()).lexically_normal().string());
    names.insert(fs::path(file->path()).stem().string());
  }
  for (size_t i = 0; i < build.trees.size(); ++i) {  // grows while it is gone through
    for (const Include& include : includes_of(*build.trees[i])) {
      if (names.contains(fs::path(include.name).stem().string())) continue;  // given on the command line
      std::string path = find_template(include.name, include.beside, build.options);
      if (path.empty()) {
        build.diagnostics
            .report(DiagCode::TemplateNotFound, include.span,
                    fmt::format("the template `{}` is not beside this file", include.name))
            .with_help("give its file on the command line as well");
        continue;
      }
      if (!read.insert(path).second) continue;
      auto file = build.sources.load(path);
      if (!file.ok()) {
        build.diagnostics.report(DiagCode::FileUnreadable, include.span, file.status().text());
        continue;
      }
      build.files.push_back(*file);
      build.trees.push_back(parse(**file, build.diagnostics, {.dialect = DialectChoice::Ec3}));
    }
  }
}

}  // namespace

void read(Build& build) {
  Diagnostics unheard;  // what is wrong with input files is reported by the inputs pass
  GivenInputs given(build.options, unheard);
  Filler filler(build.options, given, build.diagnostics);
  std::vector<const SourceFile*> texts;
  bool radl1 = false;
  for (const std::string& path : build.paths) {
    auto file = build.sources.load(path);
    if (!file.ok()) {
      build.diagnostics.report(DiagCode::FileUnreadable, {}, file.status().text());
      continue;
    }
    build.files.push_back(*file);
    std::string_view text = (*file)->text();
    bool versioned = has_version_block(text);
    radl1 = radl1 || !versioned;
    std::vector<SpanMap::Piece> pieces;
    std::string made;
    if (!versioned && text.find(kMark) != text.npos) made = filler.fill(text, (*file)->id(), pieces);
    if (pieces.empty()) {
      texts.push_back(*file);
      continue;
    }
    const SourceFile& filled = build.sources.add(path, std::move(made));
    build.filled.add(filled.id(), (*file)->id(), std::move(pieces));
    texts.push_back(&filled);
  }
  build.trees = parse_all(texts, build.diagnostics);
  follow_includes(build);
  if (!radl1) return;
  for (const auto& [name, source] : given.explicit_names()) {
    bool declared = filler.asked().contains(name);
    for (const auto& tree : build.trees) declared = declared || tree->dialect == ast::Dialect::Radl2;
    if (!declared)
      build.diagnostics.report(DiagCode::UnknownInput, {},
                               fmt::format("{}: no file asks for an input '{}'", source, name));
  }
}

}  // namespace radl::passes
