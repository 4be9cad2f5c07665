// Raw tokens and scanner state, shared by the generated scanner (grammar/radl.ll) and the token
// stream.
#pragma once

#include <cstdint>
#include <string>
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
  OpenMap,
  CloseMap,
};

inline bool is_comparator(RawKind kind) { return kind >= RawKind::Eq && kind <= RawKind::Ge; }
// True for keywords.
inline bool is_word_token(RawKind kind) {
  return (kind >= RawKind::Network && kind <= RawKind::Description) ||
         (kind >= RawKind::Radl && kind <= RawKind::Not);
}

struct RawToken {
  RawKind kind;
  uint32_t begin, end;
};

// The part read so far of a radl 2 string that contains ${ }.
struct OpenText {
  enum class Kind : uint8_t { Single, Double, Block, RawBlock, Template } kind;
  const char* end = nullptr;  // of a text block: start of its last line, which repeats the mark
  size_t closing = 1;         // length of the terminator in bytes
};

struct ScanState {
  bool version2 = false;
  bool in_text = false;
  int depth = 0;  // parentheses
  struct Brace {
    int depth;  // of parentheses when it was opened
    bool map;   // otherwise ${
  };
  std::vector<Brace> braces;
  std::vector<OpenText> texts;
  const char* base = nullptr;         // the bytes
  const char* limit = nullptr;        // their end
  bool blocks_may_be_open = false;    // an unterminated text block extends to the end
  const char* dead_quotes = nullptr;  // quotes before it begin no string: nothing closes them

  RawToken token(RawKind kind, const char* begin, const char* end) const {
    return {kind, static_cast<uint32_t>(begin - base), static_cast<uint32_t>(end - base)};
  }
  void open_interpolation() {
    braces.push_back({depth, false});
    in_text = false;
  }
  void open_map() { braces.push_back({depth, true}); }
  // The meaning of a `}`: Junk if nothing is open.
  RawKind close_brace() {
    if (braces.empty()) return RawKind::Junk;
    Brace brace = braces.back();
    braces.pop_back();
    if (brace.map) return RawKind::CloseMap;
    depth = brace.depth;
    in_text = true;
    return RawKind::CloseInterpolation;
  }
  void begin_text(OpenText text) {
    texts.push_back(text);
    in_text = true;
  }
};

struct Scanned {
  RawKind kind;
  size_t length;
};

// Length of the name at the start of `text`, a run of ASCII word and non-ASCII bytes: up to the first
// character that is not a Unicode letter or digit, `_`, `.` or `-`.
size_t name_length(std::string_view text);

// At a digit or a non-ASCII byte: Number if it is a digit of any script, with all that belongs to it;
// otherwise Junk of one character.
Scanned scan_number(std::string_view rest);

// At a quote: Text, Random or BadRandom; TextBegin (one byte) if the string contains ${ }; Junk (one byte) if
// nothing closes it, because RADL then skips only the quote.
Scanned scan_text(ScanState& state, std::string_view rest);

// At a double quote of radl 2: Text if it has no ${ }, else TextBegin; Junk if nothing closes it.
Scanned scan_double_quoted(ScanState& state, std::string_view rest);

// After the mark of a text block: true if the rest of the line contains only brackets and commas.
bool may_follow_mark(std::string_view rest);

// At `<<` of radl 2: TextBegin up to the end of the line if a mark follows and a later line ends the text
// with that mark and what may follow it; otherwise Junk.
Scanned scan_block_text(ScanState& state, std::string_view rest);

// Inside a string with ${ }: TextPart, OpenInterpolation, TextEnd.
Scanned scan_text_part(ScanState& state, std::string_view rest);

// At "@begin": Recipe including @end, EmptyRecipe for @begin@end, OpenRecipe without @end.
Scanned scan_recipe(std::string_view rest);

class Scanner {
 public:
  // `as_template`: the text is the content of one string with ${ }, without quotes.
  explicit Scanner(std::string_view text, bool version2, bool as_template = false);
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // Repeats End after the last token.
  RawToken next();
  // Continues at `offset`, outside strings, in the mode after the last token, or with `depth` open
  // parentheses if that is not negative.
  void seek(uint32_t offset, int depth = -1);
  // For a text that is still being written: an unterminated text block extends to the end.
  void keep_blocks_open() { state_.blocks_may_be_open = true; }
  // Sets the number of open parentheses after the last token.
  void set_depth(int depth) { state_.depth = depth; }

 private:
  void go_to(uint32_t offset);  // grammar/radl.ll

  std::string buffer_;  // the text and two NULs; flex writes into it
  ScanState state_;
  void* flex_ = nullptr;
};

}  // namespace radl
