// The tokens that most bytes of RADL 1 are in: words, numbers and operators of ASCII, strings, comments and
// recipes. They are what the rules of grammar/radl.ll make of them; where these have more to say (other
// bytes, what is skipped, the end), nothing is read here and the generated scanner goes on. It looks up a
// table for each byte, which is half of a large file's scanning; a test compares the two on every file there
// is.
#include <algorithm>
#include <array>

#include "compiler/syntax/scanner.h"

namespace radl {
namespace {

enum Class : uint8_t {
  kOther,
  kBlank,
  kLetter,
  kDigit,
  kInName
};  // kInName: goes on with a name, begins none

constexpr std::array<Class, 256> kClasses = [] {
  std::array<Class, 256> classes{};
  for (char c : {' ', '\t', '\n'}) classes[static_cast<unsigned char>(c)] = kBlank;
  for (int c = 'a'; c <= 'z'; ++c)
    classes[static_cast<size_t>(c)] = classes[static_cast<size_t>(c - 32)] = kLetter;
  classes['_'] = classes['.'] = kLetter;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] = kDigit;
  classes['-'] = kInName;
  return classes;
}();

Class class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool high(char c) { return static_cast<unsigned char>(c) >= 0x80; }

RawKind word_kind(std::string_view word) {
  switch (word.size()) {
    case 3:
      return word == "and" ? RawKind::And : RawKind::Name;
    case 4:
      return word == "soft"   ? RawKind::Soft
             : word == "step" ? RawKind::Step
             : word == "with" ? RawKind::With
                              : RawKind::Name;
    case 6:
      return word == "system"   ? RawKind::System
             : word == "deploy" ? RawKind::Deploy
             : word == "option" ? RawKind::Option
                                : RawKind::Name;
    case 7:
      return word == "network" ? RawKind::Network : word == "ansible" ? RawKind::Ansible : RawKind::Name;
    case 8:
      return word == "contains" ? RawKind::Contains : RawKind::Name;
    case 9:
      return word == "configure" ? RawKind::Configure : RawKind::Name;
    case 11:
      return word == "description" ? RawKind::Description : RawKind::Name;
    case 13:
      return word == "contextualize" ? RawKind::Contextualize : RawKind::Name;
    default:
      return RawKind::Name;
  }
}

const char* end_of_number(const char* at) {
  while (class_of(*at) == kDigit) ++at;
  if (*at == '.')
    for (++at; class_of(*at) == kDigit;) ++at;
  return at;
}

// Of what begins neither a word nor a number; length 0: the rules decide.
Scanned scan_mark(ScanState& state, const char* at) {
  std::string_view rest(at, static_cast<size_t>(state.limit - at));
  auto inside = [&](RawKind kind, size_t length) {
    return state.depth > 0 ? Scanned{kind, length} : Scanned{kind, 0};
  };
  switch (*at) {
    case '\'': {
      Scanned text = scan_text(state, rest);
      return text.kind == RawKind::Junk ? Scanned{text.kind, 0} : text;
    }
    case '(':
      state.open();
      return {RawKind::Open, 1};
    case ')':
      state.close();
      return {RawKind::Close, 1};
    case '#':
      return {RawKind::Comment, std::min(rest.find('\n'), rest.size())};
    case '@':
      return rest.starts_with("@begin") ? scan_recipe(rest) : Scanned{RawKind::Junk, 0};
    case '=':
      return inside(RawKind::Eq, 1);
    case '<':
      return at[1] == '=' ? inside(RawKind::Le, 2) : inside(RawKind::Lt, 1);
    case '>':
      return at[1] == '=' ? inside(RawKind::Ge, 2) : inside(RawKind::Gt, 1);
    case ',':
      return inside(RawKind::Comma, 1);
    case '[':
      return inside(RawKind::OpenList, 1);
    case ']':
      return inside(RawKind::CloseList, 1);
    default:
      return {RawKind::Junk, 0};
  }
}

}  // namespace

const char* scan_plain(ScanState& state, const char* at) {
  while (state.out != state.out_end) {
    while (class_of(*at) == kBlank && at != state.limit) ++at;
    if (at == state.limit) return at;
    Scanned found{RawKind::Name, 0};
    const char* end = at;
    switch (class_of(*at)) {
      case kLetter:
        do ++end;
        while (class_of(*end) >= kLetter);
        if (!high(*end))
          found = {word_kind({at, static_cast<size_t>(end - at)}), static_cast<size_t>(end - at)};
        break;
      case kDigit:
        end = end_of_number(at);
        if (!high(*end)) found = {RawKind::Number, static_cast<size_t>(end - at)};
        break;
      default:
        found = scan_mark(state, at);
        break;
    }
    if (found.length == 0) return at;
    state.put(found.kind, at, at + found.length);
    at += found.length;
  }
  return at;
}

}  // namespace radl
