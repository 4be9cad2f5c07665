// What the tree of a `radl 2` file knows about its pieces: blocks within `each`, entries with what separates
// them, maps, calls over several lines, and where a value may go on on the next line.
#include <algorithm>

#include "compiler/syntax/walk.h"
#include "tools/fmt/marks.h"

namespace radl::formatter {
namespace {

class Radl2Marker : Marks {
 public:
  explicit Radl2Marker(Marks marks) : Marks(std::move(marks)) {}

  void run(const ast::Tree& tree) {
    for (const ast::Block* block : tree.blocks) {
      if (Piece* piece = starting_at(block->span.begin)) piece->block = true;
      this->block(*block);
      each_value(*block, [this](const ast::Expr& expr) { value(expr); });
    }
  }

 private:
  // ---- blocks and their parts

  void block(const ast::Block& block) {
    if (auto* feature_block = ast::as<ast::FeatureBlock>(&block)) features(feature_block->body);
    if (auto* use = ast::as<ast::Use>(&block)) features(use->body);
    if (auto* configure = ast::as<ast::Configure>(&block)) recipe(*configure);
    if (auto* context = ast::as<ast::Contextualize>(&block)) contextualize(*context);
    if (auto* let = ast::as<ast::Let>(&block); let && !let->parameters.empty())
      if (int open = index_at(let->parameters[0].span.begin) - 1; open >= 0) at(open).glued = true;
    if (auto* check = ast::as<ast::Assert>(&block))
      arguments(first_from(check->keyword.span.end), check->span.end);
    if (auto* moved = ast::as<ast::Moved>(&block))
      arguments(first_from(moved->keyword.span.end), moved->span.end);
    if (auto* deploy = ast::as<ast::Deploy>(&block); deploy && deploy->when)
      tail("when", deploy->when->span.begin);
    if (auto* each = ast::as<ast::EachBlock>(&block)) {
      body(each->body_span);
      for (const ast::Block* inner : each->blocks) {
        entry(inner->span);
        if (Piece* piece = starting_at(inner->span.begin)) piece->inner_block = true;
        this->block(*inner);
      }
    }
  }

  // Where the group ends: the place of a closing bracket is that of the comma before it, if there is one.
  Span whole(Span span) {
    int close = index_at(span.end - 1);
    while (close >= 0 && close + 1 < size() && at(close).text == ",") {
      ++close;
      while (close + 1 < size() && at(close).comment()) ++close;
    }
    if (close >= 0) span.end = begins_[static_cast<size_t>(close)] + 1;
    return span;
  }
  Piece* group(Span span) { return Marks::group(whole(span)); }

  // Parentheses whose entries always have lines of their own.
  Piece* body(Span span) {
    Piece* open = group(span);
    if (open) open->may_be_flat = false;
    return open;
  }
  // Of `each NAME in LIST ( ... )`, whose last parenthesis is the last byte of `whole`.
  void each_body(const ast::Each& each, Span whole) {
    int open = first_from(each.span.end);
    while (open < size() && at(open).comment()) ++open;
    if (open < size()) body({whole.file, begins_[static_cast<size_t>(open)], whole.end});
  }

  void features(const ast::Features& list) {
    if (!list.present) return;
    Piece* open = group(list.span);
    const bool each = std::any_of(list.items.begin(), list.items.end(),
                                  [](const ast::Feature* feature) { return feature->each != nullptr; });
    if (open && each) open->may_be_flat = false;
    std::vector<Span> spans;
    features(list.items, spans);
    entries(std::move(spans), list.span.end);
  }
  void features(const List<ast::Feature*>& list, std::vector<Span>& spans) {
    for (const ast::Feature* feature : list) {
      const ast::Each* each = feature->each;
      spans.push_back(each && each->let ? each->span : feature->span);
      if (each && each->let) {
        features(feature->group->items, spans);
        continue;
      }
      if (feature->group) features(*feature->group);
      if (each) body(feature->group->span);
    }
  }

