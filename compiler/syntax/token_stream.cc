#include "compiler/syntax/token_stream.h"

#include "common/shorten.h"
#include "compiler/syntax/builder.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/words.h"

namespace radl {
TokenStream::TokenStream(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics, Builder& build,
                         TextEnd* end)
    : TokenSource(source, tree, diagnostics, false, false, end), build_(build) {}

int TokenStream::next(Value& value, Place& place) {
  Token token;
  // The parser skips tokens after an error and did not ask what it expects.
  stopped_ = stopped_ || last_.made == Made::TextEnd;
  if (!out_.empty()) {
    token = out_.front();
    out_.pop_front();
  } else if (!stopped_) {
    token = repaired();
  }
  if (stopped_) {
    place.begin = place.end = static_cast<uint32_t>(bytes_.size());
    return RADL_END;
  }
  if (token.made != Made::Sync) {
    follow(token);
    before_last_ = last_;
    last_ = token;
  }
  place = token.span;
  const int made = symbol(token, value);
  if (end_ != nullptr && token.made != Made::TextEnd)
    end_->symbols.push_back({radl1_token_name(made), token.span});
  return made;
}

// ---- scanning
// -----------------------------------------------------------------------------------------------

TokenStream::Token TokenStream::scan() {
  for (;;) {
    RawToken raw = scanner_.next();
    if (open_at_end(raw)) return {RawKind::End, Made::No, span(raw.begin, raw.begin)};
    if (raw.kind == RawKind::Comment) {
      tree_.trivia.push(tree_.arena, {ast::TriviaKind::Comment, span(raw.begin, raw.end)});
      continue;
    }
    if (raw.kind == RawKind::Junk) {
      Token made;
      if (quoted_text(raw, made)) {
        last_scanned_ = made.kind;
        return made;
      }
      keep_junk(raw);
      continue;
    }
    last_scanned_ = raw.kind;
    return {raw.kind, Made::No, span(raw.begin, raw.end)};
  }
}

const TokenStream::Token& TokenStream::peek(size_t ahead) {
  while (ahead_count_ <= ahead) ahead_[ahead_count_++] = scan();
  return ahead_[ahead];
}

TokenStream::Token TokenStream::take() {
  if (ahead_count_ == 0) return scan();
  Token token = ahead_[0];
  for (size_t i = 1; i < ahead_count_; ++i) ahead_[i - 1] = ahead_[i];
  --ahead_count_;
  return token;
}

void TokenStream::put_back(const Token& token) {
  assert(ahead_count_ < std::size(ahead_));
  for (size_t i = ahead_count_; i > 0; --i) ahead_[i] = ahead_[i - 1];
  ahead_[0] = token;
  ++ahead_count_;
}

void TokenStream::rewind(uint32_t offset) {
  ahead_count_ = 0;
  drop_trivia(offset);
  scanner_.seek(offset, static_cast<int>(levels_.size()));
}

bool TokenStream::at_line_start(const Token& token) const {
  for (uint32_t at = token.span.begin; at > 0; --at) {
    char c = bytes_[at - 1];
    if (c == '\n') return true;
    if (c != ' ' && c != '\t') return false;
  }
  return true;
}

bool TokenStream::word_like(const Token& token) const {
  return token.kind == RawKind::Name || token.kind == RawKind::Network ||
         token.kind == RawKind::Description || token.kind == RawKind::Ansible || token.kind == RawKind::With;
}

// ---- where we are
// -------------------------------------------------------------------------------------------

TokenStream::Inside TokenStream::kind_of_parenthesis() const {
  switch (inside()) {
    case Inside::Block:
      if (block_ == RawKind::Contextualize) return Inside::Items;
      if (block_ == RawKind::Configure) return Inside::Resources;
      return block_ == RawKind::Deploy ? Inside::Value : Inside::Features;
    case Inside::Resources:
      return Inside::Features;
    case Inside::Features:
      if (last_.kind == RawKind::Contains) return Inside::Features;
      if (last_.kind == RawKind::Number && before_last_.kind == RawKind::Soft) return Inside::Features;
      return Inside::Value;
    default:
      return Inside::Value;
  }
}

void TokenStream::follow(Token& token) {
  switch (token.kind) {
    case RawKind::Open:
      if (levels_.empty()) ++block_tokens_;
      levels_.push_back({kind_of_parenthesis(), token.span});
      if (levels_.size() <= static_cast<size_t>(kMaxNesting)) return;
      error(DiagCode::NestingTooDeep, token.span,
            "more than " + std::to_string(kMaxNesting) + " parentheses within each other");
      stopped_ = true;
      return;
    case RawKind::Close:
      if (levels_.empty()) return;
      closed_ = levels_.back();
      levels_.pop_back();
      if (levels_.empty()) block_tokens_ = 0;
      return;
    default:
      if (levels_.empty()) follow_block(token);
      if (token.kind == RawKind::Name && last_.kind == RawKind::CloseList &&
          token.span.begin == last_.span.end && bytes_[token.span.begin] == '.')
        token.made = Made::Member;
  }
}

// At depth 0: which block this token belongs to, and whether a name begins one of EC3's.
void TokenStream::follow_block(Token& token) {
  bool begins = false;
  switch (token.kind) {
    case RawKind::System:
    case RawKind::Configure:
    case RawKind::Deploy:
    case RawKind::Contextualize:
      begins = true;
      break;
    case RawKind::Network:
    case RawKind::Ansible:
    case RawKind::Description:
      begins = block_tokens_ != 1 || block_ == RawKind::Contextualize;
      break;
    case RawKind::Name:
      begins = starts_general(token);
      if (!begins || misspelt_keyword(token)) break;
      token.made = Made::Kind;
      general_ = token.span;
      break;
    default:
      break;
  }
  if (begins) {
    block_ = token.kind;
    block_tokens_ = 0;
  }
  ++block_tokens_;
}

bool TokenStream::starts_general(const Token& token) {
  if (block_tokens_ == 0) return true;
  switch (block_) {
    case RawKind::Contextualize:
      return false;
    case RawKind::Deploy: {
      // `deploy s 1` NAME: the cloud, unless NAME is on its own line and is followed by something that cannot
      // follow a cloud.
      if (block_tokens_ >= 4) return true;
      if (block_tokens_ < 3 || !at_line_start(token)) return false;
      RawKind after = peek().kind;
      return after == RawKind::Name || after == RawKind::Open || after == RawKind::Number;
    }
    default:
      return block_tokens_ >= 2;
  }
}

void TokenStream::report_junk() {
  for (const ast::Trivia& piece : tree_.trivia) {
    if (piece.kind != ast::TriviaKind::Junk) continue;
    std::string_view text = source_.text(piece.span);
    std::string_view behind = bytes_.substr(piece.span.end), before = bytes_.substr(0, piece.span.begin);
    if (braces_ && (text == "{" || text == "}")) continue;
    if (text == "@" && behind.starts_with("input.")) continue;  // a placeholder has its own message
    size_t word = before.find_last_of("@ \t\n=(");
    if (text == "@" && word != std::string_view::npos && before.substr(word).starts_with("@input.")) continue;
    std::string shown = "`" + shorten(text, 20) + "`";
    if ((text == "-" || text == "+") && !behind.empty() && behind[0] >= '0' && behind[0] <= '9') {
      diagnostics_.report(DiagCode::SignSkipped, piece.span,
                          "numbers have no sign: " + shown + " is skipped");
    } else {
      bool before_operator = !behind.empty() && (behind[0] == '=' || behind[0] == '<' || behind[0] == '>');
      diagnostics_.report(DiagCode::JunkSkipped, piece.span,
                          shown + " means nothing here and is skipped" +
                              (before_operator ? ": this reads `" + std::string(1, behind[0]) + "`" : ""));
    }
  }
}

}  // namespace radl
