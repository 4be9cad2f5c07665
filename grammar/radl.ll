/* The scanner: bytes to raw tokens. It knows four modes and nothing of blocks; compiler/syntax/token_stream
 * filters its output (junk, comments, repairs) and hands tokens to the parser.
 *
 *   INITIAL  outside parentheses, RADL 1: brackets, comma and operators are junk there
 *   BODY     inside parentheses, RADL 1
 *   V2       the whole of a file that begins with `radl 2`
 *   TEXT     inside a radl 2 string that holds ${ }, or a block of text
 */
%{
// Helpers that touch flex's buffer are in compiler/syntax/scanner.cc. One call fills a batch of raw tokens: the
// rules go on from token to token without leaving the scanner's loop.
#include "compiler/syntax/scanner.h"

#define YY_DECL void radl_scan_tokens(yyscan_t yyscanner)
using radl::RawKind;

// The token ends at `to`: goes on behind the spaces that follow it. flex keeps a NUL behind the token; before this, the
// byte that belongs there must be back (PUT_BACK).
#define PUT_BACK (*yy_cp = yyg->yy_hold_char)
#define ENDS_AT(kind, to)                                        \
  do {                                                           \
    char* next = (to);                                           \
    bool full = yyextra->put(kind, yy_bp, next);                 \
    while (*next == ' ' || *next == '\n' || *next == '\t') ++next; \
    yyg->yy_c_buf_p = next;                                      \
    yyg->yy_hold_char = *next;                                   \
    if (full) return;                                            \
  } while (0)
#define TOKEN(kind)         \
  do {                      \
    PUT_BACK;               \
    ENDS_AT(kind, yy_cp);   \
  } while (0)
// What `call` finds in the bytes from the token to the end of the file.
#define SCANNED(call)                                                                         \
  do {                                                                                        \
    PUT_BACK;                                                                                 \
    std::string_view rest(yy_bp, static_cast<size_t>(yyextra->limit - yy_bp));                \
    radl::Scanned scanned = call;                                                             \
    ENDS_AT(scanned.kind, yy_bp + scanned.length);                                            \
  } while (0)
// The same without a look at the spaces behind it: a string's inside has spaces of its own.
#define STAY_AT(kind, to)                                        \
  do {                                                           \
    char* next = (to);                                           \
    bool full = yyextra->put(kind, yy_bp, next);                 \
    yyg->yy_c_buf_p = next;                                      \
    yyg->yy_hold_char = *next;                                   \
    if (full) return;                                            \
  } while (0)
// A whole string, or the beginning of one with ${ }.
#define BEGIN_TEXT(call)                                                                      \
  do {                                                                                        \
    PUT_BACK;                                                                                 \
    std::string_view rest(yy_bp, static_cast<size_t>(yyextra->limit - yy_bp));                \
    radl::Scanned scanned = call;                                                             \
    if (scanned.kind == RawKind::TextBegin) {                                                 \
      BEGIN(TEXT);                                                                            \
      STAY_AT(scanned.kind, yy_bp + scanned.length);                                          \
    } else {                                                                                  \
      ENDS_AT(scanned.kind, yy_bp + scanned.length);                                          \
    }                                                                                         \
  } while (0)
// A string's inside has spaces of its own.
#define TEXT_TOKEN(kind)                                     \
  do {                                                       \
    if (yyextra->put(kind, yy_bp, yy_cp)) return;            \
  } while (0)
%}

%{
static int radl_scan_mode(const radl::ScanState& state);
%}

%option reentrant noyywrap nodefault 8bit never-interactive nounput noinput noyyalloc noyyrealloc noyyfree
%option full ecs
%option prefix="radl_scan_" extra-type="radl::ScanState*"

%x BODY V2 TEXT

DIGITS     [0-9]+
START      [A-Za-z_.]
WORD       [A-Za-z0-9_.-]
HIGH       [\x80-\xff]

%%

