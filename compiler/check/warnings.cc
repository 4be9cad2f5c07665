// Warnings about single features: nothing here refuses a document.
#include <algorithm>
#include <string>
#include <vector>

#include "common/text.h"
#include "compiler/check/check.h"

namespace radl::sema {
namespace {

// What is no feature in `radl 2`, and how it is written. "" for any other name.
std::string_view written_elsewhere(std::string_view name) {
  constexpr std::string_view kCommands =
      "put commands into a recipe: `configure setup ( command 'make install' )`, and `contextualize ( system "
      "worker configure setup )`";
  constexpr std::string_view kPorts =
      "a network opens ports: `network web ( outbound = 'yes', outports = '80/tcp,443/tcp' )`";
  static constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
      {"depends_on",
       "recipes have an order, systems have none: `system web configure app after database` in "
       "`contextualize`"},
      {"for_each", "wrap the system in `each`: `each name in LIST ( system 'worker-${name}' ( ... ) )`"},
      {"user_data",
       "cloud-init is a recipe: `system worker configure NAME with cloud_init` in `contextualize` sends it"},
      {"run", kCommands},
      {"setup", kCommands},
      {"ports", kPorts},
      {"ingress", kPorts},
      {"security_groups", kPorts},
      {"vpc_security_group_ids", kPorts},
      {"tags", "put all tags into one string: `instance_tags = 'project=web,stage=test'`"}};
  const std::string_view first = name.substr(0, name.find('.'));
  for (const auto& [other, here] : kElsewhere)
    if (other == first) return here;
  return {};
}

// A feature of `radl 2` in a file of RADL 1.
std::string_view of_radl2(Scope scope, std::string_view name) {
  if (scope != Scope::System || find_feature(Scope::Radl2System, name) == nullptr) return {};
  return name == "count" || name == "cloud" ? "it belongs to `radl 2`; in RADL 1, `deploy NAME 2 CLOUD` "
                                              "gives the number of nodes and the cloud"
                                            : "it belongs to `radl 2`; RADL 1 has numbered features such as "
                                              "`net_interface.0.connection` and "
                                              "`disk.1.size`";
}

void warn_unknown(Scope scope, const Merged& feature, Diagnostics& diagnostics) {
  std::string near = nearest_feature(scope, feature.name());
  // A description says what it likes.
  if (near.empty() && scope == Scope::Description) return;
  const std::string name(feature.name());
  const Span at = feature.first->name_span;
  bool strict = feature.first->strict && scope != Scope::Description;
  Diagnostic& warning = diagnostics.report(
      strict ? DiagCode::NoSuchFeature : DiagCode::UnknownFeature, at,
      strict ? "there is no feature `" + name + "`" : "no feature `" + name + "` is known");
  if (strict && name == "when") {
    warning.with_help(
        "a system is made where it is deployed: `deploy NAME 1 when = condition`, or `count = if condition "
        "then 1 else 0` in it");
    return;
  }
  if (const std::string_view help = strict ? written_elsewhere(name) : of_radl2(scope, name); !help.empty()) {
    warning.with_help(std::string(help));
    return;
  }
  const auto text = feature.text();
  if (near == "gpu.count" && text) near = "gpu.model";
  if (const size_t colon = text.value_or("").find(':');
      near == "gpu.model" && colon != std::string_view::npos) {
    warning.with_help("the number is a feature of its own: `gpu.model = '" +
                      std::string(text->substr(0, colon)) +
                      "'` and `gpu.count >= " + std::string(text->substr(colon + 1)) + "`");
    return;
  }
  if (near.empty()) {
    warning.with_help(strict ? "`radlc doc --features` lists them; a file of RADL 1 may hold others"
                             : "it is kept and exported, but nothing reads it");
    return;
  }
  warning.labelled("did you mean `" + near + "`?");
  // A record has only the end of the name.
  const size_t unwritten = feature.first->unwritten;
  const std::string_view prefix = feature.name().substr(0, std::min(unwritten, feature.name().size()));
  // A computed name is one string that makes several names.
  const bool as_written = !strict || at.size() + prefix.size() == name.size();
  if (as_written && (unwritten == 0 || (prefix.size() < feature.name().size() && near.starts_with(prefix))))
    warning.fix("write `" + near.substr(prefix.size()) + "`", at, near.substr(prefix.size()));
}

void warn_secret(const Merged& feature, Diagnostics& diagnostics) {
  auto text = feature.text();
  if (!text || text->empty() || text->find("@input.") != std::string_view::npos) return;
  diagnostics
      .report(DiagCode::PlainSecret, feature.first->name_span,
              "`" + std::string(feature.name()) + "` is written in plain text")
      .with_help("make it an input");
}

// user:password@host
void warn_proxy(const Merged& feature, Diagnostics& diagnostics) {
  auto text = feature.text();
  if (!text || text->find("@input.") != std::string_view::npos) return;
  size_t at = text->rfind('@');
  if (at == std::string_view::npos || text->substr(0, at).find(':') == std::string_view::npos) return;
  diagnostics
      .report(DiagCode::PlainSecret, feature.value->span(),
              "the password for the gateway is written in plain text")
      .with_help("make it an input, or give the key in `proxy_key`");
}

void warn_image(const hir::Value& value, Diagnostics& diagnostics, std::span<const std::string> known) {
  auto text = value.text();
  if (!text) return;
  size_t colon = text->find("://");
  if (colon == std::string_view::npos) return;
  std::string scheme = to_lower(text->substr(0, colon));
  if (known.empty() || std::ranges::find(known, scheme) != known.end()) return;
  Diagnostic& d = diagnostics.report(DiagCode::UnknownImageScheme, value.span(),
                                     "no provider has images at `" + scheme + "://`");
  if (auto near = nearest_name(scheme, std::vector<std::string>(known.begin(), known.end())))
    d.labelled("did you mean `" + std::string(*near) + "://`?");
}

}  // namespace

