// What a word of `radl 2` is where it stands. The words that begin a block, a resource or an item are
// reserved where one may begin; elsewhere each means something in one place only.
#include <algorithm>

#include "compiler/syntax/builder.h"
#include "compiler/syntax/radl2_tokens.h"
#include "compiler/syntax/words.h"

namespace radl {
namespace {

// A word that means something within a value; 0 for any other.
int word_within_value(std::string_view text) {
  const GrammarWord* word = find_word(radl2_words(), text);
  const int token = word == nullptr ? 0 : word->token;
  return is_among<int>(token, {RADL2_IF, RADL2_THEN, RADL2_ELSE, RADL2_FOR, RADL2_IN, RADL2_OR, RADL2_NOT})
             ? token
             : 0;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

bool Radl2Tokens::unit_follows(const Token& token) const {
  if (last_ != RADL2_NUMBER || token.new_line) return false;
  std::string_view word = text(token);
  if (!std::all_of(word.begin(), word.end(), is_letter)) return false;
  if (word_within_value(word) != 0) return false;
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
      if (level().words == 0 && (text(token) == "each" || text(token) == "let")) {
        level().keyword = text(token) == "each" ? RADL2_EACH : RADL2_LET;
        ++level().words;
        return level().keyword;
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
  if (int symbol = named ? 0 : word_within_value(word); symbol != 0) {
    ++level().words;
    if (symbol == RADL2_IN) level().compared = true;
    return symbol;
  }
  return name_or_call();
}

Radl2Tokens::Symbol Radl2Tokens::word_of_blocks(const Token& token) {
  Level& at = level();
  std::string_view word = text(token);
  const bool id =
      last_ == RADL2_AS || (at.words == 1 && at.keyword != RADL2_USE && at.keyword != RADL2_CONTEXTUALIZE);
  if (id) {
    ++at.words;
    return RADL2_NAME;
  }
  // `system['a']` is a value.
  const GrammarWord* known = peek().kind == RawKind::OpenList ? nullptr : find_word(radl2_words(), word);
  const int symbol = known != nullptr && known->begins_block ? known->token : 0;
  if (at.words == 0 || (symbol != 0 && value_complete())) {
    end_entry();
    at.words = 1;
    at.keyword = symbol;
    return symbol != 0 ? symbol : RADL2_NAME;
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
    if (text(token) == "each" && is_word(peek().kind) && !peek().new_line) {
      at.keyword = RADL2_EACH;
      return RADL2_EACH;
    }
    if (text(token) == "let" && is_word(peek().kind) && peek(1).kind == RawKind::Eq) {
      at.keyword = RADL2_LET;
      return RADL2_LET;
    }
    if (token.kind == RawKind::Soft && peek().kind == RawKind::Number) {
      at.keyword = RADL2_SOFT;
      return RADL2_SOFT;
    }
    return RADL2_NAME;
  }
  if (at.keyword == RADL2_EACH) {
    if (at.compared || (at.words > 1 && text(token) == "in")) return word_of_value(token);
    ++at.words;
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
                 : word == "let"    ? static_cast<int>(RADL2_LET)
                                    : static_cast<int>(RADL2_NAME);
    at.keyword = symbol;
    return symbol;
  }
  bool id = last_ == RADL2_SYSTEM || last_ == RADL2_CONFIGURE || last_ == RADL2_WITH ||
            last_ == RADL2_AFTER || last_ == RADL2_OPTION || last_ == RADL2_EACH || last_ == RADL2_LET ||
            (last_ == RADL2_COMMA && at.after);
  ++at.words;
  if (id) return RADL2_NAME;
  --at.words;
  if (at.keyword == RADL2_SYSTEM) {
    const GrammarWord* known = find_word(radl2_words(), word);
    switch (const int symbol = known == nullptr ? 0 : known->token; symbol) {
      case RADL2_WHEN:
        if (peek().kind != RawKind::Eq) break;
        [[fallthrough]];
      case RADL2_CONFIGURE:
      case RADL2_STEP:
      case RADL2_WITH:
      case RADL2_AFTER:
        ++at.words;
        at.compared = symbol == RADL2_STEP;
        at.after = symbol == RADL2_AFTER;
        return symbol;
      default:
        break;
    }
  }
  return word_of_value(token);
}

}  // namespace radl