<V2>{
"=="              { TOKEN(RawKind::EqEq); }
"!="              { TOKEN(RawKind::NotEq); }
"+"               { TOKEN(RawKind::Plus); }
"-"               { TOKEN(RawKind::Minus); }
"*"               { TOKEN(RawKind::Star); }
"/"               { TOKEN(RawKind::Slash); }
"%"               { TOKEN(RawKind::Percent); }
"{"               { yyextra->open_map(); TOKEN(RawKind::OpenMap); }
"}"               {
                    RawKind closed = yyextra->close_brace();
                    BEGIN(radl_scan_mode(*yyextra));
                    if (closed == RawKind::CloseInterpolation)
                      TEXT_TOKEN(RawKind::CloseInterpolation);
                    else
                      TOKEN(closed);
                  }
"\""              { BEGIN_TEXT(radl::scan_double_quoted(*yyextra, rest)); }
"<<"              { BEGIN_TEXT(radl::scan_block_text(*yyextra, rest)); }
"radl"            { TOKEN(RawKind::Radl); }
"input"           { TOKEN(RawKind::Input); }
"output"          { TOKEN(RawKind::Output); }
"use"             { TOKEN(RawKind::Use); }
"as"              { TOKEN(RawKind::As); }
"after"           { TOKEN(RawKind::After); }
"if"              { TOKEN(RawKind::If); }
"then"            { TOKEN(RawKind::Then); }
"else"            { TOKEN(RawKind::Else); }
"or"              { TOKEN(RawKind::Or); }
"not"             { TOKEN(RawKind::Not); }
}

<INITIAL,BODY,V2>{
[ \t\n]+          /* blanks */
"#"[^\n]*         { TOKEN(RawKind::Comment); }
{DIGITS}(\.[0-9]*)?  { TOKEN(RawKind::Number); }
({DIGITS}(\.[0-9]*)?)?{HIGH}  { SCANNED(radl::scan_number(rest)); }

"network"         { TOKEN(RawKind::Network); }
"ansible"         { TOKEN(RawKind::Ansible); }
"system"          { TOKEN(RawKind::System); }
"soft"            { TOKEN(RawKind::Soft); }
"and"             { TOKEN(RawKind::And); }
"contains"        { TOKEN(RawKind::Contains); }
"deploy"          { TOKEN(RawKind::Deploy); }
"configure"       { TOKEN(RawKind::Configure); }
"contextualize"   { TOKEN(RawKind::Contextualize); }
"step"            { TOKEN(RawKind::Step); }
"with"            { TOKEN(RawKind::With); }
"option"          { TOKEN(RawKind::Option); }
"description"     { TOKEN(RawKind::Description); }
{START}{WORD}*    { TOKEN(RawKind::Name); }
{START}({WORD}|{HIGH})*  {
                    PUT_BACK;
                    std::string_view word(yy_bp, static_cast<size_t>(yyleng));
                    ENDS_AT(RawKind::Name, yy_bp + radl::name_length(word));
                  }

"("               { if (yyextra->open()) BEGIN(radl_scan_mode(*yyextra)); TOKEN(RawKind::Open); }
")"               { if (yyextra->close()) BEGIN(radl_scan_mode(*yyextra)); TOKEN(RawKind::Close); }
"'"               { BEGIN_TEXT(radl::scan_text(*yyextra, rest)); }
"@begin"          { SCANNED(radl::scan_recipe(rest)); }
}

<BODY,V2>{
"["               { TOKEN(RawKind::OpenList); }
"]"               { TOKEN(RawKind::CloseList); }
","               { TOKEN(RawKind::Comma); }
"="               { TOKEN(RawKind::Eq); }
"<"               { TOKEN(RawKind::Lt); }
">"               { TOKEN(RawKind::Gt); }
"<="              { TOKEN(RawKind::Le); }
">="              { TOKEN(RawKind::Ge); }
}

