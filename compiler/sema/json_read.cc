// RADL-JSON to RADL text.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "compiler/sema/json_value.h"
#include "compiler/sema/quantity.h"
#include "compiler/sema/radl_json.h"

namespace radl::sema {
namespace {

using Kind = JsonValue::Kind;

// A string in quotes; nullopt for the few that RADL cannot write: a backslash at the end, before a quote or
// before a newline, and what looks like 'random(3)'.
std::optional<std::string> quoted(std::string_view text) {
  std::string out = "'";
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (i + 1 == text.size() || text[i + 1] == '\'' || text[i + 1] == '\n') return std::nullopt;
      out += text[i++];
      out += text[i];
    } else {
      if (text[i] == '\'') out += '\\';
      out += text[i];
    }
  }
  return out + "'";
}

bool can_be_id(std::string_view text) {
  static constexpr std::string_view kKeywords[] = {
      "network", "ansible", "system", "soft",      "and",           "contains", "deploy",
      "step",    "with",    "option", "configure", "contextualize", "radl",     "description"};
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool word = !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
  });
  return word && std::find(std::begin(kKeywords), std::end(kKeywords), text) == std::end(kKeywords);
}

// A number as RADL writes it: no sign, no exponent.
std::optional<std::string> plain_number(std::string_view text) {
  if (text.starts_with('-')) return std::nullopt;
  if (text.find_first_of("eE") == std::string_view::npos) return std::string(text);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (!std::isfinite(value)) return std::nullopt;
  char buffer[512];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  if (end.ec != std::errc()) return std::nullopt;
  std::string out(buffer, end.ptr);
  return out.find('.') == std::string::npos ? out + ".0" : out;
}

bool list_name(std::string_view name) {
  return (name.starts_with("disk.") && name.ends_with("image.url")) ||
         (name.starts_with("net_interface.") && name.ends_with("additional_dns_names"));
}

