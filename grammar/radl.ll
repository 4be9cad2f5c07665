/* The scanner: bytes to raw tokens. It knows four modes and nothing of blocks; compiler/syntax/token_stream
 * filters its output (junk, comments, repairs) and hands tokens to the parser.
 *
 *   INITIAL  outside parentheses, RADL 1: brackets, comma and operators are junk there
 *   BODY     inside parentheses, RADL 1
 *   V2       the whole of a file that begins with `radl 2`
 *   TEXT     inside a radl 2 string that holds ${ }, or a block of text
 */
%{
// What needs more than a rule is in compiler/syntax/scanner.cc.
#include "compiler/syntax/scanner.h"

#include <new>

#define YY_DECL radl::RawToken radl_scan_token(yyscan_t yyscanner)
using radl::RawKind;

#define TOKEN(kind) return yyextra->token(kind, yytext, yytext + yyleng)
// The bytes from the token to the end of the file. flex keeps a NUL in place of the byte behind a token: it is put back.
#define REST (*yyg->yy_c_buf_p = yyg->yy_hold_char, std::string_view(yytext, static_cast<size_t>(yyextra->limit - yytext)))
// A token of another length than the rule's.
#define SCANNED(scanned)                                          \
  do {                                                            \
    const radl::Scanned found = (scanned);                        \
    yyg->yy_c_buf_p = yytext + found.length;                      \
    yyg->yy_hold_char = *yyg->yy_c_buf_p;                         \
    return yyextra->token(found.kind, yytext, yytext + found.length); \
  } while (0)

static int radl_scan_mode(const radl::ScanState& state);
%}

%option reentrant noyywrap nodefault 8bit never-interactive nounput noinput
%option full ecs
%option prefix="radl_scan_" extra-type="radl::ScanState*"

%x BODY V2 TEXT

DIGITS     [0-9]+
START      [A-Za-z_.]
WORD       [A-Za-z0-9_.-]
HIGH       [\x80-\xff]

%%

%{
  BEGIN(radl_scan_mode(*yyextra));
%}

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
                    TOKEN(yyextra->close_brace());
                  }
"\""              { SCANNED(radl::scan_double_quoted(*yyextra, REST)); }
"<<"              { SCANNED(radl::scan_block_text(*yyextra, REST)); }
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
({DIGITS}(\.[0-9]*)?)?{HIGH}  { SCANNED(radl::scan_number(REST)); }

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
                    std::string_view word(yytext, static_cast<size_t>(yyleng));
                    (void)REST;
                    SCANNED((radl::Scanned{RawKind::Name, radl::name_length(word)}));
                  }

"("               { ++yyextra->depth; TOKEN(RawKind::Open); }
")"               { yyextra->depth -= yyextra->depth > 0; TOKEN(RawKind::Close); }
"'"               { SCANNED(radl::scan_text(*yyextra, REST)); }
"@begin"          { SCANNED(radl::scan_recipe(REST)); }
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

<TEXT>(.|\n)        { SCANNED(radl::scan_text_part(*yyextra, REST)); }

<INITIAL,BODY,V2>(.|\n)  { TOKEN(RawKind::Junk); }
<<EOF>>           { return yyextra->token(RawKind::End, yyextra->limit, yyextra->limit); }

%%

static int radl_scan_mode(const radl::ScanState& state) {
  return state.in_text ? TEXT : state.version2 ? V2 : state.depth > 0 ? BODY : INITIAL;
}

namespace radl {

Scanner::Scanner(std::string_view text, bool version2, bool as_template) : buffer_(text) {
  buffer_.append(2, '\0');
  state_.version2 = version2;
  state_.base = buffer_.data();
  state_.limit = state_.base + text.size();
  if (as_template) state_.begin_text({OpenText::Kind::Template});
  if (radl_scan_lex_init_extra(&state_, &flex_) != 0 ||
      radl_scan__scan_buffer(buffer_.data(), buffer_.size(), flex_) == nullptr)
    throw std::bad_alloc();
}

Scanner::~Scanner() { radl_scan_lex_destroy(flex_); }

void Scanner::go_to(uint32_t offset) {
  auto* yyg = static_cast<struct yyguts_t*>(flex_);
  *yyg->yy_c_buf_p = yyg->yy_hold_char;
  yyg->yy_c_buf_p = buffer_.data() + offset;
  yyg->yy_hold_char = *yyg->yy_c_buf_p;
}

}  // namespace radl
