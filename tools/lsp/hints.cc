// Inlay hints: the numbers of the nodes that a `deploy` creates.
#include <fmt/format.h>

#include <map>

#include "tools/lsp/answers.h"

namespace radl::lsp {
namespace {

constexpr int kMostNodes = 100'000;
constexpr size_t kMostRanges = 3;  // shown of a `deploy` that is repeated

// Follows the deploys in the order in which nodes are numbered, repeated ones as often as their list has
// elements. What only the values of inputs tell ends it: nothing behind is known.
class Numbers {
 public:
  struct Range {
    int first, last;
  };

  explicit Numbers(const ast::Tree& tree) { blocks(tree.blocks); }
  const std::map<const ast::Deploy*, std::vector<Range>>& all() const { return ranges_; }

 private:
  void blocks(const List<ast::Block*>& list) {
    for (const ast::Block* block : list) {
      if (ended_) return;
      if (auto* deploy = ast::as<ast::Deploy>(block)) this->deploy(*deploy);
      auto* each = ast::as<ast::EachBlock>(block);
      if (!each || !deploys(each->blocks)) continue;
      auto* elements = ast::as<ast::ListValue>(each->each.list);
      ended_ = !elements;
      for (size_t i = 0; elements && i < elements->items.size(); ++i) blocks(each->blocks);
    }
  }

  void deploy(const ast::Deploy& deploy) {
    auto* count = ast::as<ast::Number>(deploy.count);
    bool known = count && !count->is_float && !count->big && count->integer < kMostNodes && !deploy.when;
    ended_ = !known || next_ > kMostNodes;
    if (ended_) return;
    int first = next_;
    next_ += static_cast<int>(count->integer);
    if (next_ > first) ranges_[&deploy].push_back({first, next_ - 1});
  }

  static bool deploys(const List<ast::Block*>& list) {
    for (const ast::Block* block : list) {
      auto* each = ast::as<ast::EachBlock>(block);
      if (block->kind == ast::Kind::Deploy || (each && deploys(each->blocks))) return true;
    }
    return false;
  }

  std::map<const ast::Deploy*, std::vector<Range>> ranges_;
  int next_ = 0;
  bool ended_ = false;
};

std::string label_of(const std::vector<Numbers::Range>& ranges) {
  std::string label;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (i == kMostRanges) return label + ", ...";
    auto [first, last] = ranges[i];
    label += (i == 0 ? "" : ", ") +
             (first == last ? fmt::format("#{}", first) : fmt::format("#{} to #{}", first, last));
  }
  return label;
}

}  // namespace

Json inlay_hints(const Query& query, const Json& params) {
  const Analysis& in = *query.analysis;
  Range range = range_from(params.at("range"));
  uint32_t from = in.offset(range.start, query.workspace.encoding),
           to = in.offset(range.end, query.workspace.encoding);
  std::map<uint32_t, Json> hints;  // by place
  Numbers numbers(*in.tree);
  for (const auto& [deploy, ranges] : numbers.all()) {
    Span count = deploy->count->span;
    if (count.end < from || count.end > to) continue;
    hints[count.end] = {{"position", query.range(count)["end"]},
                        {"label", label_of(ranges)},
                        {"paddingLeft", true},
                        {"tooltip", "The numbers of these nodes in the infrastructure: what `#N#` becomes."}};
  }
  Json list = Json::array();
  for (auto& [place, hint] : hints) list.push_back(std::move(hint));
  return list;
}

}  // namespace radl::lsp
