#include "runtime/serve/document.h"

#include <algorithm>
#include <charconv>

#include "compiler/compat/json/radl_json.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"
#include "runtime/serve/tosca.h"

namespace radl::serve {
namespace {

Status refused(const Diagnostics& findings, const SourceMap& sources) {
  return Status(Code::Invalid, errors_text(findings, sources));
}

// A block that only names what is defined elsewhere.
bool is_reference(const ast::Block& block) {
  if (const auto* features = ast::as<ast::FeatureBlock>(&block)) return !features->body.present;
  if (const auto* configure = ast::as<ast::Configure>(&block)) return !configure->has_body;
  return false;
}

bool is_definition_that_stays(std::string_view kind) { return kind == "network" || kind == "ansible"; }

Status mixed() {
  return Status(Code::Invalid, "an infrastructure of a `radl 2` document takes no additions")
      .with_hint("create another infrastructure, or apply the changed file with radlc");
}

struct FeatureText {
  std::string name, text;  // "": a soft group
};

std::vector<FeatureText> features_of(const std::string& system) {
  SourceMap sources;
  Diagnostics findings;
  const SourceFile& source = sources.add("system.radl", system);
  const auto tree = radl::parse(source, findings);
  std::vector<FeatureText> features;
  const auto* block = tree->blocks.begin() == tree->blocks.end()
                          ? nullptr
                          : ast::as<ast::FeatureBlock>(*tree->blocks.begin());
  if (!block) return features;
  for (const ast::Feature* feature : block->body.items)
    features.push_back(
        {feature->form == ast::FeatureKind::Simple ? std::string(feature->name.text) : std::string(),
         std::string(source.text(feature->span))});
  return features;
}

}  // namespace

std::string errors_text(const Diagnostics& findings, const SourceMap& sources, std::string_view folder) {
  std::string text;
  bool unknown = false;
  for (const Diagnostic& one : findings.all()) {
    if (one.severity != Severity::Error) continue;
    text += (text.empty() ? "" : "\n") + render_text(one, sources);
    unknown |= one.code == DiagCode::UnknownNetwork || one.code == DiagCode::UnknownSystem ||
               one.code == DiagCode::UnknownConfigure || one.code == DiagCode::UnknownAnsibleHost;
  }
  if (unknown) text.insert(0, "Unknown reference in RADL: ");  // clients of the IM look for this prefix
  while (text.ends_with('\n')) text.pop_back();
  while (!folder.empty() && text.find(folder) != text.npos) text.erase(text.find(folder), folder.size());
  return text;
}

Result<Document> Document::parse(std::string_view radl) {
  SourceMap sources;
  Diagnostics findings;
  const SourceFile& source = sources.add("document.radl", std::string(radl));
  const auto tree = radl::parse(source, findings);
  if (findings.has_errors()) return refused(findings, sources);
  Document document;
  document.radl2_ = tree->dialect == ast::Dialect::Radl2;
  document.whole_ = document.radl2_ ? std::string(radl) : std::string();
  for (const ast::Block* block : tree->blocks) {
    if (const auto* deploy = ast::as<ast::Deploy>(block)) {
      int count = 0;
      const auto* number = ast::as<ast::Number>(deploy->count);
      const std::string_view digits = number ? source.text(number->span) : std::string_view();
      std::from_chars(digits.data(), digits.data() + digits.size(), count);
      const auto* cloud = ast::as<ast::String>(deploy->cloud);
      document.deploy(
          {std::string(deploy->name.text), count, std::string(cloud ? cloud->text : std::string_view())});
    } else if (const auto* lines = ast::as<ast::Contextualize>(block)) {
      if (lines->max_time) document.max_time_ = source.text(lines->max_time->span);
      for (const auto* option : lines->options) document.options_.emplace_back(source.text(option->span));
      for (const auto* item : lines->items) document.items_.emplace_back(source.text(item->span));
    } else if (!is_reference(*block)) {
      document.parts_.push_back({std::string(block->keyword.text), std::string(block->name.text),
                                 std::string(source.text(block->span))});
    }
  }
  return document;
}

Result<Document> Document::from_json(std::string_view json) {
  SourceMap sources;
  Diagnostics findings;
  const auto text = sema::from_radl_json(sources.add("document.json", std::string(json)), findings);
  if (!text || findings.has_errors()) return refused(findings, sources);
  return parse(*text);
}

Result<Document> Document::from_tosca(std::string_view tosca) {
  auto radl = tosca_to_radl(std::string(tosca));
  if (!radl.ok()) return radl.status();
  auto document = parse(*radl);
  if (document.ok()) document->tosca_ = tosca;
  return document;
}

const Document::Part* Document::find(std::string_view kind, std::string_view name) const {
  const auto found = std::ranges::find_if(
      parts_, [&](const Part& part) { return part.kind == kind && part.name == name && !name.empty(); });
  return found == parts_.end() ? nullptr : &*found;
}

void Document::put(const Part& part, bool replace) {
  const Part* old = find(part.kind, part.name);
  if (!old)
    parts_.push_back(part);
  else if (replace)
    parts_[size_t(old - parts_.data())].text = part.text;
}

Result<std::vector<Document::Deploy>> Document::add(const Document& more) {
  if (radl2_ || more.radl2_) return mixed();
  for (const Deploy& wanted : more.deploys_) {
    const auto here = std::ranges::find(deploys_, wanted.system, &Deploy::system);
    if (here != deploys_.end() && !wanted.cloud.empty() && wanted.cloud != here->cloud)
      return Status(Code::Invalid, "system " + wanted.system + " is deployed on " +
                                       (here->cloud.empty() ? "the default cloud" : here->cloud) +
                                       ", not on " + wanted.cloud);
  }
  for (const Part& part : more.parts_) put(part, !is_definition_that_stays(part.kind));
  options_.insert(options_.end(), more.options_.begin(), more.options_.end());
  for (const std::string& item : more.items_)
    if (std::ranges::find(items_, item) == items_.end()) items_.push_back(item);
  if (!more.max_time_.empty()) max_time_ = more.max_time_;
  return more.deploys_;
}

Status Document::reconfigure(const Document& more) {
  if (radl2_ || more.radl2_) return mixed();
  for (const Part& part : more.parts_)
    if (part.kind == "configure") put(part, true);
  for (const std::string& item : more.items_)
    if (std::ranges::find(items_, item) == items_.end()) items_.push_back(item);
  return {};
}

Status Document::alter(const std::string& system, const Document& more) {
  if (radl2_ || more.radl2_) return mixed();
  const auto wanted = std::ranges::find(more.parts_, "system", &Part::kind);
  const Part* old = find("system", system);
  if (wanted == more.parts_.end() || !old) return Status(Code::Invalid, "the document has no system");
  const auto changed = features_of(wanted->text);
  std::string text;
  const auto add = [&](const FeatureText& feature) {
    text += (text.empty() ? "" : " and\n  ") + feature.text;
  };
  for (const FeatureText& feature : features_of(old->text))
    if (feature.name.empty() || std::ranges::find(changed, feature.name, &FeatureText::name) == changed.end())
      add(feature);
  for (const FeatureText& feature : changed) add(feature);
  put({"system", system, "system " + system + " (\n  " + text + "\n)"}, true);
  return {};
}

bool Document::has_deploy(std::string_view system) const {
  return std::ranges::find(deploys_, system, &Deploy::system) != deploys_.end();
}

void Document::deploy(const Deploy& one) {
  const auto found = std::ranges::find(deploys_, one.system, &Deploy::system);
  if (found == deploys_.end())
    deploys_.push_back(one);
  else
    found->count += one.count;
}

std::string Document::text() const {
  if (radl2_) return whole_;
  std::string out;
  for (const Part& part : parts_) out += part.text + "\n\n";
  if (!options_.empty() || !items_.empty() || !max_time_.empty()) {
    out += "contextualize " + max_time_ + (max_time_.empty() ? "(\n" : " (\n");
    for (const auto& option : options_) out += option + "\n";
    for (const auto& item : items_) out += item + "\n";
    out += ")\n\n";
  }
  for (const Deploy& one : deploys_)
    out += "deploy " + one.system + " " + std::to_string(one.count) +
           (one.cloud.empty() ? "" : " " + one.cloud) + "\n";
  return out;
}

}  // namespace radl::serve
