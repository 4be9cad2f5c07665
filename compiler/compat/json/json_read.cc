// RADL-JSON to RADL text.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "compiler/compat/json/json_value.h"
#include "compiler/compat/json/radl_json.h"
#include "compiler/eval/quantity.h"
#include "compiler/syntax/words.h"

namespace radl::sema {
namespace {

using Kind = JsonValue::Kind;

// A string in quotes; nullopt for the few that RADL cannot write: a backslash at the end, before a quote or
// before a newline, a NUL, and what looks like 'random(3)'.
std::optional<std::string> quote_text(std::string_view text) {
  std::string out = "'";
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0') return std::nullopt;
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
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool word = !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
  });
  return word && text != "radl" && !is_reserved_in_radl1(text);
}

// Whether the scanner would take the text for one name; what comes of it otherwise is anything.
bool one_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.' || c == '-' || c >= 0x80;
  });
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
      type(root, "the document", "is a list of objects");
      return std::nullopt;
    }
    size_t index = 0;
    for (const JsonValue& one : root.items) {
      where_ = "object " + std::to_string(index++);
      if (one.kind != Kind::Object)
        type(one, where_, "is an object with a `class`");
      else
        object(one);
    }
    if (wrong_) return std::nullopt;
    return front_ + out_;
  }

 private:
  void report(DiagCode code, const JsonValue& at, std::string message) {
    wrong_ = true;
    diagnostics_.report(code, {file_.id(), at.begin, at.end}, std::move(message));
  }
  void type(const JsonValue& at, std::string_view what, std::string_view wanted) {
    report(DiagCode::JsonType, at, std::string(what) + " " + std::string(wanted));
  }
  std::string field(std::string_view name) const { return "field `" + std::string(name) + "` of " + where_; }

  // A member that must be there and be of the kind; null after a report.
  const JsonValue* need(const JsonValue& object, std::string_view name, Kind kind, std::string_view wanted) {
    const JsonValue* value = object.find(name);
    if (!value)
      report(DiagCode::JsonMissing, object, where_ + " has no `" + std::string(name) + "`");
    else if (value->kind != kind)
      type(*value, field(name), wanted);
    else
      return value;
    return nullptr;
  }

  bool named(const JsonValue& at, std::string_view name) {
    if (one_word(name)) return true;
    report(DiagCode::JsonType, at, where_ + ": '" + std::string(name) + "' cannot be a name in RADL");
    return false;
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
      report(DiagCode::JsonClass, *cls, "there is no class '" + name + "' (" + where_ + ")");
      return;
    }
    // The reference writes a number there that means nothing.
    if (name == "description" && (!id || id->kind == Kind::Number)) {
      description(one);
      return;
    }
    id = need(one, "id", Kind::String, "is a string");
    if (!id || !named(*id, id->text)) return;
    if (name == "configure") return configure(one, id->text);
    std::string text = name + " " + id->text;
    if (!is_reference(one)) {
      std::vector<std::string> lines;
      features(one, lines);
      text += lines.empty() ? " ()" : " (\n" + joined(lines, "  ") + "\n)";
    }
    (name == "description" ? front_ : out_) += text + "\n";
  }

  // Without an id, it is named by its `name`, if that is a valid id.
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
      else if (named(value, name))
        feature(name, value, lines);
    }
  }

  void feature(const std::string& name, const JsonValue& value, std::vector<std::string>& lines) {
    if (value.kind == Kind::List) return list(name, value, lines);
    if (value.kind == Kind::Number) {
      bool min = name.ends_with("_min"), max = name.ends_with("_max");
      std::string bare = min || max ? name.substr(0, name.size() - 4) : name;
      auto number = plain_number(value.text);
      if (!number) return type(value, field(name), "is a number that RADL cannot write: " + value.text);
      lines.push_back(bare + (min ? " >= " : max ? " <= " : " = ") + *number);
      return;
    }
    if (auto text = scalar(name, value)) lines.push_back(name + " = " + *text);
  }

  std::optional<std::string> scalar(const std::string& name, const JsonValue& value) {
    if (value.kind == Kind::String) {
      auto text = quote_text(value.text);
      if (!text)
        type(value, field(name),
             "is a string that RADL cannot write (a backslash before a quote or at the end, or a NUL)");
      return text;
    }
    if (value.kind == Kind::Object && is_reference(value)) {
      const JsonValue *cls = value.find("class"), *id = value.find("id");
      if (cls && id && cls->kind == Kind::String && id->kind == Kind::String && named(*cls, cls->text) &&
          named(*id, id->text))
        return cls->text + " " + id->text;
    }
    type(value, field(name), "is a number, a string or a list");
    return std::nullopt;
  }

  void list(const std::string& name, const JsonValue& value, std::vector<std::string>& lines) {
    bool groups = !value.items.empty() && value.items[0].kind == Kind::Object && !list_name(name);
    if (groups && !is_reference(value.items[0])) {
      for (const JsonValue& item : value.items) {
        std::vector<std::string> inner;
        if (item.kind != Kind::Object) return type(item, field(name), "is a list of objects");
        features(item, inner);
        lines.push_back(name + " contains " + inline_group(inner));
      }
      return;
    }
    bool strings = std::all_of(value.items.begin(), value.items.end(),
                               [](const JsonValue& item) { return item.kind == Kind::String; });
    std::string out;
    for (const JsonValue& item : value.items) {
      auto text = item.kind == Kind::Number ? plain_number(item.text) : scalar(name, item);
      if (item.kind == Kind::Number && !text)
        return type(item, field(name), "is a number that RADL cannot write: " + item.text);
      if (!text) return;
      // A list holds strings; sets of other values are EC3's, one `contains` each.
      if (!strings) lines.push_back(name + " contains " + *text);
      out += (out.empty() ? "" : ", ") + *text;
    }
    if (strings) lines.push_back(name + " = [" + out + "]");
  }

  void softs(const JsonValue& value, std::vector<std::string>& lines) {
    if (value.kind != Kind::List) return type(value, field("softs"), "is a list");
    for (const JsonValue& soft : value.items) {
      if (soft.kind != Kind::Object) return type(soft, field("softs"), "is a list of objects");
      const JsonValue* weight = need(soft, "weight", Kind::Number, "is a number");
      const JsonValue* items = need(soft, "items", Kind::Object, "is an object");
      if (!weight || !items) continue;
      auto number = plain_number(weight->text);
      if (!number) return type(*weight, field("weight"), "is a number without sign");
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
    if (recipe->kind != Kind::String) return type(*recipe, field("recipes"), "is a string or null");
    std::string text = recipe->text;
    if (!text.ends_with('\n')) text += '\n';
    if (text.find('\0') != std::string::npos)
      return type(*recipe, field("recipes"), "holds a NUL, which RADL cannot write");
    if (text.find("\n@end") != std::string::npos || text.starts_with("@end"))
      return type(*recipe, field("recipes"), "holds a line that begins with `@end`, which RADL cannot write");
    out_ += "configure " + id + " (\n@begin" + text + "@end\n)\n";
  }

  void deploy(const JsonValue& one) {
    const JsonValue* system = need(one, "system", Kind::String, "is a string");
    const JsonValue* count = need(one, "vm_number", Kind::Number, "is a number");
    if (!system || !count || !named(*system, system->text)) return;
    auto number = plain_number(count->text);
    if (!number) return type(*count, field("vm_number"), "is a number from 0");
    const JsonValue* cloud = one.find("cloud");
    if (cloud && cloud->kind != Kind::String) return type(*cloud, field("cloud"), "is a string");
    if (cloud && !named(*cloud, cloud->text)) return;
    out_ += "deploy " + system->text + " " + *number + (cloud ? " " + cloud->text : "") + "\n";
  }

  void contextualize(const JsonValue& one) {
    std::string out = "contextualize";
    if (const JsonValue* time = one.find("max_time")) {
      auto number = time->kind == Kind::Number ? plain_number(time->text) : std::nullopt;
      if (!number) return type(*time, field("max_time"), "is a number from 0");
      out += " " + *number;
    }
    std::vector<std::string> lines;
    if (const JsonValue* options = one.find("options")) {
      if (options->kind != Kind::Object) return type(*options, field("options"), "is an object");
      features(*options, lines);
      for (std::string& line : lines) line = "option " + line;
    }
    if (const JsonValue* items = one.find("items")) {
      if (items->kind != Kind::List) return type(*items, field("items"), "is a list");
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
    if (item.kind != Kind::Object) return type(item, field("items"), "is a list of objects");
    const JsonValue* system = need(item, "system", Kind::String, "is a string");
    const JsonValue* configure = need(item, "configure", Kind::String, "is a string");
    if (!system || !configure || !named(*system, system->text) || !named(*configure, configure->text)) return;
    std::string line = "system " + system->text + " configure " + configure->text;
    if (const JsonValue* step = item.find("step")) {
      auto number = step->kind == Kind::Number ? plain_number(step->text) : std::nullopt;
      if (!number) return type(*step, field("step"), "is a number from 0");
      line += " step " + *number;
    }
    if (const JsonValue* tool = item.find("ctxt_tool")) {
      if (tool->kind != Kind::String) return type(*tool, field("ctxt_tool"), "is a string");
      if (!named(*tool, tool->text)) return;
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
