#include "runtime/clouds/fitting.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

#include "common/human.h"
#include "common/text.h"
#include "runtime/catalog/burstable.h"

namespace radl {
namespace {

using Types = std::vector<const InstanceType*>;

// Letters of a region's name; what differs in more may be one that is newer than the catalogue.
constexpr int kSlip = 2;
constexpr double kMiB = 1024.0 * 1024;  // GPUs' memory is given in these, and cut: 24 GB are 22888
constexpr const char* kGpuAmounts[] = {"gpu.count", "gpu.memory"};
// An image that is for none of these ("architecture_unspecified") may boot anywhere.
const std::set<std::string> kArchitectures = {"x86_64",    "i386",    "arm64", "x86_64_mac",
                                              "arm64_mac", "ppc64le", "s390x", "riscv64"};

bool holds_ignoring_case(std::string_view text, std::string_view part) {
  return to_lower(text).find(to_lower(part)) != std::string::npos;
}

// A feature that is a number, and how to tell it of a type.
struct Measure {
  const char* feature;
  // nullopt: it is not known of this type, which then meets no bound.
  std::function<std::optional<double>(const InstanceType&)> value;
  std::function<std::string(double)> text;
  double cut = 0;  // what the catalogue's figures may lack by their unit
};

std::vector<Measure> measures(Market market) {
  using Value = std::optional<double>;
  return {
      {"cpu.count", [](const InstanceType& t) -> Value { return t.cpu; }, plain_number},
      {"memory.size", [](const InstanceType& t) -> Value { return t.memory_bytes; }, size_text},
      {"gpu.count", [](const InstanceType& t) -> Value { return t.gpu; }, plain_number},
      {"gpu.memory",
       [](const InstanceType& t) {
         return t.gpu_memory_bytes > 0 ? Value(t.gpu_memory_bytes) : std::nullopt;
       },
       size_text, kMiB},
      {"cpu.performance", [](const InstanceType& t) { return t.ecu > 0 ? Value(t.ecu) : std::nullopt; },
       [](double ecu) { return plain_number(ecu) + " ECU"; }},
      {"price",
       [=](const InstanceType& t) {
         return t.price(market) ? Value(t.price(market)->per_hour.units()) : std::nullopt;
       },
       [=](double price) { return fmt::format("{} {}", plain_number(price), market_name(market)); }},
  };
}

// A feature that is a text, and whether a type has it.
struct Trait {
  const char* feature;
  std::function<bool(const InstanceType&, const std::string& wanted)> has;
  std::function<std::string(const InstanceType&)> text;  // "" where the type has none of it
};

std::vector<Trait> traits() {
  return {
      {"cpu.arch",
       [](const InstanceType& t, const std::string& wanted) { return t.runs(architecture_name(wanted)); },
       [](const InstanceType& t) { return t.architectures; }},
      {"gpu.vendor",
       [](const InstanceType& t, const std::string& wanted) {
         return t.gpu > 0 && holds_ignoring_case(t.gpu_vendor, wanted);
       },
       [](const InstanceType& t) { return t.gpu_vendor; }},
      {"gpu.model",
       [](const InstanceType& t, const std::string& wanted) {
         return t.gpu > 0 && holds_ignoring_case(t.gpu_vendor + " " + t.gpu_model, wanted);
       },
       [](const InstanceType& t) { return t.gpu_model; }},
  };
}

bool asks_for_gpus(const ir::Node& node) {
  return std::any_of(std::begin(kGpuAmounts), std::end(kGpuAmounts), [&](const char* feature) {
    auto amount = node.requirements.find(feature);
    return amount != node.requirements.end() && !within(amount->second, 0);
  });
}

bool names_gpus(const ir::Node& node) {
  return !text_wanted(node, "gpu.vendor").empty() || !text_wanted(node, "gpu.model").empty();
}

// Filters one feature after the other, so that the one that leaves nothing can be named.
class Filter {
 public:
  explicit Filter(const Fitting& fitting) : fitting_(fitting), left_(fitting.types) {}

  Status by_name() {
    named_ = texts_wanted(fitting_.node, "instance_type");
    if (named_.empty()) return {};
    keep([&](const InstanceType& type) { return place_of(type) < named_.size(); });
    if (!left_.empty()) return {};
    const std::string named = join(named_, ", ");
    std::vector<std::string> names;
    for (const InstanceType* type : fitting_.types) names.push_back(type->name);
    const auto whole = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return name.ends_with("_" + named);  // as Azure's portal shows "Standard_D2s_v5"
    });
    const std::string near = whole == names.end() ? nearest(named, names) : *whole;
    return invalid(fmt::format("{}: instance_type = '{}' does not exist in {}", fitting_.node.address, named,
                               fitting_.cloud))
        .with_hint(!near.empty()        ? "did you mean " + near + "?"
                   : names.size() <= 20 ? "it has " + join(names, ", ")
                                        : "run `radlc catalog list` to list instance types");
  }