void warn_feature(Scope scope, const FeatureSpec* spec, const Merged& feature, Diagnostics& diagnostics,
                  const CheckOptions& options) {
  std::string_view name = feature.name();
  if (!spec && !name.starts_with("ec3_")) warn_unknown(scope, feature, diagnostics);
  // `radl 2` is not converted to RADL-JSON.
  bool range = feature.kind == Merged::Kind::Number && feature.lower.from && feature.upper.from &&
               !feature.first->strict;
  if (range && !(Quantity::of(*feature.lower.number()) == Quantity::of(*feature.upper.number())))
    diagnostics.report(DiagCode::RangeLost, feature.upper.from->span,
                       "RADL-JSON cannot hold this upper bound beside the lower one");
  if (feature.kind == Merged::Kind::Value) {
    if (is_secret_name(name)) warn_secret(feature, diagnostics);
    if (scope == Scope::Network && name == "proxy_host") warn_proxy(feature, diagnostics);
    if (feature.value->kind() == hir::Kind::List && !name.ends_with("image.url") &&
        !name.ends_with("additional_dns_names"))
      diagnostics.report(DiagCode::ListElsewhere, feature.value->span(),
                         "services cannot read a list under `" + std::string(name) + "` back");
    if (name.ends_with("image.url")) {
      warn_image(*feature.value, diagnostics, options.image_schemes);
      if (auto* list = feature.value->list())
        for (const hir::Value item : *list) warn_image(item, diagnostics, options.image_schemes);
    }
    auto text = feature.text();
    if (scope == Scope::Application && name == "name" && text && text->starts_with("ansible.modules."))
      diagnostics
          .report(DiagCode::OldModulePrefix, feature.value->span(),
                  "services read `ansible.modules.` as the name of a package today")
          .fix("write `ansible.roles.`", feature.value->span(),
               "'ansible.roles." + std::string(text->substr(16)) + "'");
  }
}

}  // namespace radl::sema
