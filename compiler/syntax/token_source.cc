#include "compiler/syntax/token_source.h"

#include <algorithm>

#include "common/text.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/unicode.h"
#include "compiler/syntax/words.h"

namespace radl {
namespace {

// More expected tokens explain nothing.
constexpr size_t kMostExpectedRadl1 = 24, kMostExpectedRadl2 = 40;
constexpr int kMaxRecoveries = 10 * static_cast<int>(Diagnostics::kMaxSyntaxErrorsPerFile);

// What tasks of SkyPilot, playbooks and manifests begin with.
bool begins_yaml(std::string_view word) {
  constexpr std::string_view kWords[] = {"resources",  "setup",       "run",      "workdir",
                                         "num_nodes",  "envs",        "hosts",    "tasks",
                                         "apiVersion", "file_mounts", "services", "version"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

Diagnostic& report_block(std::string_view word, Span at, const std::vector<std::string_view>& blocks,
                         Diagnostics& diagnostics) {
  Diagnostic& d = diagnostics.report(DiagCode::UnknownBlock, at, "there is no block " + in_ticks(word));
  if (auto near = nearest_name(to_lower(word), blocks)) {
    d.labelled("did you mean " + in_ticks(*near) + "?");
    d.fix("write " + in_ticks(*near), at, std::string(*near));
  } else if (begins_yaml(word)) {
    d.with_help(
        "this looks like YAML of another tool; a RADL file begins with `radl 2` and blocks such as "
        "`system NAME ( ... )`");
  }
  return d;
}

}  // namespace

std::string one_of(const std::vector<std::string>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

TokenSource::TokenSource(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics, bool version2,
                         bool as_template, TextEnd* end)
    : source_(source),
      tree_(tree),
      diagnostics_(diagnostics),
      bytes_(source.text()),
      literals_(source, tree, diagnostics),
      scanner_(bytes_, version2, as_template),
      end_(end) {
  if (end_ != nullptr) scanner_.keep_blocks_open();
}

size_t TokenSource::line_of(std::string_view text, size_t at, std::string_view word, bool indented) {
  for (; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos || (begin > 0 && !indented)) continue;
    if (equal_ignoring_case(trim(line), word)) return at + begin;
  }
  return std::string_view::npos;
}

uint32_t TokenSource::bare_recipe(uint32_t from, Span found, bool upper) {
  size_t end = line_of(bytes_, from, "@end", true), close = line_of(bytes_, from, ")", false);
  end = end < close ? end + 4 : std::min(close, bytes_.size());
  if (end <= found.begin) return 0;
  size_t first = bytes_.find_first_not_of(" \t\n", from);
  std::string_view line = bytes_.substr(first, bytes_.find('\n', first) - first);
  error(DiagCode::UnexpectedToken,
        span(static_cast<uint32_t>(first), static_cast<uint32_t>(first + trim(line).size())),
        upper ? "`@begin` and `@end` are written in small letters" : "a recipe begins with `@begin`")
      .with_help("put a line `@begin` before the recipe and a line `@end` after it");
  drop_trivia(from);
  return static_cast<uint32_t>(end);
}

bool TokenSource::open_at_end(const RawToken& raw) {
  if (end_ == nullptr) return false;
  const char first = bytes_[raw.begin];
  const bool version2 = tree_.dialect == ast::Dialect::Radl2;
  if (raw.kind == RawKind::Comment && raw.end == bytes_.size()) {
    end_->inside = TextEnd::Inside::Comment;
  } else if (raw.kind == RawKind::OpenRecipe) {
    end_->inside = TextEnd::Inside::Recipe;
  } else if (raw.kind == RawKind::Junk && (first == '\'' || (version2 && first == '"'))) {
    end_->inside = TextEnd::Inside::OpenText;
    end_->quote = raw.begin;
  } else {
    return false;
  }
  scanner_.seek(static_cast<uint32_t>(bytes_.size()));
  return true;
}

Diagnostic& TokenSource::error(DiagCode code, Span span, std::string message) {
  tree_.syntax_errors = true;
  const bool many = ++errors_ >= static_cast<int>(Diagnostics::kMaxSyntaxErrorsPerFile);
  stopped_ = (many && end_ == nullptr) || stopped_;
  return diagnostics_.report(code, span, std::move(message));
}

Diagnostic& TokenSource::unknown_block(std::string_view word, Span at, const Names& blocks) {
  tree_.syntax_errors = true;
  ++errors_;
  return report_block(word, at, blocks, diagnostics_);
}

Diagnostic& report_unknown_block(std::string_view word, Span at, Diagnostics& diagnostics) {
  return report_block(word, at, radl1_blocks(), diagnostics);
}

bool TokenSource::may_recover(Span at) {
  if (++recoveries_ <= kMaxRecoveries) return true;
  error(DiagCode::UnexpectedToken, at, "too much is wrong around here: reading ends");
  stopped_ = true;
  return false;
}

Span TokenSource::keep_junk(const RawToken& raw) {
  CodePoint character = decode_utf8(bytes_.substr(raw.begin));
  if (character.length != 0 && is_invisible(character.value)) return {};
  Span at = span(raw.begin, raw.begin + std::max(1u, character.length));
  if (!tree_.trivia.empty()) {
    ast::Trivia& before = tree_.trivia.back();
    if (before.kind == ast::TriviaKind::Junk && before.span.end == at.begin) {
      before.span.end = at.end;
      return {};
    }
  }
  tree_.trivia.push(tree_.arena, {ast::TriviaKind::Junk, at});
  return at;
}

void TokenSource::drop_trivia(uint32_t from) {
  while (!tree_.trivia.empty() && tree_.trivia.back().span.begin >= from) tree_.trivia.pop();
}

ast::Number* TokenSource::number(Span span) {
  bool fits = true;
  ast::Number* node = literals_.number(span, &fits);
  if (!fits)
    error(DiagCode::NumberTooLong, span,
          "a number has at most " + std::to_string(kMaxNumberDigits) + " digits");
  return node;
}

void TokenSource::syntax_error(Place place, Names expected) {
  if (stopped_) return;
  if (end_ != nullptr && failed_at_end()) {
    end_->expected = std::move(expected);
    stopped_ = true;
    return;
  }
  const bool version2 = tree_.dialect == ast::Dialect::Radl2;
  if (expected.size() > (version2 ? kMostExpectedRadl2 : kMostExpectedRadl1)) expected.clear();
  const Span at = place.in(source_.id());
  if (!may_recover(at)) return;
  const bool written = undo_last(), resumed = resumed_at_ == at.begin;
  if (written && unclosed_text(at, resumed)) return;
  if (report_error(at, expected, written, resumed) || stopped_) return;
  if (put_back_last(written, resumed)) skip_to_sync();
  queue_sync(at);
}

void TokenSource::skip_to_sync(bool first) {
  size_t depth = 0;
  for (; !at_sync(depth, first); first = false) {
    const int step = skip_token(depth);
    if (step > 0 || depth > 0) depth += static_cast<size_t>(step);
    if (depth > static_cast<size_t>(kMaxNesting)) stopped_ = true;  // nothing after it can be read
    if (stopped_) return;
  }
}

bool TokenSource::has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace radl