<TEXT>(.|\n)        {
                    PUT_BACK;
                    std::string_view rest(yy_bp, static_cast<size_t>(yyextra->limit - yy_bp));
                    radl::Scanned scanned = radl::scan_text_part(*yyextra, rest);
                    BEGIN(radl_scan_mode(*yyextra));
                    STAY_AT(scanned.kind, yy_bp + scanned.length);
                  }

<INITIAL,BODY,V2>(.|\n)  { TOKEN(RawKind::Junk); }
<<EOF>>           { yyextra->put(RawKind::End, yyextra->limit, yyextra->limit); return; }

%%

void* radl_scan_alloc(yy_size_t size, yyscan_t) { return std::malloc(size); }
void* radl_scan_realloc(void* at, yy_size_t size, yyscan_t) { return std::realloc(at, size); }
void radl_scan_free(void* at, yyscan_t) { std::free(at); }

static int radl_scan_mode(const radl::ScanState& state) {
  return state.in_text ? TEXT : state.version2 ? V2 : state.depth > 0 ? BODY : INITIAL;
}

namespace radl {

Scanner::Scanner(std::string_view text, bool version2, uint32_t from, bool as_template, bool by_rules)
    : by_rules_(by_rules || version2) {
  state_.version2 = version2;
  state_.out = tokens_;
  state_.base = place_ = text.data() + from;
  state_.from = from;
  state_.limit = text.data() + text.size();
  if (as_template) state_.begin_text({OpenText::Kind::Template});
}

Scanner::~Scanner() {
  if (flex_) radl_scan_lex_destroy(flex_);
}

// The rules need a buffer that they can write in, with two NULs at its end: made when the first token needs them, which in
// most files of RADL 1 none does.
void Scanner::begin_rules() {
  const char* base = state_.base;
  size_t size = static_cast<size_t>(state_.limit - base);
  buffer_ = allocate_block(size + 2);
  std::memcpy(buffer_.get(), base, size);
  buffer_[size] = buffer_[size + 1] = '\0';
  for (ScanState* state : {&state_, &before_}) {
    if (state->dead_quotes) state->dead_quotes = buffer_.get() + (state->dead_quotes - base);
    state->base = buffer_.get();
    state->limit = buffer_.get() + size;
  }
  place_ = buffer_.get() + (place_ - base);
  if (radl_scan_lex_init_extra(&state_, &flex_) != 0) throw std::bad_alloc();
  if (radl_scan__scan_buffer(buffer_.get(), size + 2, flex_) == nullptr) throw std::bad_alloc();
  static_cast<struct yyguts_t*>(flex_)->yy_init = 1;  // done: the first call would go back to the begin of the buffer
}

// Tokens by the rules, from place_ on. flex keeps a NUL in place of the byte behind a token.
void Scanner::apply_rules() {
  if (!flex_) begin_rules();
  auto* yyg = static_cast<struct yyguts_t*>(flex_);
  yyg->yy_c_buf_p = buffer_.get() + (place_ - state_.base);
  yyg->yy_hold_char = *yyg->yy_c_buf_p;
  BEGIN(radl_scan_mode(state_));
  radl_scan_tokens(flex_);
  *yyg->yy_c_buf_p = yyg->yy_hold_char;
  place_ = yyg->yy_c_buf_p;
}

void Scanner::fill(size_t most) {
  before_ = state_;
  before_offset_ = state_.from + static_cast<uint32_t>(place_ - state_.base);
  state_.out = at_ = tokens_;
  state_.out_end = tokens_ + most;
  if (by_rules_) return apply_rules();
  for (;;) {
    place_ = scan_plain(state_, place_);
    if (state_.out == tokens_ + most) return;
    if (place_ == state_.limit) {
      state_.put(RawKind::End, place_, place_);
      return;
    }
    state_.out_end = state_.out + 1;  // one token by the rules
    apply_rules();
    state_.out_end = tokens_ + most;
    RawKind last = state_.out[-1].kind;
    if (last == RawKind::End || last == RawKind::Junk || state_.out == state_.out_end) return;
  }
}

}  // namespace radl