  void recipe(const ast::Configure& configure) {
    if (!configure.has_body) return;
    Piece* open = group(configure.body_span);
    if (open && (configure.resources.size() > 1 || any_each(configure.resources))) open->may_be_flat = false;
    if (configure.recipe) entry(configure.recipe->span);
    resources(configure.resources, configure.body_span.end);
  }
  static bool any_each(const List<ast::Resource*>& list) {
    return std::any_of(list.begin(), list.end(),
                       [](const ast::Resource* one) { return one->each != nullptr; });
  }
  void resources(const List<ast::Resource*>& list, uint32_t end) {
    std::vector<Span> spans;
    resources(list, spans);
    entries(std::move(spans), end);
  }
  void resources(const List<ast::Resource*>& list, std::vector<Span>& spans) {
    for (const ast::Resource* resource : list) {
      const ast::Each* each = resource->each;
      spans.push_back(each && each->let ? each->span : resource->span);
      features(resource->body);
      if (each && each->let) {
        resources(resource->inner, spans);
      } else if (each) {
        each_body(*each, resource->span);
        resources(resource->inner, resource->span.end);
      }
    }
  }

  void contextualize(const ast::Contextualize& context) {
    Piece* open = group(context.body_span);
    bool each = std::any_of(context.items.begin(), context.items.end(),
                            [](const ast::Item* item) { return item->each != nullptr; });
    if (open && (each || context.items.size() + context.options.size() > 1)) open->may_be_flat = false;
    std::vector<Span> spans;
    for (const ast::Option* option : context.options) spans.push_back(option->span);
    items(context.items, std::move(spans), context.body_span.end);
  }
  void items(const List<ast::Item*>& list, std::vector<Span> spans, uint32_t end) {
    items(list, spans);
    entries(std::move(spans), end);
  }
  void items(const List<ast::Item*>& list, std::vector<Span>& spans) {
    std::vector<const ast::Item*> aligned;
    for (const ast::Item* item : list) {
      if (item->each && item->each->let) {
        spans.push_back(item->each->span);
        items(item->inner, spans);
        continue;
      }
      if (!spans.empty() && spans.back().begin == item->span.begin) continue;  // one item with lists of names
      spans.push_back(item->span);
      if (item->when) tail("when", item->when->span.begin);
      if (item->each) {
        each_body(*item->each, item->span);
        items(item->inner, {}, item->span.end);
      }
      if (!plain(*item) || (!aligned.empty() && !adjoining(*aligned.back(), *item))) align(aligned);
      if (plain(*item)) aligned.push_back(item);
    }
    align(aligned);
  }

  // ---- columns of items that follow each other

  // `system NAME configure NAME ...`, without lists of names.
  bool plain(const ast::Item& item) const {
    return !item.each && !item.systems && !item.named && follows(item.system.span.begin, "system") &&
           follows(item.configure.span.begin, "configure");
  }
  bool follows(uint32_t offset, std::string_view word) const {
    int index = index_at(offset);
    return index > 0 && pieces_[static_cast<size_t>(index) - 1].text == word;
  }
  bool adjoining(const ast::Item& before, const ast::Item& item) {
    int from = index_at(before.span.begin), to = index_at(item.span.begin);
    if (from < 0 || to < 0) return false;
    for (int i = from + 1; i <= to; ++i)
      if (at(i).newlines_before > 1 || (at(i).comment() && at(i).newlines_before > 0)) return false;
    return true;
  }
  void align(std::vector<const ast::Item*>& items) {
    align(items, &ast::Item::system);
    align(items, &ast::Item::configure);
    items.clear();
  }
  void align(const std::vector<const ast::Item*>& items, ast::Name ast::Item::*column) {
    constexpr int kMostPadding = 24;
    int widest = 0;
    for (const ast::Item* item : items) widest = std::max(widest, display_width((item->*column).text));
    for (const ast::Item* item : items) {
      const ast::Name& name = item->*column;
      int pad = widest - display_width(name.text);
      Piece* piece = starting_at(name.span.begin);
      bool last_word = piece && name.span.end >= item->span.end;
      int next = first_from(name.span.end);
      bool breaks =
          next < size() && (at(next).comment() || (at(next).may_break && at(next).newlines_before > 0));
      if (piece && !last_word && !breaks && pad <= kMostPadding) piece->pad = pad;
    }
  }

  // ---- what separates entries

  int size() const { return static_cast<int>(pieces_.size()); }

