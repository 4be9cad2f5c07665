// Most of a file is `name operator literal`, with `and` or `)` behind it. Such features are read here in one
// piece: the parser would climb through every rank of operators for each value.
//
// Nothing else may change by that. A feature is plain only where the parser waits for one, where no repair
// applies to any of its tokens, and where no message can be about one of them but those that the nodes'
// makers give.
#include "compiler/syntax/builder.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/token_stream.h"

namespace radl {

// Behind `(`, or `and` that is no word of a value: `= system and` names a system.
bool TokenStream::feature_begins() const {
  if (last_.kind == RawKind::Open) return true;
  if (last_.kind != RawKind::And) return false;
  switch (before_last_.kind) {
    case RawKind::Name:
    case RawKind::Number:
    case RawKind::Text:
    case RawKind::Close:
    case RawKind::CloseList:
      return true;
    default:
      return false;
  }
}

namespace {

// How many tokens at the front make a plain feature: 0, where they make none. What is behind it is known,
// too.
size_t plain_tokens(std::span<const RawToken> raw) {
  if (raw.size() < 5 || raw[0].kind != RawKind::Name) return 0;
  RawKind comparator = raw[1].kind, literal = raw[2].kind;
  if (comparator < RawKind::Eq || comparator > RawKind::Ge) return 0;
  if (literal != RawKind::Number && literal != RawKind::Text) return 0;
  if (literal == RawKind::Number && raw[2].end - raw[2].begin > kMaxNumberDigits) return 0;
  size_t count = literal == RawKind::Number && raw[3].kind == RawKind::Name ? 4 : 3, behind = count;
  while (behind < raw.size() && raw[behind].kind == RawKind::Comment) ++behind;
  bool ends = behind < raw.size() && (raw[behind].kind == RawKind::And || raw[behind].kind == RawKind::Close);
  return ends ? count : 0;
}

}  // namespace

// Plain features joined by plain `and`s: in RADL 1 one behind which a plain feature comes needs no repair.
// Null, with nothing read, when what comes is none.
ast::Features* TokenStream::plain_features() {
  if (ahead_count_ != 0 || !feature_begins()) return nullptr;
  size_t count = plain_tokens(scanner_.ahead());
  if (count == 0) return nullptr;
  run_.clear();
  for (;;) {
    run_.push_back(plain_feature(count));
    std::span<const RawToken> raw = scanner_.ahead();
    if (stopped_ || raw.empty() || raw[0].kind != RawKind::And) break;
    count = plain_tokens(raw.subspan(1));
    if (count == 0) break;
    before_last_ = last_;
    last_ = {RawKind::And, Made::No, span(raw[0].begin, raw[0].end)};
    scanner_.skip(1);
  }
  auto* made = tree_.nodes().make<ast::Features>();
  made->span = cover(run_.front()->span, run_.back()->span);
  made->items.reserve(tree_.nodes(), static_cast<uint32_t>(run_.size()) + 2);  // some more may follow
  for (ast::Feature* feature : run_) made->items.push(tree_.nodes(), feature);
  return made;
}

// Of so many tokens.
ast::Feature* TokenStream::plain_feature(size_t count) {
  std::span<const RawToken> raw = scanner_.ahead();
  auto token = [&](size_t i) { return Token{raw[i].kind, Made::No, span(raw[i].begin, raw[i].end)}; };
  auto place = [&](size_t i) { return Place(raw[i].begin, raw[i].end); };
  ast::Expr* value;
  if (raw[2].kind == RawKind::Text) {
    value = text(token(2));
  } else {
    value = number(token(2).span);
    if (count == 4)
      value = build_.with_unit(cover(place(2), place(3)), static_cast<ast::Number*>(value), place(3));
  }
  constexpr ast::Op kOps[] = {ast::Op::Eq, ast::Op::Lt, ast::Op::Gt, ast::Op::Le, ast::Op::Ge};
  ast::Op op = kOps[static_cast<size_t>(raw[1].kind) - static_cast<size_t>(RawKind::Eq)];
  ast::Feature* made = build_.simple(cover(place(0), place(count - 1)), place(0), op, place(1), value);
  before_last_ = token(count - 2);
  last_ = token(count - 1);
  last_scanned_ = last_.kind;
  scanner_.skip(count);
  return made;
}

}  // namespace radl
