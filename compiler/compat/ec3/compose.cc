#include "compiler/compat/ec3/compose.h"

#include <algorithm>

#include "compiler/compat/ec3/cluster.h"
#include "compiler/compat/ec3/order_check.h"

namespace radl::ec3 {
namespace {

constexpr std::string_view kFront = "front", kWorker = "wn";

bool has_image(const Aspect* system) {
  return system != nullptr && !system->reference && system->features.find("disk.0.image.url") != nullptr;
}

bool is_one_front(const ast::Deploy& deploy) {
  auto* count = ast::as<ast::Number>(deploy.count);
  return deploy.name.text == kFront && count != nullptr && count->real == 1;
}

// The whole of a cluster, as EC3 wants it.
class Requirements {
 public:
  explicit Requirements(const Cluster& cluster) : cluster_(cluster) {
    look_for(kFront);
    look_for(kWorker);
    if (std::none_of(cluster.deploys.begin(), cluster.deploys.end(),
                     [](const ast::Deploy* deploy) { return is_one_front(*deploy); }))
      miss("nothing says `deploy front 1`", "a main template does, such as slurm");
  }

  bool met() const { return messages_.empty(); }

  void report(Span at) const {
    for (const auto& [message, hint] : messages_)
      cluster_.diagnostics.report(DiagCode::ClusterIncomplete, at, message).with_help(hint);
  }

 private:
  void look_for(std::string_view name) {
    const Aspect* system = cluster_.find("system", name);
    std::string word = "system `" + std::string(name) + "`";
    if (system == nullptr || (system->reference && name == kWorker))
      miss("there is no " + word, "a cluster of EC3's has the systems `front` and `wn`");
    else if (!has_image(system))
      miss(word + " has no `disk.0.image.url`", "give a template with images as well, such as ubuntu-ec2");
  }
  void miss(std::string message, std::string hint) {
    messages_.emplace_back(std::move(message), std::move(hint));
  }

  const Cluster& cluster_;
  std::vector<std::pair<std::string, std::string>> messages_;
};

class Composer {
 public:
  Composer(const std::vector<std::unique_ptr<ast::Tree>>& trees, const Composition& composition,
           Diagnostics& diagnostics)
      : trees_(trees),
        composition_(composition),
        diagnostics_(diagnostics),
        made_(std::make_unique<ast::Tree>()),
        cluster_(diagnostics, trees.front()->dialect == ast::Dialect::Ec3) {}

  std::unique_ptr<ast::Tree> run() {
    made_->source = trees_.front()->source;
    made_->dialect = trees_.front()->dialect;
    size_t errors = diagnostics_.errors();
    OrderCheck order(cluster_);
    if (cluster_.ec3 && several()) cluster_.add("system", kFront, nullptr);  // EC3 begins with that
    for (const auto& tree : trees_) {
      made_->syntax_errors = made_->syntax_errors || tree->syntax_errors;
      add_template(cluster_, *tree);
      if (cluster_.ec3) order.look();
    }
    if (cluster_.ec3) finish_cluster(order, diagnostics_.errors() == errors && !made_->syntax_errors);
    write();
    for (const Aspect* aspect : cluster_.order)
      if (aspect->recipe) release(aspect->recipe);
    return std::move(made_);
  }

 private:
  void finish_cluster(OrderCheck& order, bool fine) {
    if (several()) name_templates();
    bool alone = composition_.given.size() < 2 || composition_.open;
    cluster_.part = composition_.open || (alone && cluster_.deploys.empty());
    inherit(cluster_);
    Requirements requirements(cluster_);
    cluster_.part = !requirements.met() && alone;
    bool strict = fine && !cluster_.part;
    if (strict) {
      order.report();
      requirements.report(trees_.front()->source->whole());
      check_images();
      check_sets();
    }
    replace_expressions(cluster_, composition_.read_file, strict && requirements.met());
  }