  // The entries of a group that ends at `end`.
  void entries(std::vector<Span> spans, uint32_t end) {
    std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
    end = whole({0, end - 1, end}).end;
    for (size_t i = 0; i < spans.size(); ++i) {
      entry(spans[i]);
      bool last = i + 1 == spans.size();
      separators(first_from(spans[i].end), first_from(last ? end - 1 : spans[i + 1].begin), last);
    }
  }
  // For pieces from..to-1, between two entries or after the last one.
  void separators(int from, int to, bool last) {
    for (int i = from; i < to && i < size(); ++i) {
      if (at(i).text != ",") continue;
      at(i).text = last ? "" : ",";
      at(i).separator = last || !needs_comma(to);
      at(i).glued = true;
      if (i + 1 < size())
        at(i + 1).newlines_before = std::max(at(i + 1).newlines_before, at(i).newlines_before);
    }
  }
  // A line that begins with one of these would go on with the one before.
  bool needs_comma(int next) const {
    if (next >= size()) return false;
    std::string_view word = pieces_[static_cast<size_t>(next)].text;
    return word == "and" || word == "or" || word == "then" || word == "else" || word == "contains";
  }

  // A comma-separated group of an expression, from the bracket at `open` to the byte before `end`.
  void arguments(int open, uint32_t end) {
    while (open < size() && at(open).comment()) ++open;
    if (open >= size()) return;
    Piece* bracket = group({0, begins_[static_cast<size_t>(open)], end});
    if (!bracket) return;
    int close = bracket->closes_at, depth = 0;
    bool begins = true;
    for (int i = open + 1; i < close; ++i) {
      Piece& piece = at(i);
      if (piece.comment()) continue;
      if (begins) piece.entry = true;
      begins = false;
      if (piece.cls == TokenClass::Parenthesis) depth += opens(piece.text) ? 1 : -1;
      if (depth != 0 || piece.text != ",") continue;
      begins = true;
      int next = i + 1;
      while (next < close && at(next).comment()) ++next;
      if (next != close) continue;
      piece.text = "";
      piece.separator = piece.glued = true;
    }
  }
  static bool opens(std::string_view text) { return text == "(" || text == "[" || text == "{"; }

  // ---- values

  void value(const ast::Expr& expr) {
    join(expr);
    if (auto* list = ast::as<ast::ListValue>(&expr)) {
      arguments(index_at(list->span.begin), list->span.end);
    } else if (auto* call = ast::as<ast::Call>(&expr)) {
      // One argument stays with its parenthesis: f([ ... ]).
      if (call->arguments.size() + call->named.size() > 1 || !call->named.empty())
        arguments(first_from(call->function.span.end), call->span.end);
      for (const ast::Entry& one : call->named)
        entry(one.span);  // which may follow their lines without a comma
    } else if (auto* map = ast::as<ast::MapValue>(&expr)) {
      std::vector<Span> spans;
      for (const ast::Entry& one : map->entries) spans.push_back(one.span);
      group(map->span);
      entries(spans, map->span.end);
    } else if (auto* made = ast::as<ast::Comprehension>(&expr)) {
      comprehension(*made);
    } else if (auto* binary = ast::as<ast::Binary>(&expr)) {
      may_break_around(index_at(binary->op_span.begin));
    } else if (auto* choice = ast::as<ast::If>(&expr)) {
      tail("then", choice->then_value->span.begin);
      tail("else", choice->else_value->span.begin);
    } else if (expr.kind == ast::Kind::String) {
      return;  // a string with ${ } is one piece
    }
    each_part(expr, [this](const ast::Expr& part) { value(part); });
  }

  void comprehension(const ast::Comprehension& made) {
    Piece* open = group(made.span);
    int first = index_at(made.span.begin) + 1, close = open ? open->closes_at : 0;
    while (first < close && at(first).comment()) ++first;
    if (first < close) at(first).entry = true;
    entry(made.each.span);
    int condition = first_from(made.each.span.end);
    while (condition < close && at(condition).comment()) ++condition;
    if (condition < close) at(condition).entry = true;
  }

  void may_break_around(int op) {
    if (op < 0) return;
    at(op).may_break = true;
    if (op + 1 < size()) at(op + 1).may_break = true;
  }
  // The word in front of what begins at `value`, which parentheses may surround.
  void tail(std::string_view word, uint32_t value) {
    int index = index_at(value);
    for (int i = index - 1; i >= 0; --i) {
      if (at(i).text == word) {
        at(i).may_break = true;
        return;
      }
      if (at(i).text != "(" && at(i).text != "=" && !at(i).comment()) return;
    }
  }
};

}  // namespace

void mark_radl2(const ast::Tree& tree, Marks marks) { Radl2Marker(std::move(marks)).run(tree); }

}  // namespace radl::formatter
