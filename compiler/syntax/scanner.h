// What the generated scanner (grammar/radl.ll) and the token stream share: raw tokens and the scanner's
// state.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>
#include <vector>

namespace radl {

enum class RawKind : uint8_t {
  End,
  Junk,
  Comment,
  Name,
  Number,
  Text,
  Random,
  BadRandom,
  Recipe,
  EmptyRecipe,
  OpenRecipe,
  Network,
  Ansible,
  System,
  Soft,
  And,
  Contains,
  Deploy,
  Configure,
  Contextualize,
  Step,
  With,
  Option,
  Description,
  Open,
  Close,
  OpenList,
  CloseList,
  Comma,
  Eq,
  Lt,
  Gt,
  Le,
  Ge,
  // radl 2
  Radl,
  Input,
  Output,
  Use,
  As,
  After,
  If,
  Then,
  Else,
  Or,
  Not,
  EqEq,
  NotEq,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  TextBegin,
  TextPart,
  TextEnd,
  OpenInterpolation,
  CloseInterpolation,
};

struct RawToken {
  RawKind kind;
  uint32_t begin, end;
};

struct ScanState {
  bool version2 = false;
  bool in_text = false;
  bool mode_changed = false;
  int depth = 0;                      // parentheses
  std::vector<int> interpolations;    // depth at each open ${
  const char* limit = nullptr;        // end of the bytes
  const char* dead_quotes = nullptr;  // quotes before this place begin no text: nothing closes them

  void open() { mode_changed = ++depth == 1; }
  void close() {
    if (depth == 0) return;
    mode_changed = --depth == 0;
  }
  void open_interpolation() {
    interpolations.push_back(depth);
    in_text = false;
    mode_changed = true;
  }
  bool close_interpolation() {
    if (interpolations.empty()) return false;
    depth = interpolations.back();
    interpolations.pop_back();
    in_text = mode_changed = true;
    return true;
  }
  void leave_text() {
    in_text = false;
    mode_changed = true;
  }
};

struct Scanned {
  RawKind kind;
  size_t length;
};

// Bytes of `text`, a run of ASCII word and non-ASCII bytes, that belong to a name: it ends before the first
// character that is neither letter, digit, `_`, `.` nor `-` in Unicode.
size_t name_length(std::string_view text);

// At a digit or a byte that is not ASCII: Number when a digit of some script is there, with all that belongs
// to it; else Junk, one byte.
Scanned scan_number(std::string_view rest);

// At a quote. Text, Random or BadRandom; TextBegin (one byte) when it holds ${ }; Junk (one byte) when
// nothing closes it: RADL then skips the quote alone.
Scanned scan_text(ScanState& state, std::string_view rest);

// At "@begin": Recipe up to and with @end, EmptyRecipe for @begin@end, OpenRecipe (to the end) without @end.
Scanned scan_recipe(std::string_view rest);

class Scanner {
 public:
  Scanner(std::string_view text, bool version2);
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  RawToken next();  // End for ever after the last one
  // Goes on from there, outside texts; with `depth` parentheses open when it is not negative.
  void seek(uint32_t offset, int depth = -1);
  void set_depth(int depth);

 private:
  std::vector<char> buffer_;
  ScanState state_;
  void* flex_ = nullptr;
};

}  // namespace radl
