#include "tools/fmt/pieces.h"

#include <algorithm>

#include "compiler/syntax/walk.h"
#include "tools/fmt/marks.h"

namespace radl::formatter {
namespace {

// Marks pieces with what the tree knows about them.
class Marker : Marks {
 public:
  Marker(const ast::Tree& tree, Marks marks) : Marks(std::move(marks)), tree_(tree) {}

  void run() {
    for (const ast::Block* block : tree_.blocks) {
      if (Piece* piece = starting_at(block->span.begin)) piece->block = true;
      if (auto* feature_block = ast::as<ast::FeatureBlock>(block)) features(feature_block->body);
      if (auto* use = ast::as<ast::Use>(block)) features(use->body);
      if (auto* configure = ast::as<ast::Configure>(block)) recipe(*configure);
      if (auto* context = ast::as<ast::Contextualize>(block)) contextualize(*context);
      each_value(*block, [this](const ast::Expr& expr) { value(expr); });
    }
  }

 private:
  void features(const ast::Features& list) {
    if (!list.present) return;
    group(list.span);
    for (const ast::Feature* feature : list.items) {
      entry(feature->span);
      if (feature->group) features(*feature->group);
    }
  }

  void recipe(const ast::Configure& configure) {
    if (!configure.has_body) return;
    Piece* open = group(configure.body_span);
    if (open && configure.resources.size() > 1) open->may_be_flat = false;
    if (configure.recipe) entry(configure.recipe->span);
    for (const ast::Resource* resource : configure.resources) {
      entry(resource->span);
      features(resource->body);
    }
  }

  void contextualize(const ast::Contextualize& context) {
    Piece* open = group(context.body_span);
    if (open && context.items.size() + context.options.size() > 1) open->may_be_flat = false;
    for (const ast::Option* option : context.options) entry(option->span);
    for (const ast::Item* item : context.items) entry(item->span);
    align(context);
  }

  // Columns: items that follow each other without a blank line or a comment between them.
  void align(const ast::Contextualize& context) {
    size_t first = 0;
    for (size_t i = 1; i <= context.items.size(); ++i) {
      if (i < context.items.size() && adjoining(*context.items[i - 1], *context.items[i])) continue;
      align_run(context, first, i, &ast::Item::system);
      align_run(context, first, i, &ast::Item::configure);
      first = i;
    }
  }
  bool adjoining(const ast::Item& before, const ast::Item& item) {
    int from = index_at(before.span.begin), to = index_at(item.span.begin);
    if (from < 0 || to < 0) return false;
    for (int i = from + 1; i <= to; ++i) {
      const Piece& piece = pieces_[static_cast<size_t>(i)];
      if (piece.newlines_before > 1 || (piece.comment() && piece.newlines_before > 0)) return false;
    }
    return true;
  }
  void align_run(const ast::Contextualize& context, size_t first, size_t last, ast::Name ast::Item::*column) {
    constexpr int kMostPadding = 24;
    int widest = 0;
    for (size_t i = first; i < last; ++i)
      widest = std::max(widest, display_width((context.items[i]->*column).text));
    for (size_t i = first; i < last; ++i) {
      const ast::Name& name = context.items[i]->*column;
      int pad = widest - display_width(name.text);
      Piece* piece = starting_at(name.span.begin);
      bool last_word = piece && name.span.end >= context.items[i]->span.end;
      if (piece && !last_word && pad <= kMostPadding) piece->pad = pad;
    }
  }

  const ast::Tree& tree_;
};

// Strings that hold ${ }, at any depth outside of each other.
void add_whole_texts(const ast::Expr& value, std::vector<Span>& spans) {
  auto* text = ast::as<ast::String>(&value);
  if (text && !text->parts.empty()) {
    spans.push_back(text->span);
  } else {
    each_part(value, [&spans](const ast::Expr& part) { add_whole_texts(part, spans); });
  }
}

// What is one piece although it has many tokens: recipes, and strings that hold ${ }. In order.
std::vector<Span> whole_spans(const ast::Tree& tree) {
  std::vector<Span> spans;
  for (const ast::Block* block : tree.blocks)
    each_value(*block, [&spans](const ast::Expr& value) { add_whole_texts(value, spans); });
  each_block(tree.blocks, [&spans](const ast::Block& block) {
    auto* configure = ast::as<ast::Configure>(&block);
    if (configure && configure->recipe) spans.push_back(configure->recipe->span);
  });
  std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
  return spans;
}

// RADL 1: an `and` behind a comment goes in front of it: it ends the line of the feature before.
void move_ands(std::vector<Piece>& pieces) {
  for (size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].text != "and" || pieces[i].cls != TokenClass::Keyword || !pieces[i - 1].comment()) continue;
    size_t first = i;
    while (first > 0 && pieces[first - 1].comment()) --first;
    if (first == 0 || pieces[first - 1].closes_at >= 0 || pieces[first - 1].text == "and") continue;
    if (i + 1 < pieces.size()) {
      pieces[i + 1].newlines_before = std::max(pieces[i + 1].newlines_before, pieces[i].newlines_before);
    }
    pieces[i].newlines_before = 0;
    pieces[i].gap_before = true;
    std::rotate(pieces.begin() + static_cast<std::ptrdiff_t>(first),
                pieces.begin() + static_cast<std::ptrdiff_t>(i),
                pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

}  // namespace

int display_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<Piece> make_pieces(const ast::Tree& tree) {
  const SourceFile& source = *tree.source;
  std::vector<Span> whole = whole_spans(tree);
  std::vector<Piece> pieces;
  std::vector<uint32_t> begins;
  size_t next_whole = 0;
  uint32_t end = 0;
  for (const Token& token : tokenize(source)) {
    if (token.span.begin < end) continue;  // inside what was taken whole
    Span span = token.span;
    TokenClass cls = token.cls;
    while (next_whole < whole.size() && whole[next_whole].end <= span.begin) ++next_whole;
    if (next_whole < whole.size() && whole[next_whole].contains(span.begin)) {
      span = whole[next_whole];
      cls = source.text(span).starts_with("@begin") ? TokenClass::Recipe : TokenClass::String;
    }
    std::string_view gap = source.text({source.id(), end, span.begin});
    Piece piece;
    piece.cls = cls;
    piece.text = source.text(span);
    piece.newlines_before = static_cast<int>(std::count(gap.begin(), gap.end(), '\n'));
    piece.gap_before = !gap.empty();
    pieces.push_back(piece);
    begins.push_back(span.begin);
    end = span.end;
  }
  Marks marks(pieces, std::move(begins));
  if (tree.dialect == ast::Dialect::Radl2) {
    mark_radl2(tree, std::move(marks));
  } else {
    Marker(tree, std::move(marks)).run();
    move_ands(pieces);
  }
  return pieces;
}

}  // namespace radl::formatter
