#include <fmt/format.h>

#include "compiler/eval/hir.h"

namespace radl::hir {

namespace {

class Dump {
 public:
  Dump(const SourceMap& sources, bool (*hidden)(std::string_view)) : sources_(sources), hidden_(hidden) {}

  std::string part(const Part& part) {
    std::string out;
    for (const auto* blocks :
         {&part.networks, &part.ansibles, &part.systems, &part.descriptions, &part.generals})
      for (const Block& each : *blocks) line(out, block(each));
    for (const Deploy& each : part.deploys)
      line(out, fmt::format("deploy {} {} {}", each.system.text, value(each.count), each.cloud.text));
    for (const Configure& each : part.configures) line(out, configure(each));
    for (const Contextualize& each : part.contextualizes) line(out, contextualize(each));
    return out;
  }

 private:
  static void line(std::string& out, std::string text) {
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  }

  std::string value(const Value& value) const {
    if (value.sensitive()) return "(a secret)";
    if (auto* number = value.number()) return fmt::format("{}{}", number->digits, number->unit.text);
    if (auto text = value.text()) return fmt::format("'{}'", *text);
    if (auto* list = value.list()) {
      std::string all;
      for (const Value item : *list) all += (all.empty() ? "" : ", ") + this->value(item);
      return "[" + all + "]";
    }
    return std::string(sources_.text(value.span()));
  }

  std::string feature(const Feature& feature, int indent) const {
    if (auto* group = feature.value.group())
      return fmt::format("{} contains {}", feature.name, features(*group, indent + 2));
    bool secret = hidden_(feature.name) && !feature.value.number();
    return fmt::format("{} {} {}", feature.name, ast::op_text(feature.op),
                       secret ? "(a secret)" : value(feature.value));
  }

  std::string features(const Features& features, int indent) const {
    std::string text = "(";
    auto add = [&](const std::string& one) { text += fmt::format("\n{:{}}{}", "", indent, one); };
    for (const Feature& each : features.items) add(feature(each, indent));
    for (const Soft& soft : features.softs)
      add(fmt::format("soft {} {}", soft.weight.number() ? soft.weight.number()->digits : "",
                      this->features(*soft.features, indent + 2)));
    return text + (text.size() == 1 ? ")" : " )");
  }

  std::string block(const Block& block) const {
    return fmt::format("{} {} {}", block.keyword.text, block.name.text,
                       block.present ? features(block.features, 2) : "");
  }

  // Resources are not evaluated yet and appear as written.
  std::string configure(const Configure& configure) const {
    const ast::Configure& written = *configure.written;
    std::string text = fmt::format("configure {}", configure.name.text);
    if (!written.has_body) return text;
    if (written.recipe != nullptr)
      return fmt::format("{} ( recipe of {} bytes )", text, written.recipe->text.size());
    text += " (";
    for (const ast::Resource* resource : written.resources)
      text += fmt::format("\n  {}", sources_.text(resource->span));
    return text + " )";
  }

  std::string contextualize(const Contextualize& block) const {
    std::string text = "contextualize (";
    for (const Feature& option : block.options)
      text += fmt::format("\n  option {} = {}", option.name, value(option.value));
    for (const Item& item : block.items) {
      text += fmt::format("\n  system {} configure {}", item.system.text, item.configure.text);
      if (item.step != nullptr) text += fmt::format(" step {}", item.step->digits);
      if (item.tool) text += fmt::format(" with {}", item.tool.text);
      for (const ast::Name& name : item.after) text += fmt::format(" after {}", name.text);
    }
    return text + " )";
  }

  const SourceMap& sources_;
  bool (*hidden_)(std::string_view);
};

}  // namespace

std::string dump(const Document& document, const SourceMap& sources, bool (*hidden)(std::string_view)) {
  std::string out;
  for (const Part& part : document.parts) out += Dump(sources, hidden).part(part);
  return out;
}

}  // namespace radl::hir
