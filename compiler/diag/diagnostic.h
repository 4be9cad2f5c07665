// Diagnostics: errors and warnings about a user's sources. Nothing here prints or exits.
//
// codes.def lists every code with its severity, title and long explanation; the renderers are in
// render.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/source.h"

namespace radl {

enum class Severity : uint8_t { Note, Warning, Error };

// The stage that reports: Parse and Check are the reference's two phases; Language is radl 2 and modules;
// Json is RADL-JSON; Tool is the command line (unreadable files).
enum class Phase : uint8_t { Tool, Parse, Check, Language, Json };

// One enumerator per row of codes.def: DiagCode::UnexpectedToken is E0101.
enum class DiagCode : uint16_t {
#define RADL_DIAGNOSTIC(name, id, severity, phase, title, explanation) name,
#include "compiler/diag/codes.def"
#undef RADL_DIAGNOSTIC
  kCount
};

struct CodeInfo {
  DiagCode code;
  std::string_view name;  // "UnexpectedToken"
  std::string_view id;    // "E0101"
  Severity severity;      // the default; options may change it
  Phase phase;
  std::string_view title;        // "unexpected token"
  std::string_view explanation;  // paragraphs of Markdown, for `radlc explain`
};

const CodeInfo& code_info(DiagCode code);
const std::vector<CodeInfo>& all_codes();
// Accepts "E0101", "e0101" or "UnexpectedToken"; nullptr if unknown.
const CodeInfo* find_code(std::string_view id);

// A related place: "first declared here".
struct Note {
  Span span;  // may be unknown
  std::string message;
};

struct TextEdit {
  Span span;  // an empty span inserts
  std::string replacement;
};

// A suggestion that an editor can apply.
struct Fix {
  std::string title;  // "write 'memory.size'"
  std::vector<TextEdit> edits;
};

struct Diagnostic {
  DiagCode code{};
  Severity severity{};
  Span span;
  std::string message;  // one sentence without a full stop
  std::string label;    // under the caret; may be empty
  std::string help;     // "help: ..." line; may be empty
  std::vector<Note> notes;
  std::vector<Fix> fixes;
  Span used_at;  // for a finding in a library: the user's line, until tell_at_uses() puts it first

  Diagnostic& labelled(std::string text) {
    label = std::move(text);
    return *this;
  }
  Diagnostic& with_help(std::string text) {
    help = std::move(text);
    return *this;
  }
  Diagnostic& note(Span at, std::string text) {
    notes.push_back({at, std::move(text)});
    return *this;
  }
  Diagnostic& fix(std::string title, Span at, std::string replacement) {
    fixes.push_back({std::move(title), {{at, std::move(replacement)}}});
    return *this;
  }
};

// The `use` that loaded a module's file.
struct UsedFrom {
  uint32_t file = 0;  // 0: the program itself
  Span use;           // in the user's files
  bool library = false;
  const UsedFrom* outer = nullptr;  // of the enclosing module; null for the program
};

// Collects findings. Keeps at most `kMaxPerCode` per code and `kMaxTotal` in all; counts the rest.
class Diagnostics {
 public:
  static constexpr size_t kMaxPerCode = 200;
  static constexpr size_t kMaxTotal = 2000;
  static constexpr size_t kMaxSyntaxErrorsPerFile = 20;

  // Returns the diagnostic, so that you can add notes. A silenced or dropped one goes to a scratch object.
  Diagnostic& report(DiagCode code, Span span, std::string message);

  // Comments `# radl: allow W0123[, W0124]` (tree.allows, see syntax/ast.h) and -W options.
  void allow(DiagCode code, Span where);                      // silences findings that begin in `where`
  void set_severity(DiagCode code, std::optional<Severity>);  // nullopt: off (errors cannot be turned off)
  void warnings_as_errors(bool on) { werror_ = on; }

  // Attributes findings in that file to that `use` until the next call. Returns the previous one. A finding
  // that depends on the values of that `use` gets it as a note.
  UsedFrom set_used_from(UsedFrom from);
  // Moves findings in library files to the user's `use`, with the library's line as the first note. `uses`:
  // fallback positions for findings without a known `use`.
  void tell_at_uses(const std::map<uint32_t, Span>& uses);

  const std::vector<Diagnostic>& all() const { return list_; }
  bool has_errors() const { return errors_ != 0; }
  size_t errors() const { return errors_; }
  size_t warnings() const { return warnings_; }
  size_t dropped() const { return dropped_; }  // findings over the limits
  bool has(DiagCode code) const;
  // Sorts by file, offset, then order of arrival. Drops findings about characters, units, operators, names or
  // lists at the position of another error, since they add nothing.
  void sort();
  void append(const Diagnostics& other);
  void clear();

 private:
  void drop_echoes();
  bool silenced(DiagCode code, Span span) const;
  void tell_use(Diagnostic& found) const;

  struct Allow {
    DiagCode code;
    Span where;
  };
  std::vector<Diagnostic> list_;
  std::vector<Allow> allows_;
  std::vector<std::pair<DiagCode, std::optional<Severity>>> levels_;
  std::vector<uint32_t> per_code_;
  UsedFrom used_from_;
  Diagnostic scratch_;
  size_t errors_ = 0, warnings_ = 0, dropped_ = 0;
  bool werror_ = false;
};

// Sets the current `use` for a scope.
class WithinUse {
 public:
  WithinUse(Diagnostics& diagnostics, UsedFrom from)
      : diagnostics_(diagnostics), before_(diagnostics.set_used_from(from)) {}
  ~WithinUse() { diagnostics_.set_used_from(before_); }
  WithinUse(const WithinUse&) = delete;
  WithinUse& operator=(const WithinUse&) = delete;

 private:
  Diagnostics& diagnostics_;
  UsedFrom before_;
};

}  // namespace radl
