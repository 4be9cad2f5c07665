// EC3's paths into a cluster: /CLASS/NAME[/FEATURE...][/*] and /CLASS/*.
#include <algorithm>

#include "common/text.h"
#include "compiler/compat/ec3/cluster.h"

namespace radl::ec3 {
namespace {

using sema::FeatureSet;
using sema::Merged;
using Kind = Merged::Kind;

YamlPtr number_value(const hir::Number& number) {
  int64_t times = unit_factor(number.unit.text);
  if (number.is_float) return Yaml::real_number(number.real * static_cast<double>(times == 0 ? 1 : times));
  if (times <= 1 || number.big) return Yaml::integer(sema::number_text(number));
  __int128 product = static_cast<__int128>(number.integer) * times;
  if (product > INT64_MAX) return Yaml::integer(sema::number_text(number));
  return Yaml::integer(std::to_string(static_cast<int64_t>(product)));
}

YamlPtr reference_value(std::string_view keyword, std::string_view name) {
  YamlPtr made = Yaml::map();
  made->set("class", Yaml::string(keyword));
  made->set("id", Yaml::string(name));
  made->set("reference", Yaml::boolean_value(true));
  return made;
}

bool is_connection(std::string_view feature) {
  return feature.starts_with("net_interface.") && feature.ends_with(".connection");
}

// The class and name of the block that a feature refers to; empty if it is not a reference. A connection
// refers to a network.
std::pair<std::string_view, std::string_view> target_of(std::string_view feature, const hir::Value* value) {
  if (value == nullptr) return {};
  if (auto* reference = value->reference()) return {reference->target_kind.text, reference->target.text};
  if (auto text = value->text(); text && is_connection(feature)) return {"network", *text};
  return {};
}

YamlPtr simple_value(std::string_view feature, const hir::Value* value) {
  auto [keyword, name] = target_of(feature, value);
  if (!keyword.empty()) return reference_value(keyword, name);
  if (auto* number = value->number()) return number_value(*number);
  auto text = value->text();
  return text ? Yaml::string(*text) : Yaml::null();
}

void put_features(Yaml& into, const FeatureSet& features);

void put_feature(Yaml& into, const Merged& item) {
  std::string name(item.name());
  switch (item.kind) {
    case Kind::Number: {
      const hir::Number* shown = item.lower.number() ? item.lower.number() : item.upper.number();
      if (shown->is_float) {  // EC3 knows intervals of integers only
        into.set(name, number_value(*shown));
        break;
      }
      into.set(name + "_min",
               item.lower.number() ? number_value(*item.lower.number()) : Yaml::string("-inf"));
      into.set(name + "_max", item.upper.number() ? number_value(*item.upper.number()) : Yaml::string("inf"));
      break;
    }
    case Kind::Value:
      into.set(name, simple_value(name, item.value));
      break;
    case Kind::Set: {
      YamlPtr list = Yaml::list();
      for (const hir::Feature* one : item.set) list->items.push_back(simple_value({}, &one->value));
      into.set(name, list);
      break;
    }
    case Kind::Groups: {
      YamlPtr list = Yaml::list();
      for (const FeatureSet& group : item.groups) {
        list->items.push_back(Yaml::map());
        put_features(*list->items.back(), group);
      }
      into.set(name, list);
      break;
    }
    case Kind::Unknown:
      break;
  }
}

void put_features(Yaml& into, const FeatureSet& features) {
  for (const Merged& item : features.items) put_feature(into, item);
  if (features.softs.empty()) return;
  YamlPtr list = Yaml::list();
  for (const sema::Soft& soft : features.softs) {
    YamlPtr one = Yaml::map(), items = Yaml::map();
    put_features(*items, soft.features);
    one->set("weight", number_value(*soft.from->weight.number()));
    one->set("items", items);
    list->items.push_back(one);
  }
  into.set("softs", list);
}

YamlPtr simple_aspect(const Aspect& aspect) {
  YamlPtr made = Yaml::map();
  made->set("class", Yaml::string(aspect.keyword));
  made->set("id", Yaml::string(aspect.name));
  bool configure = aspect.keyword == "configure";
  if (aspect.reference || (configure && aspect.recipe && aspect.recipe->empty()))
    made->set("reference", Yaml::boolean_value(true));
  else if (configure)
    made->set("recipe", aspect.recipe ? aspect.recipe : Yaml::null());  // its later values as well
  else
    put_features(*made, aspect.features);
  return made;
}

// These, each followed by what its features refer to.
std::vector<const Aspect*> with_targets(const Cluster& cluster, const std::vector<const Aspect*>& wanted) {
  std::vector<const Aspect*> all;
  auto add = [&](const Aspect* aspect, auto& self) -> void {
    if (aspect == nullptr || std::find(all.begin(), all.end(), aspect) != all.end()) return;
    all.push_back(aspect);
    for (const Merged& item : aspect->features.items) {
      auto [keyword, name] = target_of(item.name(), item.kind == Kind::Value ? item.value : nullptr);
      if (!keyword.empty()) self(cluster.find(keyword, name), self);
    }
  };
  for (const Aspect* aspect : wanted) add(aspect, add);
  return all;
}

std::string lines(const std::string& text, size_t from, size_t until) {
  std::vector<std::string_view> parts = split(text, '\n');
  std::string out;
  for (size_t i = from; i + until < parts.size(); ++i) out += (i == from ? "" : "\n") + std::string(parts[i]);
  return out;
}

enum class Form { Text, Simple };  // ec3_xpath, ec3_jpath

PathValue fault(std::string message, std::string hint = {}) {
  return {nullptr, std::move(message), std::move(hint)};
}

class Path {
 public:
  Path(const Cluster& cluster, std::string_view path, Form form) : cluster_(cluster), form_(form) {
    for (std::string_view part : split(path, '/')) parts_.push_back(std::string(trim(part)));
  }

