// What a word of `radl 2` is where it stands. No word is reserved: each means something in one place only.
#include <algorithm>
#include <array>

#include "compiler/syntax/builder.h"
#include "compiler/syntax/radl2_tokens.h"

namespace radl {
namespace {

struct Word {
  std::string_view text;
  int symbol;
};

constexpr std::array<Word, 16> kBlocks = {{{"radl", RADL2_RADL},
                                           {"description", RADL2_DESCRIPTION},
                                           {"network", RADL2_NETWORK},
                                           {"system", RADL2_SYSTEM},
                                           {"ansible", RADL2_ANSIBLE},
                                           {"input", RADL2_INPUT},
                                           {"output", RADL2_OUTPUT},
                                           {"let", RADL2_LET},
                                           {"assert", RADL2_ASSERT},
                                           {"moved", RADL2_MOVED},
                                           {"use", RADL2_USE},
                                           {"each", RADL2_EACH},
                                           {"configure", RADL2_CONFIGURE},
                                           {"deploy", RADL2_DEPLOY},
                                           {"contextualize", RADL2_CONTEXTUALIZE},
                                           {"option", 0}}};

constexpr std::array<Word, 7> kValues = {{{"if", RADL2_IF},
                                          {"then", RADL2_THEN},
                                          {"else", RADL2_ELSE},
                                          {"for", RADL2_FOR},
                                          {"in", RADL2_IN},
                                          {"or", RADL2_OR},
                                          {"not", RADL2_NOT}}};

template <size_t n>
int find(const std::array<Word, n>& words, std::string_view text) {
  for (const Word& word : words)
    if (word.text == text) return word.symbol;
  return 0;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

bool Radl2Tokens::unit_follows(const Token& token) const {
  if (last_ != RADL2_NUMBER || token.new_line) return false;
  std::string_view word = text(token);
  if (!std::all_of(word.begin(), word.end(), is_letter)) return false;
  if (find(kValues, word) != 0) return false;
  return token.glued || is_unit(word);
}

Radl2Tokens::Symbol Radl2Tokens::word(const Token& token) {
  // x[0].ip: the scanner takes `.ip` for a name.
  bool member = bytes_[token.span.begin] == '.' && token.glued &&
                (last_ == RADL2_RBRACKET || last_ == RADL2_RPAREN || last_ == RADL2_RBRACE);
  if (member) {
    ++level().words;
    return RADL2_MEMBER;
  }
  switch (level().inside) {
    case Inside::Blocks:
      return word_of_blocks(token);
    case Inside::Features:
      return word_of_features(token);
    case Inside::Items:
      return word_of_items(token);
    case Inside::Resources: {
      bool each = level().words == 0 && text(token) == "each" && text(peek(1)) != "(" &&
                  (text(peek(1)) == "in" || peek(1).kind == RawKind::Comma);
      if (each) {
        level().keyword = RADL2_EACH;
        ++level().words;
        return RADL2_EACH;
      }
      break;
    }
    default:
      break;
  }
  if (level().words == 0 && level().inside == Inside::Map && peek().kind == RawKind::Eq) {
    ++level().words;
    return RADL2_NAME;
  }
  return word_of_value(token);
}

Radl2Tokens::Symbol Radl2Tokens::name_or_call() {
  bool open = peek().kind == RawKind::Open;
  if (peek().new_line && level().inside == Inside::Map) open = false;  // the key of the next entry
  bool header = level().keyword == RADL2_EACH && level().inside != Inside::Expression;
  bool resource = level().inside == Inside::Resources && level().words == 1;
  bool call = open && (peek().glued ? value_position() || resource : value_position() && !header);
  ++level().words;
  return call ? RADL2_CALL : RADL2_NAME;
}

Radl2Tokens::Symbol Radl2Tokens::word_of_value(const Token& token) {
  if (unit_follows(token)) {
    ++level().words;
    return RADL2_UNIT;
  }
  std::string_view word = text(token);
  bool named = level().inside == Inside::Expression && peek().kind == RawKind::Eq;  // f(if = 1)
  level().named = level().named || named;
  if (int symbol = named ? 0 : find(kValues, word); symbol != 0) {
    ++level().words;
    if (symbol == RADL2_IN) level().compared = true;
    return symbol;
  }
  return name_or_call();
}

// A block begins behind another one on the same line: `deploy a 1 system b ()`.
bool Radl2Tokens::block_on_this_line(const Token& token) {
  if (level().words < 2 || !value_complete()) return false;
  int symbol = find(kBlocks, text(token));
  if (symbol == 0 || symbol == RADL2_EACH || symbol == RADL2_RADL) return false;
  RawKind behind = peek().kind;
  if (symbol == RADL2_CONTEXTUALIZE || symbol == RADL2_ASSERT || symbol == RADL2_MOVED)
    return behind == RawKind::Open;
  return behind == RawKind::Name || behind == RawKind::Text;
}

Radl2Tokens::Symbol Radl2Tokens::word_of_blocks(const Token& token) {
  Level& at = level();
  std::string_view word = text(token);
  bool begins = at.words == 0 || block_on_this_line(token);
  if (begins) {
    end_entry();
    at.words = 1;
    int symbol = find(kBlocks, word);
    if (symbol == 0) return RADL2_NAME;
    at.keyword = symbol;
    return symbol;
  }
  bool id = at.words == 1 && at.keyword != RADL2_USE && at.keyword != RADL2_CONTEXTUALIZE;
  if (id || last_ == RADL2_AS) {
    ++at.words;
    return RADL2_NAME;
  }
  if (word == "as" && at.keyword == RADL2_USE) {
    ++at.words;
    return RADL2_AS;
  }
  if (word == "when" && peek().kind == RawKind::Eq) {
    ++at.words;
    return RADL2_WHEN;
  }
  return word_of_value(token);
}

Radl2Tokens::Symbol Radl2Tokens::word_of_features(const Token& token) {
  Level& at = level();
  if (at.words == 0) {
    at.words = 1;
    if (token.kind == RawKind::Soft && peek().kind == RawKind::Number) {
      at.keyword = RADL2_SOFT;
      return RADL2_SOFT;
    }
    return RADL2_NAME;
  }
  if (!at.compared && token.kind == RawKind::Contains) {
    ++at.words;
    return RADL2_CONTAINS;
  }
  if (!at.compared) {
    ++at.words;
    return RADL2_NAME;
  }
  // `cpu.count = 2 memory.size = 1G`: the second is no unit and no part of the value.
  if (feature_follows_here(token)) {
    out_.push_back({RADL2_NAME, token});
    end_entry();
    at.words = 1;
    return RADL2_SEP;
  }
  return word_of_value(token);
}

Radl2Tokens::Symbol Radl2Tokens::word_of_items(const Token& token) {
  Level& at = level();
  std::string_view word = text(token);
  // Two operands beside each other are never right: a complete value ends the entry before.
  bool behind = at.words >= 3 && value_complete();
  bool begins = at.words == 0 || (behind && word == "system");
  if (behind && word == "option") {
    end_entry();
    at.words = 1;
    at.keyword = RADL2_OPTION;
    out_.push_back({RADL2_OPTION, token});
    return RADL2_SEP;
  }
  if (begins) {
    end_entry();
    at.words = 1;
    int symbol = word == "system"   ? static_cast<int>(RADL2_SYSTEM)
                 : word == "option" ? static_cast<int>(RADL2_OPTION)
                 : word == "each"   ? static_cast<int>(RADL2_EACH)
                                    : static_cast<int>(RADL2_NAME);
    at.keyword = symbol;
    return symbol;
  }
  bool id = last_ == RADL2_SYSTEM || last_ == RADL2_CONFIGURE || last_ == RADL2_WITH ||
            last_ == RADL2_AFTER || last_ == RADL2_OPTION || last_ == RADL2_EACH ||
            (last_ == RADL2_COMMA && at.after);
  ++at.words;
  if (id) return RADL2_NAME;
  --at.words;
  struct Tail {
    std::string_view word;
    int symbol;
  };
  constexpr Tail kTails[] = {{"configure", RADL2_CONFIGURE},
                             {"step", RADL2_STEP},
                             {"with", RADL2_WITH},
                             {"after", RADL2_AFTER},
                             {"when", RADL2_WHEN}};
  if (at.keyword == RADL2_SYSTEM) {
    for (const Tail& tail : kTails) {
      if (word != tail.word || (tail.symbol == RADL2_WHEN && peek().kind != RawKind::Eq)) continue;
      ++at.words;
      at.compared = tail.symbol == RADL2_STEP;
      at.after = tail.symbol == RADL2_AFTER;
      return tail.symbol;
    }
  }
  return word_of_value(token);
}

}  // namespace radl
