#include "common/digest.h"
#include "compiler/compat/json/json_value.h"
#include "compiler/compat/json/radl_json.h"

namespace radl::sema {
namespace {

std::string random_text(int length) {
  static constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string out;
  while (static_cast<int>(out.size()) < length)
    for (char byte : random_bytes(16)) {
      size_t index = static_cast<unsigned char>(byte);
      if (index < 248 && static_cast<int>(out.size()) < length) out += kLetters[index % kLetters.size()];
    }
  return out;
}

class Writer {
 public:
  Writer(const JsonOptions& options, bool cluster) : options_(options), cluster_(cluster) {}

  JsonValue value(const hir::Value& made) const {
    if (auto* number = made.number()) return JsonValue::number(Quantity::of(*number).json());
    if (auto text = made.text()) return JsonValue::string(*text);
    if (auto boolean = made.boolean()) return JsonValue::string(*boolean ? "yes" : "no");
    if (made.kind() == hir::Kind::Random)
      return JsonValue::string(options_.fill_random ? random_text(made.random_length())
                                                    : "random(" + std::to_string(made.random_length()) + ")");
    if (auto* reference = made.reference()) {
      JsonValue out = JsonValue::object();
      out.set("class", JsonValue::string(reference->target_kind.text));
      out.set("id", JsonValue::string(reference->target.text));
      out.set("reference", JsonValue::boolean(true));
      return out;
    }
    JsonValue out = JsonValue::list();
    if (auto* list = made.list())
      for (ast::Expr* const& item : *list) {
        // The reference loses an empty text in front.
        if (&item == list->begin() && hir::Value(item).text() == "") continue;
        out.items.push_back(value(item));
      }
    return out;
  }

  void features(JsonValue& out, const FeatureSet& set) const {
    for (const Merged& item : set.items) {
      std::string name(item.name());
      switch (item.kind) {
        case Merged::Kind::Number:
          number(out, name, item.lower.number(), item.upper.number());
          break;
        case Merged::Kind::Value:
          out.set(name, value(*item.value));
          break;
        case Merged::Kind::Unknown:
          break;
        case Merged::Kind::Set: {
          if (cluster_) {
            out.set(name, JsonValue::string(joined(item)));
            break;
          }
          JsonValue list = JsonValue::list();
          for (const hir::Feature* one : item.set) list.items.push_back(value(one->value));
          out.set(name, std::move(list));
          break;
        }
        case Merged::Kind::Groups: {
          JsonValue list = JsonValue::list();
          for (const FeatureSet& group : item.groups) {
            list.items.push_back(JsonValue::object());
            features(list.items.back(), group);
          }
          out.set(name, std::move(list));
        }
      }
    }
    if (set.softs.empty()) return;
    JsonValue list = JsonValue::list();
    for (const Soft& soft : set.softs) {
      JsonValue one = JsonValue::object(), items = JsonValue::object();
      features(items, soft.features);
      one.set("weight", JsonValue::number(Quantity::written(*soft.from->weight.number()).json()));
      one.set("items", std::move(items));
      list.items.push_back(std::move(one));
    }
    out.set("softs", std::move(list));
  }

  // Both ends written alike: the name; else the lower one if there is one.
  static void number(JsonValue& out, const std::string& name, const hir::Number* lower,
                     const hir::Number* upper) {
    bool same = lower && upper && Quantity::written(*lower) == Quantity::written(*upper);
    const hir::Number* shown = lower ? lower : upper;
    out.set(name + (same ? "" : lower ? "_min" : "_max"), JsonValue::number(Quantity::of(*shown).json()));
  }

  JsonValue definition(std::string_view cls, const Definition& made) const {
    JsonValue out = head(cls, made.block->name.text);
    if (made.reference)
      out.set("reference", JsonValue::boolean(true));
    else
      features(out, made.features);
    return out;
  }

  static JsonValue head(std::string_view cls, std::string_view id) {
    JsonValue out = JsonValue::object();
    out.set("class", JsonValue::string(cls));
    out.set("id", JsonValue::string(id));
    return out;
  }

  static JsonValue configure(const hir::Configure& definition) {
    const ast::Configure& made = *definition.written;
    JsonValue out = head("configure", definition.name.text);
    if (!made.has_body)
      out.set("reference", JsonValue::boolean(true));
    else
      out.set("recipes", made.recipe ? JsonValue::string(made.recipe->text) : JsonValue{});
    return out;
  }

  static JsonValue deploy(const hir::Deploy& made) {
    JsonValue out = JsonValue::object();
    out.set("class", JsonValue::string("deploy"));
    out.set("system", JsonValue::string(made.system.text));
    if (auto* count = made.count.number())
      out.set("vm_number", JsonValue::number(Quantity::of(*count).json()));
    if (made.cloud) out.set("cloud", JsonValue::string(made.cloud.text));
    return out;
  }

  JsonValue contextualize(const Document& document) const {
    JsonValue out = JsonValue::object();
    out.set("class", JsonValue::string("contextualize"));
    if (document.max_time && document.max_time->real != 0)
      out.set("max_time", JsonValue::number(Quantity::written(*document.max_time).json()));
    JsonValue items = JsonValue::list();
    for (const hir::Item* item : document.items) {
      JsonValue one = JsonValue::object();
      one.set("system", JsonValue::string(item->system.text));
      one.set("configure", JsonValue::string(item->configure.text));
      if (item->step && item->step->real != 0)
        one.set("step", JsonValue::number(Quantity::written(*item->step).json()));
      if (item->tool) one.set("ctxt_tool", JsonValue::string(item->tool.text));
      items.items.push_back(std::move(one));
    }
    if (!items.items.empty()) out.set("items", std::move(items));
    JsonValue made = JsonValue::object();
    for (const hir::Feature* option : document.options) {
      std::string name(option->name);
      if (auto* count = option->value.number()) {
        bool lower = option->op == ast::Op::Eq || option->op == ast::Op::Gt || option->op == ast::Op::Ge;
        bool upper = option->op == ast::Op::Eq || option->op == ast::Op::Lt || option->op == ast::Op::Le;
        number(made, name, lower ? count : nullptr, upper ? count : nullptr);
      } else {
        made.set(name, value(option->value));
      }
    }
    if (!made.members.empty()) out.set("options", std::move(made));
    return out;
  }

 private:
  const JsonOptions& options_;
  bool cluster_;  // EC3's, complete: as EC3 sends it
};

}  // namespace

std::string to_radl_json(const Document& document, const JsonOptions& options) {
  bool cluster = document.dialect == ast::Dialect::Ec3 && !document.partial;
  Writer writer(options, cluster);
  std::string out = "[";
  bool first = true;
  auto put = [&](const JsonValue& value) {
    out += first ? "\n  " : ",\n  ";
    first = false;
    write_json(out, value, 2);
  };
  for (const Definition& one : document.ansibles.list) put(writer.definition("ansible", one));
  for (const Definition& one : document.networks.list) put(writer.definition("network", one));
  for (const Definition& one : document.systems.list) put(writer.definition("system", one));
  for (const ConfigureDefinition& one : document.configures.list) put(Writer::configure(*one.block));
  for (const hir::Deploy* one : document.deploys) put(Writer::deploy(*one));
  if (document.contextualized) put(writer.contextualize(document));
  if (!cluster)
    for (const Definition& one : document.descriptions) put(writer.definition("description", one));
  out += first ? "]\n" : "\n]\n";
  return out;
}

}  // namespace radl::sema