  // EC3 takes no image that has no address; some templates leave it to be filled in.
  void check_images() {
    for (const Aspect* aspect : cluster_.order) {
      if (aspect->keyword != "system") continue;
      for (const sema::Merged& item : aspect->features.items) {
        auto url = item.text();
        if (!url || !item.name().starts_with("disk.") || !item.name().ends_with(".image.url")) continue;
        size_t colon = url->find("://");
        if (colon != std::string_view::npos && colon + 3 < url->size()) continue;
        diagnostics_
            .report(DiagCode::ClusterIncomplete, item.value->span(),
                    "`" + std::string(item.name()) + "` of system `" + std::string(aspect->name) +
                        "` is not the address of an image")
            .with_help("such as 'aws://us-east-1/ami-30519058'");
      }
    }
  }

  void check_sets() {
    for (const Aspect* aspect : cluster_.order)
      for (const sema::Merged& item : aspect->features.items)
        for (const hir::Feature* one : item.set) {
          auto* number = one->value.number();
          if (number == nullptr || number->is_float) continue;
          diagnostics_
              .report(DiagCode::MixedKinds, one->value.span(),
                      "a set of EC3's holds strings, not integers: `" + std::string(item.name()) + "`")
              .with_help("put it in quotes");
        }
  }

  // One file alone may also be what EC3 made.
  bool several() const { return trees_.size() > 1 || composition_.given.size() > 1; }

  // EC3 notes the templates of its command line first, and the authorization data last.
  void name_templates() {
    Aspect* front = cluster_.find("system", kFront);
    if (front == nullptr || front->reference) return;
    std::string names;
    for (const std::string& name : composition_.given) names += (names.empty() ? "" : " ") + name;
    sema::FeatureSet made;
    Span at = front->block->name.span;
    made.add(text_feature("ec3_templates_cmd", names, at));
    unite(cluster_, made, front->features);
    if (made.find("auth") == nullptr) {
      sema::FeatureSet auth;
      auth.add(text_feature("auth", "", at));
      unite(cluster_, made, auth);
    }
    if (front->features.find("ec3_templates_cmd") == nullptr) ++front->softs_at;
    front->features = made;
  }

  sema::Merged text_feature(std::string_view name, std::string_view text, Span at) {
    Arena& arena = made_->arena;
    auto* value = arena.make<ast::String>(ast::Kind::String, at, arena.copy(text));
    auto* feature = arena.make<hir::Feature>(name, at, at, at, ast::Op::Eq, false, value);
    feature->written = arena.make<ast::Feature>(ast::Kind::Feature, at, ast::FeatureKind::Simple, ast::Op::Eq,
                                                false, ast::Name{name, at}, at, value);
    sema::Merged merged{.kind = sema::Merged::Kind::Value, .first = feature};
    merged.value = &feature->value;
    return merged;
  }

  // ---- the document

  void write() {
    for (const Aspect* aspect : cluster_.order) {
      if (aspect->keyword == "include" || aspect->block == nullptr) continue;
      if (aspect->keyword == "configure")
        push(configure(*aspect));
      else
        push(feature_block(*aspect));
    }
    write_deploys();
    // EC3 drops an empty one, so the Infrastructure Manager configures the cluster all the same.
    const bool drops_empty = cluster_.ec3 && several();
    for (const ast::Contextualize* block : cluster_.contextualizes)
      if (!drops_empty || block->items.size() + block->options.size() > 0)
        push(made_->arena.make<ast::Contextualize>(*block));
  }

  void push(ast::Block* block) { made_->blocks.push(made_->arena, block); }

  // EC3 sends one `deploy front 1`, and that first. One file alone stays as it is.
  void write_deploys() {
    const ast::Deploy* front = nullptr;
    for (const ast::Deploy* deploy : cluster_.deploys)
      if (cluster_.ec3 && several() && is_one_front(*deploy)) front = deploy;
    if (front != nullptr) push(made_->arena.make<ast::Deploy>(*front));
    for (const ast::Deploy* deploy : cluster_.deploys)
      if (front == nullptr || !is_one_front(*deploy)) push(made_->arena.make<ast::Deploy>(*deploy));
  }

