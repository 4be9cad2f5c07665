#include "tools/doc/features_page.h"

#include "compiler/check/check.h"
#include "compiler/check/features.h"
#include "tools/doc/markdown.h"

namespace radl {
namespace {

constexpr char kFeaturesHead[] =
    "# Features\n\n"
    "This page is for you if you write RADL: it lists every feature with its type, operators and default. It "
    "is generated from\n"
    "`compiler/check/features.def`; do not edit it. `radlc doc --features` prints it.\n"
    "\n"
    "- `N` and `I` are numbers from 0. `.*` stands for any further parts.\n"
    "- An unknown feature is kept and exported, with a warning (W0301).\n"
    "- radlc checks the values of all features except those marked *any*, which it keeps and exports "
    "unchecked.\n"
    "- Units and the words of a choice may be in any case.\n"
    "- Numbers may have a range: `cpu.count >= 2 and cpu.count <= 8`. In `radl 2`, a comma replaces `and`.\n";

struct FeaturePart {
  sema::Scope scope;
  std::string_view title, text;
};
constexpr FeaturePart kFeatureParts[] = {
    {sema::Scope::Network, "network", ""},
    {sema::Scope::System, "system", ""},
    {sema::Scope::Radl2System, "system (`radl 2` only)",
     "A map stands for the features with one prefix: `gpu = { count = 4 }` is `gpu.count = 4`."},
    {sema::Scope::Application, "disk.N.applications contains (...)", ""},
    {sema::Scope::Ansible, "ansible",
     "`host`, `credentials.username`, and one of `credentials.password` and `credentials.private_key` must "
     "be given."},
    {sema::Scope::Description, "description", "May contain any other feature."},
    {sema::Scope::Option, "option (of contextualize)", ""},
};

template <class Words>
std::string listed(const Words& words) {
  std::string out;
  for (std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

std::string takes(const sema::FeatureSpec& spec) {
  std::string out(sema::type_name(spec.type));
  if (!spec.values.empty()) out += ": " + listed(spec.values);
  if (auto units = sema::units_of(spec.unit); !units.empty())
    out += spec.unit == sema::UnitClass::Size ? ", size" : ", with " + listed(units);
  const bool checked = sema::is_checked(spec, {.for_run = true});
  return checked || spec.type == sema::FeatureType::Any ? out : out + " (*any*)";
}

std::string_view written(sema::Operators operators) {
  switch (operators) {
    case sema::Operators::Equal:
      return "=";
    case sema::Operators::All:
      return "= < > <= >=";
    case sema::Operators::Contains:
      return "contains";
  }
  return "";
}

}  // namespace

std::string features_page() {
  std::string out = kFeaturesHead;
  out += "\nA size is a number, optionally with one of the units " +
         listed(sema::units_of(sema::UnitClass::Size)) + ".\n";
  for (const FeaturePart& part : kFeatureParts) {
    out += "\n## " + std::string(part.title) + "\n\n";
    if (!part.text.empty()) out += std::string(part.text) + "\n\n";
    out += "| feature | takes | operators | default | meaning |\n|---|---|---|---|---|\n";
    for (const sema::FeatureSpec& spec : sema::all_features()) {
      if (spec.scope != part.scope) continue;
      out +=
          "| `" + std::string(spec.name) + "` | " + cell(takes(spec)) + " | " +
          std::string(spec.scope == sema::Scope::Radl2System ? "=" : written(sema::operators_of(spec.type))) +
          " | " + cell(spec.default_value) + " | " + cell(spec.documentation) + " |\n";
    }
  }
  return out;
}

}  // namespace radl
