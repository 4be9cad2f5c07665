// Files to trees. In RADL 1 files @input.NAME@ is replaced first, in the whole text, as RADL's clients do.
// Several of them, and EC3's templates with what they include, become one tree
// (compiler/compat/ec3/compose.h).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "compiler/compat/ec3/templates.h"
#include "compiler/passes/build.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/version.h"

namespace radl::passes {

namespace {

constexpr std::string_view kMark = "@input.";
constexpr size_t kMaxFilled = size_t{256} << 20;  // of text: a value may hold placeholders again
constexpr size_t kMaxWithin = 20;

// An `input` of the file itself that has no default.
bool has_input_to_give(const ast::Tree& tree) {
  return std::any_of(tree.blocks.begin(), tree.blocks.end(), [](const ast::Block* block) {
    if (block->kind != ast::Kind::Input) return false;
    const List<ast::Feature*>& features = static_cast<const ast::FeatureBlock*>(block)->body.items;
    return std::none_of(features.begin(), features.end(),
                        [](const ast::Feature* each) { return each->name.text == "default"; });
  });
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
      if (made.size() > kMaxFilled) {
        limit(span,
              fmt::format("the text with its inputs filled in is longer than {} MiB", kMaxFilled >> 20));
        break;
      }
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
      if (busy_.size() < kMaxWithin)
        value = fill(*value, at.file, inner);
      else
        limit(at, fmt::format("values of inputs that name further inputs may do so {} deep", kMaxWithin));
    }
    busy_.erase(name);
    return values_[name] = value;
  }

  void limit(Span at, std::string message) {
    if (!std::exchange(limited_, true)) diagnostics_.report(DiagCode::ExpressionCost, at, std::move(message));
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
  bool limited_ = false;
};

// Reads each file once, with @input.NAME@ filled in.
class Reader {
 public:
  explicit Reader(Build& build)
      : build_(build), given_(build.options, unheard_), filler_(build.options, given_, build.diagnostics) {}

  void run() {
    std::vector<const SourceFile*> texts;
    for (const std::string& path : build_.paths) {
      auto file = build_.sources.load(path);
      if (file.ok())
        texts.push_back(&take(path, **file));
      else
        build_.diagnostics.report(DiagCode::FileUnreadable, {}, file.status().text());
    }
    build_.trees = parse_all(texts, build_.diagnostics);
    for (const auto& tree : build_.trees)
      build_.asks_for_inputs = build_.asks_for_inputs || has_input_to_give(*tree);
    compose();
    if (radl1_) unknown_inputs();
  }

 private:
  // Records the file, and returns its text as parsed.
  const SourceFile& take(const std::string& path, const SourceFile& file) {
    build_.files.push_back(&file);
    std::string_view text = file.text();
    const bool versioned = begins_with_version(text);
    radl1_ = radl1_ || !versioned;
    std::vector<SpanMap::Piece> pieces;
    std::string made;
    if (!versioned && text.find(kMark) != text.npos) {
      build_.asks_for_inputs = true;
      made = filler_.fill(text, file.id(), pieces);
    }
    if (pieces.empty()) return file;
    const SourceFile& filled = build_.sources.add(path, std::move(made));
    build_.filled.add(filled.id(), file.id(), std::move(pieces));
    return filled;
  }

  void compose() {
    ec3::TemplateFiles files;
    files.module_path = build_.options.module_path;
    files.load_template = [&](const std::string& path) -> Result<const SourceFile*> {
      auto file = build_.sources.load(path);
      if (!file.ok()) return file;
      return &take(path, **file);
    };
    files.load_file = [&](const std::string& path) {
      auto file = build_.sources.load(path);
      if (file.ok()) build_.files.push_back(*file);
      return file;
    };
    build_.templates = ec3::compose_files(build_.trees, files, build_.diagnostics);
  }

  void unknown_inputs() {
    for (const auto& [name, source] : given_.explicit_names()) {
      bool declared = filler_.asked().contains(name);
      for (const auto& tree : build_.trees) declared = declared || tree->dialect == ast::Dialect::Radl2;
      if (!declared)
        build_.diagnostics.report(DiagCode::UnknownInput, {},
                                  fmt::format("{}: no file asks for an input '{}'", source, name));
    }
  }

  Build& build_;
  Diagnostics unheard_;  // what is wrong with input files is reported by the inputs pass
  GivenInputs given_;
  Filler filler_;
  bool radl1_ = false;
};

}  // namespace

void read(Build& build) { Reader(build).run(); }

}  // namespace radl::passes
