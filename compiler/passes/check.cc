// The document check: what RADL demands of a document.
#include "compiler/sema/check.h"

#include "compiler/passes/build.h"

namespace radl::passes {

namespace {

// The folded document holds secrets as literals, and the check quotes what is wrong: a finding about a secret
// does not show it.
class SecretFilter {
 public:
  explicit SecretFilter(const Build& build) {
    for (const auto& [value, name] : build.secret_values) {
      auto* text = ast::as<ast::String>(value);
      if (text != nullptr && !text->text.empty()) secrets_.push_back({value->span, std::string(text->text)});
    }
  }

  bool any() const { return !secrets_.empty(); }

  void copy(const Diagnostic& found, Diagnostics& into) const {
    bool hidden = false;
    for (const auto& [span, text] : secrets_) {
      bool here = found.span.file == span.file && found.span.begin < span.end && span.begin < found.span.end;
      hidden = hidden || (here && shows(found, text));
    }
    Diagnostic& made = into.report(found.code, found.span,
                                   hidden ? "this secret is no value that the feature takes" : found.message);
    if (hidden) return;
    made.label = found.label;
    made.help = found.help;
    made.notes = found.notes;
    made.fixes = found.fixes;
  }

 private:
  static bool shows(const Diagnostic& found, const std::string& text) {
    auto has = [&](const std::string& where) { return where.find(text) != std::string::npos; };
    bool shown = has(found.message) || has(found.label) || has(found.help);
    for (const Note& note : found.notes) shown = shown || has(note.message);
    for (const Fix& fix : found.fixes) {
      shown = shown || has(fix.title);
      for (const TextEdit& edit : fix.edits) shown = shown || has(edit.replacement);
    }
    return shown;
  }

  std::vector<std::pair<Span, std::string>> secrets_;
};

void check_into(Build& build, Diagnostics& diagnostics) {
  build.document = sema::build_document(build.flat, diagnostics);
  sema::CheckOptions options;
  options.lenient = build.options.lenient;
  options.host_names = true;
  bool broken = build.diagnostics.has_errors() || diagnostics.has_errors();
  for (const ast::Tree* tree : build.flat) broken = broken || tree->syntax_errors;
  options.unused = !broken && !build.options.inputs_may_be_missing;
  sema::check_document(build.document, diagnostics, options);
}

}  // namespace

void check(Build& build) {
  SecretFilter filter(build);
  if (!filter.any()) return check_into(build, build.diagnostics);
  Diagnostics found;
  check_into(build, found);
  for (const Diagnostic& each : found.all()) filter.copy(each, build.diagnostics);
}

}  // namespace radl::passes