  Status by_trait(const Trait& trait) {
    std::string wanted = text_wanted(fitting_.node, trait.feature);
    const bool by_default = wanted.empty() && std::string_view(trait.feature) == "cpu.arch";
    if (by_default) {
      if (named_.empty())
        wanted = fitting_.architecture;
      else
        prefer_default_architecture();
    }
    if (wanted.empty()) return {};
    const Types before = left_;
    keep([&](const InstanceType& type) { return trait.has(type, wanted); });
    if (!left_.empty()) return {};
    std::set<std::string> found;
    for (const InstanceType* type : before)
      if (std::string text = trait.text(*type); !text.empty()) found.insert(text);
    std::vector<std::string> texts(found.begin(), found.end());
    return invalid(fmt::format(
        "{}: {} = '{}': no instance type of {} has that{}", fitting_.node.address, trait.feature, wanted,
        fitting_.cloud, texts.empty() ? " together with the rest" : " (there is " + join(texts, ", ") + ")"));
  }

  // Where a cloud does not say whose its GPUs are (OpenStack's flavors), it is believed to have these. A type
  // by its own name is chosen with its GPUs, and so is a pattern of types that all have others.
  Status by_default_gpu() {
    if (fitting_.gpu_vendor.empty() || !asks_for_gpus(fitting_.node) || names_gpus(fitting_.node)) return {};
    const Types before = left_;
    std::set<std::string> others;
    keep([&](const InstanceType& type) {
      const bool fits = type.gpu_vendor.empty() ||
                        holds_ignoring_case(type.gpu_vendor, fitting_.gpu_vendor) ||
                        std::find(named_.begin(), named_.end(), type.name) != named_.end();
      if (!fits) others.insert(type.gpu_vendor);
      return fits;
    });
    passed_over_ = join(std::vector<std::string>(others.begin(), others.end()), ", ");
    auto has_gpu = [](const InstanceType* type) { return type->gpu > 0; };
    if (others.empty() || std::any_of(left_.begin(), left_.end(), has_gpu)) return {};
    if (named_.empty())
      return with_passed_over(
          invalid(fmt::format("{}: gpu.count: no instance type of {} has a GPU of {}", fitting_.node.address,
                              fitting_.cloud, fitting_.gpu_vendor)));
    left_ = before;
    passed_over_.clear();
    return {};
  }

  Status by_measure(const Measure& measure) {
    auto wanted = fitting_.node.requirements.find(measure.feature);
    if (wanted == fitting_.node.requirements.end() || (!wanted->second.min && !wanted->second.max)) return {};
    if (Status known = check_unit(measure, wanted->second); !known.ok()) return known;
    const Types before = left_;
    ir::Requirement enough = wanted->second;
    if (enough.min) *enough.min -= measure.cut;
    keep([&](const InstanceType& type) {
      std::optional<double> value = measure.value(type);
      return value && within(enough, *value);
    });
    return left_.empty() ? with_passed_over(none_has(measure, wanted->second, before)) : Status();
  }

  // Those of the first name that the file gives come first.
  Types take(Market market) && {
    std::sort(left_.begin(), left_.end(), [&](const InstanceType* a, const InstanceType* b) {
      const size_t of_a = place_of(*a), of_b = place_of(*b);
      return of_a != of_b ? of_a < of_b : cheaper(*a, *b, market);
    });
    if (fitting_.sustained) credits_last();
    return std::move(left_);
  }

 private:
  template <class Keeps>
  void keep(Keeps&& keeps) {
    std::erase_if(left_, [&](const InstanceType* type) { return !keeps(*type); });
  }

  // Those of each name that compute by CPU credits, in their order.
  void credits_last() {
    for (auto first = left_.begin(); first != left_.end();) {
      const auto last = std::find_if(
          first, left_.end(), [&](const InstanceType* type) { return place_of(*type) != place_of(**first); });
      std::stable_partition(first, last, [](const InstanceType* type) {
        return burstable(type->cloud, type->name) == nullptr;
      });
      first = last;
    }
  }

  size_t place_of(const InstanceType& type) const {
    return static_cast<size_t>(
        std::find_if(named_.begin(), named_.end(),
                     [&](const std::string& name) { return matches_pattern(type.name, name); }) -
        named_.begin());
  }