  ast::Block* configure(const Aspect& aspect) {
    auto* block = ast::as<ast::Configure>(aspect.block);
    auto* made =
        block != nullptr ? made_->arena.make<ast::Configure>(*block) : made_->arena.make<ast::Configure>();
    if (block == nullptr) {  // inherited
      made->kind = ast::Kind::Configure;
      made->span = aspect.block->span;
      made->keyword = {"configure", aspect.block->keyword.span};
      made->name = aspect.block->name;
    }
    bool empty = cluster_.ec3 && several() && aspect.recipe && aspect.recipe->empty();
    if (empty || (aspect.composed && aspect.recipe)) {
      made->has_body = !empty;
      made->recipe = empty ? nullptr : recipe(aspect, *made);
    }
    return made;
  }

  ast::Recipe* recipe(const Aspect& aspect, const ast::Configure& of) {
    const Span span = of.recipe != nullptr ? of.recipe->span : of.name.span;
    return made_->arena.make<ast::Recipe>(ast::Kind::Recipe, span,
                                          made_->arena.copy("\n" + dump_yaml(*aspect.recipe)));
  }

  ast::Block* feature_block(const Aspect& aspect) {
    auto* made = made_->arena.make<ast::FeatureBlock>(static_cast<const ast::FeatureBlock&>(*aspect.block));
    if (!aspect.reference) {
      made->body.present = true;
      made->body.items = features(aspect.features);
    }
    return made;
  }

  List<ast::Feature*> features(const sema::FeatureSet& set) {
    List<ast::Feature*> made;
    for (const sema::Merged& item : set.items) add(made, item);
    for (const sema::Soft& soft : set.softs)
      made.push(made_->arena, made_->arena.make<ast::Feature>(*soft.from->written));
    return made;
  }

  ast::Feature* copy(const hir::Feature& feature) {
    return made_->arena.make<ast::Feature>(*feature.written);
  }

  void add(List<ast::Feature*>& into, const sema::Merged& item) {
    switch (item.kind) {
      case sema::Merged::Kind::Number:
        if (item.lower.from != nullptr) into.push(made_->arena, copy(*item.lower.from));
        if (item.upper.from != nullptr && item.upper.from != item.lower.from)
          into.push(made_->arena, copy(*item.upper.from));
        break;
      case sema::Merged::Kind::Groups:
        for (const sema::FeatureSet& group : item.groups) {
          ast::Feature* made = copy(*item.first);
          made->group = made_->arena.make<ast::Features>(true, item.first->span, features(group));
          into.push(made_->arena, made);
        }
        break;
      case sema::Merged::Kind::Set:
        for (const hir::Feature* one : item.set) into.push(made_->arena, copy(*one));
        break;
      case sema::Merged::Kind::Value: {
        ast::Feature* made = copy(*item.first);
        // A reference is sent as the name.
        if (auto* to = item.value->reference(); to != nullptr && !cluster_.part)
          made->value = made_->arena.make<ast::String>(ast::Kind::String, to->target.span, to->target.text);
        into.push(made_->arena, made);
        break;
      }
      case sema::Merged::Kind::Unknown:
        into.push(made_->arena, copy(*item.first));
        break;
    }
  }

  const std::vector<std::unique_ptr<ast::Tree>>& trees_;
  const Composition& composition_;
  Diagnostics& diagnostics_;
  std::unique_ptr<ast::Tree> made_;
  Cluster cluster_;
};

}  // namespace

std::unique_ptr<ast::Tree> compose(const std::vector<std::unique_ptr<ast::Tree>>& trees,
                                   const Composition& composition, Diagnostics& diagnostics) {
  return Composer(trees, composition, diagnostics).run();
}

}  // namespace radl::ec3
