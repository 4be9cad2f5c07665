// What the generated scanner (grammar/radl.ll) and the token stream share: raw tokens and the scanner's
// state.
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
// A word that means something to the scanner.
inline bool is_word_token(RawKind kind) {
  return (kind >= RawKind::Network && kind <= RawKind::Description) ||
         (kind >= RawKind::Radl && kind <= RawKind::Not);
}

struct RawToken {
  RawKind kind;
  uint32_t begin, end;
};

// A string of radl 2 that holds ${ }, as far as it has been read.
struct OpenText {
  enum class Kind : uint8_t { Single, Double, Block, RawBlock, Template } kind;
  const char* end = nullptr;  // of a block: where its last line begins, which names its mark
  size_t closing = 1;         // bytes of what ends it
};

struct ScanState {
  bool version2 = false;
  bool in_text = false;
  int depth = 0;  // parentheses
  struct Brace {
    int depth;  // of parentheses where it was opened
    bool map;   // else: ${
  };
  std::vector<Brace> braces;
  std::vector<OpenText> texts;
  const char* base = nullptr;         // the bytes
  const char* limit = nullptr;        // their end
  bool blocks_may_be_open = false;    // a block of text that nothing ends goes on to the end
  const char* dead_quotes = nullptr;  // quotes before this place begin no text: nothing closes them

  RawToken token(RawKind kind, const char* begin, const char* end) const {
    return {kind, static_cast<uint32_t>(begin - base), static_cast<uint32_t>(end - base)};
  }
  void open_interpolation() {
    braces.push_back({depth, false});
    in_text = false;
  }
  void open_map() { braces.push_back({depth, true}); }
  // What a `}` is: Junk when nothing is open.
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

// Bytes of `text`, a run of ASCII word and non-ASCII bytes, that belong to a name: it ends before the first
// character that is neither letter, digit, `_`, `.` nor `-` in Unicode.
size_t name_length(std::string_view text);

// At a digit or a byte that is not ASCII: Number when a digit of some script is there, with all that belongs
// to it; else Junk, one character.
Scanned scan_number(std::string_view rest);

// At a quote. Text, Random or BadRandom; TextBegin (one byte) when it holds ${ }; Junk (one byte) when
// nothing closes it: RADL then skips the quote alone.
Scanned scan_text(ScanState& state, std::string_view rest);

// At a double quote of radl 2: Text when nothing is to be put in; TextBegin; Junk when nothing closes it.
Scanned scan_double_quoted(ScanState& state, std::string_view rest);

// Behind the mark of a block of text: whether its line holds nothing more than brackets and commas.
bool may_follow_mark(std::string_view rest);

// At `<<` of radl 2: TextBegin up to the end of the line when a mark follows and a line that ends the text,
// with the mark and what may follow it; Junk otherwise.
Scanned scan_block_text(ScanState& state, std::string_view rest);

// Inside a string with ${ }: TextPart, OpenInterpolation, TextEnd.
Scanned scan_text_part(ScanState& state, std::string_view rest);

// At "@begin": Recipe up to and with @end, EmptyRecipe for @begin@end, OpenRecipe (to the end) without @end.
Scanned scan_recipe(std::string_view rest);

class Scanner {
 public:
  // `as_template`: the text is that of one string with ${ }, without quotes.
  explicit Scanner(std::string_view text, bool version2, bool as_template = false);
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // End for ever after the last one.
  RawToken next();
  // Goes on from there, outside strings, in the mode in which the last token left it; or, when `depth` is not
  // negative, with that many parentheses open.
  void seek(uint32_t offset, int depth = -1);
  // The text is still being written: a block of text without its last line reaches to the end.
  void keep_blocks_open() { state_.blocks_may_be_open = true; }
  // From behind the last token on, so many parentheses are open.
  void set_depth(int depth) { state_.depth = depth; }

 private:
  void go_to(uint32_t offset);  // grammar/radl.ll

  std::string buffer_;  // the text and two NULs: flex writes in it
  ScanState state_;
  void* flex_ = nullptr;
};

}  // namespace radl
