/* The scanner: bytes to raw tokens. It knows four modes and nothing of sentences; compiler/syntax/token_stream
 * filters its output (junk, comments, repairs) and hands tokens to the parser.
 *
 *   INITIAL  outside parentheses, RADL 1: brackets, comma and operators are junk there
 *   BODY     inside parentheses, RADL 1
 *   V2       the whole of a file that begins with `radl 2`
 *   TEXT     inside a radl 2 text that holds ${ }
 */
%{
// Helpers that touch flex's buffer are in compiler/syntax/scanner.cc; a rule returns one raw token.
#include "compiler/syntax/scanner.h"

#define YY_DECL radl::RawKind radl_scan_token(yyscan_t yyscanner)
using radl::RawKind;

// Moves the end of the token: backwards like yyless, and forwards, which is safe because the whole buffer is here.
#define SET_END(length) yyless(static_cast<int>(length))
// From the token to the end of the file. flex keeps a NUL behind the token; this puts the byte back first.
#define REST \
  (*yy_cp = yyg->yy_hold_char, std::string_view(yytext, static_cast<size_t>(yyextra->limit - yytext)))
#define RETURN_SCANNED(call)           \
  do {                                 \
    radl::Scanned scanned = call;      \
    SET_END(scanned.length);           \
    return scanned.kind;               \
  } while (0)
%}

%option reentrant noyywrap nodefault 8bit never-interactive nounput noinput noyyalloc noyyrealloc noyyfree
%option full
%option prefix="radl_scan_" extra-type="radl::ScanState*"

%x BODY V2 TEXT

DIGITS     [0-9]+
START      [A-Za-z_.]
WORD       [A-Za-z0-9_.-]
HIGH       [\x80-\xff]

%%

%{
  if (yyextra->mode_changed) {
    yyextra->mode_changed = false;
    BEGIN(yyextra->in_text ? TEXT : yyextra->version2 ? V2 : yyextra->depth > 0 ? BODY : INITIAL);
  }
%}

<V2>{
"=="              { return RawKind::EqEq; }
"!="              { return RawKind::NotEq; }
"+"               { return RawKind::Plus; }
"-"               { return RawKind::Minus; }
"*"               { return RawKind::Star; }
"/"               { return RawKind::Slash; }
"%"               { return RawKind::Percent; }
"}"               { return yyextra->close_interpolation() ? RawKind::CloseInterpolation : RawKind::Junk; }
"radl"            { return RawKind::Radl; }
"input"           { return RawKind::Input; }
"output"          { return RawKind::Output; }
"use"             { return RawKind::Use; }
"as"              { return RawKind::As; }
"after"           { return RawKind::After; }
"if"              { return RawKind::If; }
"then"            { return RawKind::Then; }
"else"            { return RawKind::Else; }
"or"              { return RawKind::Or; }
"not"             { return RawKind::Not; }
}

<INITIAL,BODY,V2>{
[ \t\n]+          /* blanks */
"#"[^\n]*         { return RawKind::Comment; }
{DIGITS}(\.[0-9]*)?  { return RawKind::Number; }
({DIGITS}(\.[0-9]*)?)?{HIGH}  { RETURN_SCANNED(radl::scan_number(REST)); }

"network"         { return RawKind::Network; }
"ansible"         { return RawKind::Ansible; }
"system"          { return RawKind::System; }
"soft"            { return RawKind::Soft; }
"and"             { return RawKind::And; }
"contains"        { return RawKind::Contains; }
"deploy"          { return RawKind::Deploy; }
"configure"       { return RawKind::Configure; }
"contextualize"   { return RawKind::Contextualize; }
"step"            { return RawKind::Step; }
"with"            { return RawKind::With; }
"option"          { return RawKind::Option; }
"description"     { return RawKind::Description; }
{START}{WORD}*    { return RawKind::Name; }
{START}({WORD}|{HIGH})*  { SET_END(radl::name_length({yytext, static_cast<size_t>(yyleng)})); return RawKind::Name; }

"("               { yyextra->open(); return RawKind::Open; }
")"               { yyextra->close(); return RawKind::Close; }
"'"               { RETURN_SCANNED(radl::scan_text(*yyextra, REST)); }
"@begin"          { RETURN_SCANNED(radl::scan_recipe(REST)); }
}

<BODY,V2>{
"["               { return RawKind::OpenList; }
"]"               { return RawKind::CloseList; }
","               { return RawKind::Comma; }
"="               { return RawKind::Eq; }
"<"               { return RawKind::Lt; }
">"               { return RawKind::Gt; }
"<="              { return RawKind::Le; }
">="              { return RawKind::Ge; }
}

<TEXT>{
"'"               { yyextra->leave_text(); return RawKind::TextEnd; }
"${"              { yyextra->open_interpolation(); return RawKind::OpenInterpolation; }
([^'\\$]|\\[^\n]|"$${"|"$"[^{'\\$])+  { return RawKind::TextPart; }
(.|\n)            { return RawKind::TextPart; }
}

<INITIAL,BODY,V2>(.|\n)  { return RawKind::Junk; }
<<EOF>>           { return RawKind::End; }

%%

void* radl_scan_alloc(yy_size_t size, yyscan_t) { return std::malloc(size); }
void* radl_scan_realloc(void* at, yy_size_t size, yyscan_t) { return std::realloc(at, size); }
void radl_scan_free(void* at, yyscan_t) { std::free(at); }

namespace radl {

Scanner::Scanner(std::string_view text, bool version2) : buffer_(text.size() + 2) {
  std::copy(text.begin(), text.end(), buffer_.begin());  // flex ends a buffer with two NULs and writes in it
  state_.version2 = version2;
  state_.mode_changed = true;
  state_.limit = buffer_.data() + text.size();
  if (radl_scan_lex_init_extra(&state_, &flex_) != 0) throw std::bad_alloc();
  if (radl_scan__scan_buffer(buffer_.data(), buffer_.size(), flex_) == nullptr) throw std::bad_alloc();
}

Scanner::~Scanner() { radl_scan_lex_destroy(flex_); }

RawToken Scanner::next() {
  RawKind kind = radl_scan_token(flex_);
  if (kind == RawKind::End) {
    uint32_t end = static_cast<uint32_t>(state_.limit - buffer_.data());
    return {kind, end, end};
  }
  uint32_t begin = static_cast<uint32_t>(radl_scan_get_text(flex_) - buffer_.data());
  return {kind, begin, begin + static_cast<uint32_t>(radl_scan_get_leng(flex_))};
}

void Scanner::seek(uint32_t offset, int depth) {
  auto* yyg = static_cast<struct yyguts_t*>(flex_);
  *yyg->yy_c_buf_p = yyg->yy_hold_char;
  yyg->yy_c_buf_p = buffer_.data() + offset;
  yyg->yy_hold_char = *yyg->yy_c_buf_p;
  if (depth >= 0) {
    state_.interpolations.clear();
    state_.dead_quotes = nullptr;
    state_.in_text = false;
    set_depth(depth);
  }
}

void Scanner::set_depth(int depth) {
  state_.depth = depth;
  state_.mode_changed = true;
}

}  // namespace radl