  PathValue value() {
    if (parts_.size() < 3 || !parts_[0].empty())
      return fault("a path begins with a class and a name", "as in /system/front/queue_system or /system/*");
    static constexpr std::string_view kClasses[] = {"system", "network", "configure", "include",
                                                    "description"};
    if (std::find(std::begin(kClasses), std::end(kClasses), parts_[1]) == std::end(kClasses))
      return fault("there is no class `" + parts_[1] + "` to look in",
                   "the classes are system, network and configure");
    if (parts_.size() == 3 && parts_[2] == "*") return all();
    const Aspect* aspect = cluster_.find(parts_[1], parts_[2]);
    if (aspect == nullptr)
      return fault("no template defines " + parts_[1] + " `" + parts_[2] + "`",
                   "give the template that does as well");
    at_ = 3;
    return parts_[1] == "configure" ? whole(*aspect) : feature(*aspect);
  }

 private:
  PathValue all() {
    std::vector<const Aspect*> found;
    for (const Aspect* aspect : cluster_.order)
      if (aspect->keyword == parts_[1]) found.push_back(aspect);
    return dumped(with_targets(cluster_, found));
  }

  PathValue dumped(const std::vector<const Aspect*>& aspects) {
    if (form_ == Form::Text) return {Yaml::string(shown_aspects(cluster_, aspects)), {}, {}};
    YamlPtr list = Yaml::list();
    for (const Aspect* aspect : aspects) list->items.push_back(simple_aspect(*aspect));
    return {list, {}, {}};
  }

  // A block, or with `/*` what is in it.
  PathValue whole(const Aspect& aspect) {
    bool inside = at_ + 1 == parts_.size() && parts_[at_] == "*";
    if (at_ != parts_.size() && !inside) return fault("only systems and networks have features to look in");
    if (!inside) return dumped(with_targets(cluster_, {&aspect}));
    if (form_ == Form::Simple) return {simple_aspect(aspect), {}, {}};
    size_t frame = aspect.keyword == "configure" ? 2 : 1;
    return {Yaml::string(lines(shown_aspects(cluster_, {&aspect}), frame, frame)), {}, {}};
  }

  PathValue feature(const Aspect& aspect) {
    if (at_ == parts_.size() || parts_[at_] == "*") return whole(aspect);
    const std::string& name = parts_[at_];
    const Merged* item = aspect.features.find(name);
    at_++;
    // The authorization data of EC3's command line, which does not exist here.
    if (item == nullptr && name == "auth" && aspect.name == "front") return {Yaml::string(""), {}, {}};
    if (item == nullptr) return absent(aspect, name);
    if (item->kind == Kind::Value) {
      auto [keyword, target] = target_of(name, item->value);
      if (!keyword.empty()) {
        const Aspect* there = cluster_.find(keyword, target);
        if (there == nullptr)
          return fault("no template defines " + std::string(keyword) + " `" + std::string(target) + "`");
        return feature(*there);
      }
    }
    if (at_ != parts_.size()) return fault("`" + name + "` has no features of its own");
    return value_of(*item);
  }

  PathValue absent(const Aspect& aspect, const std::string& name) const {
    std::vector<std::string> names;
    for (const Merged& item : aspect.features.items) names.emplace_back(item.name());
    std::string near = nearest(name, names);
    return fault(
        std::string(aspect.keyword) + " `" + std::string(aspect.name) + "` has no feature `" + name + "`",
        near.empty() ? "give the template that sets it as well" : "did you mean `" + near + "`?");
  }

  PathValue value_of(const Merged& item) const {
    std::string name = "`" + std::string(item.name()) + "`";
    switch (item.kind) {
      case Kind::Number:
        if (form_ == Form::Text)
          return fault(name + " is a number, and ec3_xpath gives strings", "ec3_jpath gives numbers");
        if (!item.lower.number() || !item.upper.number() ||
            compare(cluster_, *item.lower.number(), *item.upper.number()) != 0)
          return fault(name + " is an interval: it has no one value", "set it with `=`");
        return {number_value(*item.lower.number()), {}, {}};
      case Kind::Set: {
        if (form_ == Form::Text) return {Yaml::string(sema::joined(item)), {}, {}};
        YamlPtr list = Yaml::list();
        for (const hir::Feature* one : item.set) list->items.push_back(simple_value({}, &one->value));
        return {list, {}, {}};
      }
      case Kind::Value:
        return {simple_value({}, item.value), {}, {}};
      default:
        return fault(name + " is a group: it has no one value",
                     "name the whole block: /" + parts_[1] + "/" + parts_[2]);
    }
  }

  const Cluster& cluster_;
  Form form_;
  std::vector<std::string> parts_;
  size_t at_ = 0;
};

}  // namespace

PathValue xpath_value(const Cluster& cluster, std::string_view path) {
  return Path(cluster, path, Form::Text).value();
}

PathValue jpath_value(const Cluster& cluster, std::string_view path) {
  return Path(cluster, path, Form::Simple).value();
}

}  // namespace radl::ec3
