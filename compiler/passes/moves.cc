// What `moved ( from, to )` declares: names with their modules' prefixes, in the order in which they are
// moved.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/passes/build.h"

namespace radl::passes {

namespace {

constexpr std::string_view kNetwork = "network.";

struct Declared {
  ir::Move move;
  Span from, to;
};

class Moves {
 public:
  explicit Moves(Build& build) : build_(build) {}

  void run() {
    visit(static_cast<const Instance&>(*build_.root), [&](const Instance& instance) {
      note_names(instance);
      for (const ast::Moved* block : instance.moves) declare(*block, instance);
    });
    for (const Declared& declared : declared_) check(declared);
    if (!build_.diagnostics.has_errors()) order();
  }

 private:
  // All that is in the program, as `moved` names it.
  void note_names(const Instance& instance) {
    if (!instance.prefix.empty()) there_.insert(instance.prefix);
    for (const auto& [name, block] : instance.systems) there_.insert(instance.full(name));
    if (instance.parent != nullptr) return;
    for (const ir::Node& node : build_.program.nodes) there_.insert(node.address);
    for (const ir::Network& network : build_.program.networks) there_.insert(network.address);
  }

  void wrong(Span at, std::string message, std::string help = "") {
    auto& diagnostic = build_.diagnostics.report(DiagCode::MoveDeclaration, at, std::move(message));
    if (!help.empty()) diagnostic.with_help(std::move(help));
  }

  // The full name in the program: "worker" of the module `cifar` is "cifar.worker". Empty after a report.
  std::string name_of(const ast::Expr* written, const Instance& instance) {
    if (written == nullptr) return "";
    expr::Value value = build_.scopes->evaluate(*written, instance);
    if (value.is_error()) return "";
    if (value.kind() != expr::Kind::String || value.sensitive() || value.as_text().empty()) {
      wrong(written->span, "`moved` takes two names", "for example moved ('worker', 'trainer')");
      return "";
    }
    std::string name(value.as_text());
    if (name.starts_with(kNetwork))
      return std::string(kNetwork) + instance.full(name.substr(kNetwork.size()));
    return instance.full(name);
  }

  void declare(const ast::Moved& block, const Instance& instance) {
    Declared made;
    made.move.from = name_of(block.from, instance);
    made.move.to = name_of(block.to, instance);
    if (made.move.from.empty() || made.move.to.empty()) return;
    made.move.origin = build_.origin(block.keyword.span);
    made.from = block.from->span;
    made.to = block.to->span;
    declared_.push_back(std::move(made));
  }

  static bool is_node(const std::string& name) { return name.ends_with(']') && !name.starts_with(kNetwork); }

  void check(const Declared& declared) {
    const auto& [from, to, origin] = declared.move;
    if (from == to) return wrong(declared.to, fmt::format("'{}' is moved to itself", from));
    if (is_node(from) != is_node(to) || from.starts_with(kNetwork) != to.starts_with(kNetwork))
      return wrong(declared.to, fmt::format("'{}' cannot become '{}': they are not of one kind", from, to),
                   "a node becomes a node ('worker[0]'), a network a network ('network.lan'), a system or "
                   "module one");
    if (there_.contains(from))
      return wrong(declared.from, fmt::format("'{}' is still in the file", from),
                   fmt::format("take it out of the file, or the `moved`: what is called '{}' now cannot be "
                               "what was called '{}'",
                               to, from));
    twice(declared, &ir::Move::from, declared.from, "'{}' is moved twice");
    twice(declared, &ir::Move::to, declared.to, "two things are moved to '{}'");
  }

  void twice(const Declared& declared, std::string ir::Move::*name, Span at, const char* message) {
    for (const Declared& earlier : declared_) {
      if (&earlier == &declared) return;
      if (earlier.move.*name != declared.move.*name) continue;
      Span first = name == &ir::Move::from ? earlier.from : earlier.to;
      build_.diagnostics
          .report(DiagCode::MoveDeclaration, at, fmt::format(fmt::runtime(message), declared.move.*name))
          .note(first, "the first time");
      return;
    }
  }

  // A part is moved before the whole that it is in, and what a name was moved to before it is moved on.
  static bool comes_before(const ir::Move& first, const ir::Move& then) {
    if (first.to == then.from) return true;
    const std::string &part = first.from, &whole = then.from;
    return part.size() > whole.size() && part.starts_with(whole) &&
           (part[whole.size()] == '[' || part[whole.size()] == '.');
  }

  void order() {
    std::vector<const Declared*> left;
    for (const Declared& declared : declared_) left.push_back(&declared);
    while (!left.empty()) {
      auto free = std::find_if(left.begin(), left.end(), [&](const Declared* candidate) {
        return std::none_of(left.begin(), left.end(), [&](const Declared* other) {
          return other != candidate && comes_before(other->move, candidate->move);
        });
      });
      if (free == left.end())
        return wrong(left.front()->from,
                     fmt::format("moves go in a circle: '{}' comes back to itself", left.front()->move.from),
                     "to exchange two names, move one to a third name first, apply, then move both");
      build_.program.moves.push_back((*free)->move);
      left.erase(free);
    }
  }

  Build& build_;
  std::vector<Declared> declared_;
  std::set<std::string> there_;
};

}  // namespace

void moves(Build& build) { Moves(build).run(); }

}  // namespace radl::passes
