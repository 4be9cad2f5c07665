#include "compiler/syntax/token_stream.h"

#include "compiler/syntax/parser.h"
#include "compiler/syntax/unicode.h"

namespace radl {
TokenStream::TokenStream(const SourceFile& source, Span part, ast::Tree& tree, Diagnostics& diagnostics,
                         bool version2, Entry entry, Builder& build)
    : source_(source),
      tree_(tree),
      diagnostics_(diagnostics),
      bytes_(source.text().substr(0, part.end)),
      literals_(source, tree, diagnostics),
      scanner_(bytes_, version2, part.begin),
      version2_(version2),
      entry_(entry),
      build_(build) {}

int TokenStream::next(Value& value, Place& place) {
  if (!started_) {
    started_ = true;
    place = {0, 0};
    return entry_ == Entry::Document ? RADL_START_DOCUMENT : RADL_START_EXPRESSION;
  }
  Token token;
  if (!out_.empty()) {
    token = out_.front();
    out_.pop_front();
  } else if (!stopped_) {
    if (ast::Features* features = plain_ ? plain_features() : nullptr) {
      value.RADL_FEATURES = features;
      place = features->span;
      return RADL_FEATURES;
    }
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
  return symbol(token, value);
}

void TokenStream::stop() {
  stopped_ = true;
  out_.clear();
}

// ---- scanning
// -----------------------------------------------------------------------------------------------

TokenStream::Token TokenStream::scan() {
  for (;;) {
    RawToken raw = scanner_.next();
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
      junk(raw);
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
  while (!tree_.trivia.empty() && tree_.trivia.back().span.begin >= offset) tree_.trivia.pop();
  int depth = 0;
  for (const Level& level : levels_) depth += level.inside != Inside::Interpolation;
  scanner_.seek(offset, depth);
}

// Junk bytes come one by one; those of one run become one piece of trivia and one warning.
void TokenStream::junk(RawToken raw) {
  CodePoint character = decode_utf8(bytes_.substr(raw.begin));
  Span at = span(raw.begin, raw.begin + std::max(1u, character.length));
  if (is_invisible(character.value) && character.length != 0) return;
  if (!tree_.trivia.empty()) {
    ast::Trivia& before = tree_.trivia.back();
    if (before.kind == ast::TriviaKind::Junk && before.span.end == at.begin) {
      before.span.end = at.end;
      return;
    }
  }
  tree_.trivia.push(tree_.arena, {ast::TriviaKind::Junk, at});
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
      if (entry_ == Entry::Expression) return Inside::Expression;
      if (block_ == RawKind::Contextualize) return Inside::Items;
      if (block_ == RawKind::Configure) return Inside::Resources;
      return block_ == RawKind::Deploy ? Inside::Expression : Inside::Features;
    case Inside::Resources:
      return Inside::Features;
    case Inside::Features:
      if (last_.kind == RawKind::Contains) return Inside::Features;
      if (last_.kind == RawKind::Number && before_last_.kind == RawKind::Soft) return Inside::Features;
      return Inside::Expression;
    default:
      return Inside::Expression;
  }
}

void TokenStream::follow(Token& token) {
  switch (token.kind) {
    case RawKind::Open:
      if (levels_.empty()) ++block_tokens_;
      [[fallthrough]];
    case RawKind::OpenInterpolation: {
      Inside inside = token.kind == RawKind::Open ? kind_of_parenthesis() : Inside::Interpolation;
      levels_.push_back({inside, token.span});
      plain_ = inside == Inside::Features;
      if (levels_.size() <= static_cast<size_t>(kMaxNesting)) return;
      error(DiagCode::NestingTooDeep, token.span,
            "more than " + std::to_string(kMaxNesting) + " parentheses within each other");
      stop();
      return;
    }
    case RawKind::Close:
    case RawKind::CloseInterpolation:
      if (levels_.empty()) return;
      closed_ = levels_.back();
      levels_.pop_back();
      if (levels_.empty()) block_tokens_ = 0;
      plain_ = plain_ && inside() == Inside::Features;
      return;
    case RawKind::TextBegin:
      texts_.push_back(token.span);
      return;
    case RawKind::TextEnd:
      if (!texts_.empty()) texts_.pop_back();
      return;
    case RawKind::OpenList:
    case RawKind::If:
      plain_ = false;
      [[fallthrough]];
    default:
      if (levels_.empty() && entry_ == Entry::Document) follow_block(token);
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
    case RawKind::Radl:
    case RawKind::Input:
    case RawKind::Output:
    case RawKind::Use:
    case RawKind::Network:
    case RawKind::Ansible:
    case RawKind::Description:
      begins = block_tokens_ != 1 || block_ == RawKind::Contextualize || block_ == RawKind::Use;
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
  if (entry_ == Entry::Expression) return false;
  if (block_tokens_ == 0) return true;
  switch (block_) {
    case RawKind::Contextualize:
      return false;
    case RawKind::Use:
      return block_tokens_ >= 4;
    case RawKind::Deploy: {
      // `deploy s 1` NAME: the cloud, unless NAME is on a line of its own and something follows it that
      // cannot stand behind a cloud.
      if (!version2_ && block_tokens_ >= 4) return true;
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
    std::string shown = "`" + std::string(text.substr(0, 20)) + "`";
    if (version2_) {
      diagnostics_.report(DiagCode::UnexpectedToken, piece.span, shown + " means nothing here");
      tree_.syntax_errors = true;
    } else if ((text == "-" || text == "+") && !behind.empty() && behind[0] >= '0' && behind[0] <= '9') {
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

Diagnostic& TokenStream::error(DiagCode code, Span span, std::string message) {
  tree_.syntax_errors = true;
  ++errors_;
  if (errors_ >= static_cast<int>(Diagnostics::kMaxSyntaxErrorsPerFile)) stop();
  return diagnostics_.report(code, span, std::move(message));
}

}  // namespace radl
