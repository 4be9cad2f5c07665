#include "common/digest.h"
#include "compiler/sema/json_value.h"
#include "compiler/sema/radl_json.h"

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

  JsonValue value(const ast::Expr& expr) const {
    if (auto* number = ast::as<ast::Number>(&expr)) return JsonValue::number(Quantity::of(*number).json());
    if (auto* text = ast::as<ast::String>(&expr)) return JsonValue::string(text->text);
    if (auto* boolean = ast::as<ast::Boolean>(&expr)) return JsonValue::string(boolean->value ? "yes" : "no");
    if (auto* random = ast::as<ast::Random>(&expr))
      return JsonValue::string(options_.fill_random ? random_text(random->length)
                                                    : "random(" + std::to_string(random->length) + ")");
    if (auto* reference = ast::as<ast::Ec3Reference>(&expr)) {
      JsonValue out = JsonValue::object();
      out.set("class", JsonValue::string(reference->target_kind.text));
      out.set("id", JsonValue::string(reference->target.text));
      out.set("reference", JsonValue::boolean(true));
      return out;
    }
    JsonValue out = JsonValue::list();
    if (auto* list = ast::as<ast::ListValue>(&expr))
      for (const ast::Expr* item : list->items) {
        // The reference loses an empty text in front.
        auto* text = ast::as<ast::String>(item);
        if (text && text->text.empty() && item == list->items[0]) continue;
        out.items.push_back(value(*item));
      }
    return out;
  }

  void features(JsonValue& out, const FeatureSet& set) const {
    for (const Merged& item : set.items) {
      std::string name(item.name());
      switch (item.kind) {
        case Merged::Kind::Number:
          number(out, name, item.lower.number, item.upper.number);
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
          for (const ast::Expr* one : item.set) list.items.push_back(value(*one));
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
      features(items, *soft.features);
      one.set("weight", JsonValue::number(Quantity::written(*soft.from->weight).json()));
      one.set("items", std::move(items));
      list.items.push_back(std::move(one));
    }
    out.set("softs", std::move(list));
  }

  // Both ends written alike: the name; else the lower one if there is one.
  static void number(JsonValue& out, const std::string& name, const ast::Number* lower,
                     const ast::Number* upper) {
    bool same = lower && upper && Quantity::written(*lower) == Quantity::written(*upper);
    const ast::Number* shown = lower ? lower : upper;
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

  static JsonValue configure(const ast::Configure& made) {
    JsonValue out = head("configure", made.name.text);
    if (!made.has_body)
      out.set("reference", JsonValue::boolean(true));
    else
      out.set("recipes", made.recipe ? JsonValue::string(made.recipe->text) : JsonValue{});
    return out;
  }

  static JsonValue deploy(const ast::Deploy& made) {
    JsonValue out = JsonValue::object();
    out.set("class", JsonValue::string("deploy"));
    out.set("system", JsonValue::string(made.name.text));
    auto* count = ast::as<ast::Number>(made.count);
    if (count) out.set("vm_number", JsonValue::number(Quantity::of(*count).json()));
    if (made.cloud) out.set("cloud", JsonValue::string(made.cloud.text));
    return out;
  }

  JsonValue contextualize(const Document& document) const {
    JsonValue out = JsonValue::object();
    out.set("class", JsonValue::string("contextualize"));
    if (document.max_time && document.max_time->real != 0)
      out.set("max_time", JsonValue::number(Quantity::written(*document.max_time).json()));
    JsonValue items = JsonValue::list();
    for (const ast::Item* item : document.items) {
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
    for (const ast::Option* option : document.options) {
      std::string name(option->name.text);
      if (auto* count = ast::as<ast::Number>(option->value)) {
        bool lower = option->op == ast::Op::Eq || option->op == ast::Op::Gt || option->op == ast::Op::Ge;
        bool upper = option->op == ast::Op::Eq || option->op == ast::Op::Lt || option->op == ast::Op::Le;
        number(made, name, lower ? count : nullptr, upper ? count : nullptr);
      } else {
        made.set(name, value(*option->value));
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
  for (const ast::Deploy* one : document.deploys) put(Writer::deploy(*one));
  if (document.contextualized) put(writer.contextualize(document));
  if (!cluster)
    for (const Definition& one : document.descriptions) put(writer.definition("description", one));
  out += first ? "]\n" : "\n]\n";
  return out;
}

}  // namespace radl::sema