  // Whoever names a type by its whole name has chosen its architecture with it. Of those that a pattern
  // matches, the ones of the default architecture are meant, if there are any.
  void prefer_default_architecture() {
    if (fitting_.architecture.empty()) return;
    Types preferred = left_;
    std::erase_if(preferred, [&](const InstanceType* type) {
      const bool named = std::any_of(named_.begin(), named_.end(), [&](const std::string& name) {
        return equal_ignoring_case(name, type->name);
      });
      return !named && !type->runs(fitting_.architecture);
    });
    if (!preferred.empty()) left_ = std::move(preferred);
  }

  // Google's unit counts as Amazon's, as in the Infrastructure Manager; a frequency is neither.
  Status check_unit(const Measure& measure, const ir::Requirement& wanted) const {
    if (std::string_view(measure.feature) != "cpu.performance" || wanted.unit == "ECU" ||
        wanted.unit == "GCEU")
      return {};
    return invalid(fmt::format("{}: cpu.performance in {}: {} measures it in ECU", fitting_.node.address,
                               wanted.unit.empty() ? "no unit" : wanted.unit, fitting_.cloud));
  }

  Status none_has(const Measure& measure, const ir::Requirement& wanted, const Types& before) const {
    std::optional<double> least, most;
    for (const InstanceType* type : before) {
      std::optional<double> value = measure.value(*type);
      if (!value) continue;
      least = std::min(least.value_or(*value), *value);
      most = std::max(most.value_or(*value), *value);
    }
    std::string there = "radlc knows it for none of them";
    if (most) {
      const bool too_much = wanted.max && *least >= *wanted.max;
      there = too_much ? "at least " + measure.text(*least) : "at most " + measure.text(*most);
    }
    return invalid(fmt::format("{}: {}: no instance type of {} has that together with the rest ({})",
                               fitting_.node.address, measure.feature, fitting_.cloud, there));
  }

  Status with_passed_over(Status status) const {
    if (passed_over_.empty()) return status;
    return std::move(status).with_hint(
        fmt::format("radlc chose GPUs of {}, since the file names no gpu.vendor; there are also GPUs of {}",
                    fitting_.gpu_vendor, passed_over_));
  }

  const Fitting& fitting_;
  std::vector<std::string> named_;  // by instance_type
  std::string passed_over_;         // whose GPUs the default left out
  Types left_;
};

}  // namespace

Result<std::vector<const InstanceType*>> fitting_types(const Fitting& fitting) {
  return fitting_types(fitting, market_wanted(fitting.node));
}

Result<std::vector<const InstanceType*>> fitting_types(const Fitting& fitting, Market market) {
  if (fitting.types.empty())
    return invalid(fmt::format("{}: no instance type of {} is known", fitting.node.address, fitting.cloud));
  Filter filter(fitting);
  if (Status left = filter.by_name(); !left.ok()) return left;
  for (const Trait& trait : traits())
    if (Status left = filter.by_trait(trait); !left.ok()) return left;
  if (Status left = filter.by_default_gpu(); !left.ok()) return left;
  for (const Measure& measure : measures(market))
    if (Status left = filter.by_measure(measure); !left.ok()) return left;
  return std::move(filter).take(market);
}

std::string gpu_note(const ir::Node& node) {
  if (!asks_for_gpus(node) || names_gpus(node) || !texts_wanted(node, "instance_type").empty()) return "";
  return fmt::format("system '{}': its GPUs are those of {}, since the file names no gpu.vendor or gpu.model",
                     node.system, kDefaultGpuVendor);
}

Market market_wanted(const ir::Node& node) {
  return says_yes(node, "spot") ? Market::Spot : Market::OnDemand;
}

bool falls_back(const ir::Node& node) {
  return market_wanted(node) == Market::Spot && says_yes(node, "spot.fallback");
}

Result<std::vector<Offer>> with_fallback(std::vector<Offer> offers, Result<std::vector<Offer>> on_demand) {
  if (!on_demand.ok())
    return Status(on_demand.status())
        .with_hint(
            "spot.fallback = 'yes' uses an on-demand machine within the same price: raise price, or remove "
            "spot.fallback");
  offers.insert(offers.end(), on_demand->begin(), on_demand->end());
  return offers;
}

Offer offer_of(const InstanceType& type, Market market) {
  Offer offer;
  offer.name = type.name;
  offer.spec = {{"type", type.name}};
  offer.facts.market = market_name(market);
  offer.facts.cpu = type.cpu;
  offer.facts.memory_bytes = type.memory_bytes;
  offer.facts.gpu = type.gpu;
  if (type.gpu > 0) offer.facts.gpu_model = type.gpu_vendor + " " + type.gpu_model;
  if (type.on_demand) offer.facts.on_demand = type.on_demand->per_hour;
  if (type.spot) offer.facts.spot = type.spot->per_hour;
  const std::optional<Price>& beside = market == Market::Spot ? type.on_demand : type.spot;
  if (beside) offer.facts.beside_as_of = beside->as_of;
  if (const std::optional<Price>& price = type.price(market)) {
    offer.price_per_hour = price->per_hour;
    offer.facts.as_of = price->as_of;
  } else {
    offer.facts.priced = false;
  }
  return offer;
}

