#include "compiler/compile.h"

#include <algorithm>

#include "compiler/diag/diagnostic.h"
#include "compiler/passes/build.h"
#include "compiler/source/source.h"

namespace radl {

namespace {

// Whether the string at `at`, or behind it, holds the value of an input: a secret that is not in the file.
bool is_given(Span at, const SourceMap& sources, const passes::SpanMap& filled) {
  const SourceFile* file = filled.empty() ? nullptr : sources.find(at.file);
  if (file == nullptr) return false;
  const std::string_view text = file->text();
  const size_t open = std::min(text.find('\'', at.begin), text.size());
  const size_t close = std::min(text.find('\'', open + 1), text.size());
  return filled.given({at.file, static_cast<uint32_t>(open), static_cast<uint32_t>(close)});
}

// Findings in a string in which inputs were filled in, reported at the places of the text that the user
// wrote.
void hand_over(const Diagnostics& found, const SourceMap& sources, const passes::SpanMap& filled,
               Diagnostics& diagnostics) {
  for (const Diagnostic& each : found.all()) {
    if (each.code == DiagCode::PlainSecret && is_given(each.span, sources, filled)) continue;
    Diagnostic& reported = diagnostics.report(each.code, filled.back(each.span), each.message);
    reported.label = each.label;
    reported.help = each.help;
    for (const Note& note : each.notes) reported.note(filled.back(note.span), note.message);
    for (const Fix& fix : each.fixes) {
      // A fix in text that came from an input has no place in the user's file.
      bool exact = std::all_of(fix.edits.begin(), fix.edits.end(), [&](const TextEdit& edit) {
        return filled.back(edit.span).size() == edit.span.size();
      });
      if (!exact) continue;
      Fix moved = fix;
      for (TextEdit& edit : moved.edits) edit.span = filled.back(edit.span);
      reported.fixes.push_back(std::move(moved));
    }
  }
}

}  // namespace

std::optional<Compiled> compile(const std::vector<std::string>& paths, const CompileOptions& options,
                                SourceMap& sources, Diagnostics& diagnostics) {
  Diagnostics found;
  passes::Build build(paths, options, sources, found);
  passes::run_pipeline(build);
  if (build.library) found.tell_at_uses(build.library->uses());
  found.sort();
  hand_over(found, sources, build.filled, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return Compiled{std::move(build.program), std::move(build.secrets),
                  build.scopes && build.scopes->uses_generated(), std::move(build.deployed),
                  std::move(build.idle_recipes)};
}

std::vector<std::pair<std::string_view, std::string_view>> compiler_passes() {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  for (const passes::Pass& pass : passes::pipeline()) all.emplace_back(pass.name, pass.doc);
  return all;
}

}  // namespace radl