class Reader {
 public:
  Reader(const SourceFile& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  std::optional<std::string> run() {
    JsonValue root;
    if (auto fault = read_json(file_.text(), root)) {
      uint32_t at = static_cast<uint32_t>(std::min(fault->offset, file_.text().size()));
      diagnostics_.report(DiagCode::JsonSyntax, {file_.id(), at, at + 1}, "not JSON: " + fault->message);
      return std::nullopt;
    }
    if (root.kind != Kind::List) {
      type("the document", "is a list of objects");
      return std::nullopt;
    }
    size_t index = 0;
    for (const JsonValue& one : root.items) {
      where_ = "object " + std::to_string(index++);
      if (one.kind != Kind::Object)
        type(where_, "is an object with a `class`");
      else
        object(one);
    }
    if (wrong_) return std::nullopt;
    return front_ + out_;
  }

 private:
  void report(DiagCode code, std::string message) {
    wrong_ = true;
    diagnostics_.report(code, file_.whole(), std::move(message));
  }
  void type(std::string_view what, std::string_view wanted) {
    report(DiagCode::JsonType, std::string(what) + " " + std::string(wanted));
  }
  std::string field(std::string_view name) const { return "field `" + std::string(name) + "` of " + where_; }

  // A member that must be there and be of the kind; null after a report.
  const JsonValue* need(const JsonValue& object, std::string_view name, Kind kind, std::string_view wanted) {
    const JsonValue* value = object.find(name);
    if (!value)
      report(DiagCode::JsonMissing, where_ + " has no `" + std::string(name) + "`");
    else if (value->kind != kind)
      type(field(name), wanted);
    else
      return value;
    return nullptr;
  }

  static bool is_reference(const JsonValue& object) {
    const JsonValue* value = object.find("reference");
    return value && value->kind == Kind::Boolean && value->text == "true";
  }

  void object(const JsonValue& one) {
    const JsonValue* cls = need(one, "class", Kind::String, "is a string");
    if (!cls) return;
    const JsonValue* id = one.find("id");
    where_ = cls->text + (id && id->kind == Kind::String ? " '" + id->text + "'" : " (" + where_ + ")");
    const std::string& name = cls->text;
    if (name == "deploy") return deploy(one);
    if (name == "contextualize") return contextualize(one);
    bool feature_block = name == "network" || name == "system" || name == "ansible" || name == "description";
    if (!feature_block && name != "configure") {
      report(DiagCode::JsonClass, "there is no class '" + name + "' (" + where_ + ")");
      return;
    }
    // The reference writes a number there that means nothing.
    if (name == "description" && (!id || id->kind == Kind::Number)) {
      description(one);
      return;
    }
    id = need(one, "id", Kind::String, "is a string");
    if (!id) return;
    if (name == "configure") return configure(one, id->text);
    std::string text = name + " " + id->text;
    if (!is_reference(one)) {
      std::vector<std::string> lines;
      features(one, lines);
      text += lines.empty() ? " ()" : " (\n" + joined(lines, "  ") + "\n)";
    }
    (name == "description" ? front_ : out_) += text + "\n";
  }

  // Without an id of its own: called what its `name` says, if that can be one.
  void description(const JsonValue& one) {
    const JsonValue* name = one.find("name");
    bool word = name && name->kind == Kind::String && can_be_id(name->text);
    std::vector<std::string> lines;
    features(one, lines);
    front_ += "description " + (word ? name->text : std::string("infrastructure")) +
              (lines.empty() ? " ()" : " (\n" + joined(lines, "  ") + "\n)") + "\n";
  }

  static std::string joined(const std::vector<std::string>& lines, const std::string& indent) {
    std::string out;
    for (size_t i = 0; i < lines.size(); ++i) out += (i ? " and\n" : "") + indent + lines[i];
    return out;
  }

  static std::string inline_group(const std::vector<std::string>& lines) {
    std::string out;
    for (size_t i = 0; i < lines.size(); ++i) out += (i ? " and " : "") + lines[i];
    return "(" + out + ")";
  }

  void features(const JsonValue& object, std::vector<std::string>& lines) {
    for (const auto& [name, value] : object.members) {
      if (name == "class" || name == "id" || name == "reference") continue;
      if (name == "softs")
        softs(value, lines);
      else
        feature(name, value, lines);
    }
  }

  void feature(const std::string& name, const JsonValue& value, std::vector<std::string>& lines) {
    if (value.kind == Kind::List) return list(name, value, lines);
    if (value.kind == Kind::Number) {
      bool min = name.ends_with("_min"), max = name.ends_with("_max");
      std::string bare = min || max ? name.substr(0, name.size() - 4) : name;
      auto number = plain_number(value.text);
      if (!number) return type(field(name), "is a number that RADL cannot write: " + value.text);
      lines.push_back(bare + (min ? " >= " : max ? " <= " : " = ") + *number);
      return;
    }
    if (auto text = scalar(name, value)) lines.push_back(name + " = " + *text);
  }

  std::optional<std::string> scalar(const std::string& name, const JsonValue& value) {
    if (value.kind == Kind::String) {
      auto text = quoted(value.text);
      if (!text)
        type(field(name), "is a string that RADL cannot write (a backslash before a quote or at the end)");
      return text;
    }
    if (value.kind == Kind::Object && is_reference(value)) {
      const JsonValue *cls = value.find("class"), *id = value.find("id");
      if (cls && id && cls->kind == Kind::String && id->kind == Kind::String)
        return cls->text + " " + id->text;
    }
    type(field(name), "is a number, a string or a list");
    return std::nullopt;
  }

  void list(const std::string& name, const JsonValue& value, std::vector<std::string>& lines) {
    bool groups = !value.items.empty() && value.items[0].kind == Kind::Object && !list_name(name);
    if (groups && !is_reference(value.items[0])) {
      for (const JsonValue& item : value.items) {
        std::vector<std::string> inner;
        if (item.kind != Kind::Object) return type(field(name), "is a list of objects");
        features(item, inner);
        lines.push_back(name + " contains " + inline_group(inner));
      }
      return;
    }
    std::string out;
    for (const JsonValue& item : value.items) {
      if (item.kind != Kind::String) return type(field(name), "is a list of strings or of objects");
      auto text = scalar(name, item);
      if (!text) return;
      out += (out.empty() ? "" : ", ") + *text;
    }
    lines.push_back(name + " = [" + out + "]");
  }

  void softs(const JsonValue& value, std::vector<std::string>& lines) {
    if (value.kind != Kind::List) return type(field("softs"), "is a list");
    for (const JsonValue& soft : value.items) {
      if (soft.kind != Kind::Object) return type(field("softs"), "is a list of objects");
      const JsonValue* weight = need(soft, "weight", Kind::Number, "is a number");
      const JsonValue* items = need(soft, "items", Kind::Object, "is an object");
      if (!weight || !items) continue;
      auto number = plain_number(weight->text);
      if (!number) return type(field("weight"), "is a number without sign");
      std::vector<std::string> inner;
      features(*items, inner);
      lines.push_back("soft " + *number + " " + inline_group(inner));
    }
  }

  void configure(const JsonValue& one, const std::string& id) {
    if (is_reference(one)) {
      out_ += "configure " + id + "\n";
      return;
    }
    const JsonValue* recipe = one.find("recipes");
    if (!recipe || recipe->kind == Kind::Null) {
      out_ += "configure " + id + " ()\n";
      return;
    }
    if (recipe->kind != Kind::String) return type(field("recipes"), "is a string or null");
    std::string text = recipe->text;
    if (!text.ends_with('\n')) text += '\n';
    if (text.find("\n@end") != std::string::npos || text.starts_with("@end"))
      return type(field("recipes"), "holds a line that begins with `@end`, which RADL cannot write");
    out_ += "configure " + id + " (\n@begin" + text + "@end\n)\n";
  }

  void deploy(const JsonValue& one) {
    const JsonValue* system = need(one, "system", Kind::String, "is a string");
    const JsonValue* count = need(one, "vm_number", Kind::Number, "is a number");
    if (!system || !count) return;
    auto number = plain_number(count->text);
    if (!number) return type(field("vm_number"), "is a number from 0");
    const JsonValue* cloud = one.find("cloud");
    if (cloud && cloud->kind != Kind::String) return type(field("cloud"), "is a string");
    out_ += "deploy " + system->text + " " + *number + (cloud ? " " + cloud->text : "") + "\n";
  }

  void contextualize(const JsonValue& one) {
    std::string out = "contextualize";
    if (const JsonValue* time = one.find("max_time")) {
      auto number = time->kind == Kind::Number ? plain_number(time->text) : std::nullopt;
      if (!number) return type(field("max_time"), "is a number from 0");
      out += " " + *number;
    }
    std::vector<std::string> lines;
    if (const JsonValue* options = one.find("options")) {
      if (options->kind != Kind::Object) return type(field("options"), "is an object");
      features(*options, lines);
      for (std::string& line : lines) line = "option " + line;
    }
    if (const JsonValue* items = one.find("items")) {
      if (items->kind != Kind::List) return type(field("items"), "is a list");
      for (const JsonValue& item : items->items) context_item(item, lines);
    }
    if (lines.empty()) {
      out_ += out + " ()\n";
      return;
    }
    out += " (\n";
    for (const std::string& line : lines) out += "  " + line + "\n";
    out_ += out + ")\n";
  }

  void context_item(const JsonValue& item, std::vector<std::string>& lines) {
    if (item.kind != Kind::Object) return type(field("items"), "is a list of objects");
    const JsonValue* system = need(item, "system", Kind::String, "is a string");
    const JsonValue* configure = need(item, "configure", Kind::String, "is a string");
    if (!system || !configure) return;
    std::string line = "system " + system->text + " configure " + configure->text;
    if (const JsonValue* step = item.find("step")) {
      auto number = step->kind == Kind::Number ? plain_number(step->text) : std::nullopt;
      if (!number) return type(field("step"), "is a number from 0");
      line += " step " + *number;
    }
    if (const JsonValue* tool = item.find("ctxt_tool")) {
      if (tool->kind != Kind::String) return type(field("ctxt_tool"), "is a string");
      line += " with " + tool->text;
    }
    lines.push_back(line);
  }

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  std::string front_, out_, where_;
  bool wrong_ = false;
};

}  // namespace

std::optional<std::string> from_radl_json(const SourceFile& json, Diagnostics& diagnostics) {
  return Reader(json, diagnostics).run();
}

}  // namespace radl::sema