std::vector<Offer> in_zones(const std::vector<Offer>& offers, const std::vector<std::string>& zones) {
  if (zones.empty()) return offers;
  std::vector<Offer> all;
  for (const Offer& offer : offers) {
    for (const std::string& zone : zones) {
      all.push_back(offer);
      all.back().zone = zone;
      all.back().spec["zone"] = zone;
    }
  }
  return all;
}

void smallest_first(std::vector<const InstanceType*>& types, Market market) {
  const auto priced = [&](const InstanceType* type) { return type->price(market).has_value(); };
  // Of a training, types without a price are twice: at the end of the sustained ones, and at the end of all.
  for (auto first = types.begin(); first != types.end();) {
    first = std::find_if_not(first, types.end(), priced);
    const auto last = std::find_if(first, types.end(), priced);
    std::stable_sort(first, last, [](const InstanceType* a, const InstanceType* b) {
      return std::tie(a->gpu, a->cpu, a->memory_bytes, a->name) <
             std::tie(b->gpu, b->cpu, b->memory_bytes, b->name);
    });
    first = last;
  }
}

Status check_region(const ir::Node& node, const CloudId& cloud, const Catalog& catalog) {
  auto regions = catalog.regions(cloud.type);
  if (!regions.ok()) return regions.status();
  if (std::find(regions->begin(), regions->end(), cloud.region) != regions->end()) return {};
  const std::string near = nearest(cloud.region, *regions);
  if (near.empty() || edit_distance(near, cloud.region) > kSlip) return {};
  return invalid(fmt::format("{}: region '{}' not found in {}", node.address, cloud.region, cloud.type))
      .with_hint(fmt::format("did you mean {}? To use a region that is newer than the catalog, use --refresh "
                             "or run `radlc catalog update FILE`",
                             near));
}

Result<std::vector<Offer>> offers_by_name(const ir::Node& node, Market market, const std::string& region,
                                          const std::string& example) {
  const auto names = texts_wanted(node, "instance_type");
  const bool exact = !names.empty() && std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return name.find('*') == name.npos;
  });
  if (!exact)
    return invalid(fmt::format("{}: the catalog has no machine types of region {}", node.address, region))
        .with_hint(
            fmt::format("name one: instance_type = '{}'; or run `radlc catalog update FILE`", example));
  if (auto price = node.requirements.find("price");
      price != node.requirements.end() && (price->second.min || price->second.max))
    return invalid(fmt::format("{}: price: the prices of region {} are not known", node.address, region))
        .with_hint("run `radlc catalog update FILE` to get them");
  std::vector<Offer> offers;
  for (const std::string& name : names) {
    Offer offer;
    offer.name = name;
    offer.spec = {{"type", name}};
    offer.facts.market = market_name(market);
    offer.facts.priced = false;
    offers.push_back(std::move(offer));
  }
  return offers;
}

// As people write it: cpu.arch = 'amd64' is what the kernel calls x86_64.
std::string architecture_name(const std::string& text) {
  std::string name = to_lower(text);
  if (name == "amd64" || name == "x64") return "x86_64";
  if (name == "aarch64") return "arm64";
  if (name == "i586" || name == "i686") return "i386";
  return name;
}

Status image_boots(const ir::Node& node, const Survey& survey, const std::string& image,
                   const std::string& type, const std::string& architectures) {
  const Json known = survey.facts.value("image_architectures", Json::object());
  const std::string has = known.value(image, "");
  InstanceType machine;
  machine.architectures = architectures;
  if (!kArchitectures.count(has) || machine.runs(has)) return {};
  return invalid(fmt::format("{}: image '{}' is for {}, and {} is a machine of {}", node.address, image, has,
                             type, architectures))
      .with_hint(fmt::format("set cpu.arch = '{}', or choose an image for the other architecture", has));
}

Status keep_bootable(const ir::Node& node, const Survey& survey, const std::string& image,
                     bool (*is_arm)(const std::string& type), std::vector<Offer>& offers) {
  Status other;
  std::erase_if(offers, [&](const Offer& offer) {
    Status boots = image_boots(node, survey, offer.spec.value("image", image), offer.name,
                               is_arm(offer.name) ? "arm64" : "x86_64,i386");
    if (!boots.ok()) other = boots;
    return !boots.ok();
  });
  return offers.empty() ? other : Status();
}

}  // namespace radl
