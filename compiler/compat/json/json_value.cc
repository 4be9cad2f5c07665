#include "compiler/compat/json/json_value.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace radl::sema {
namespace {

constexpr size_t kMaxDepth = 200;

void write_string(std::string& out, std::string_view text) {
  using nlohmann::json;
  out += json(text).dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
}

// Where the tokens of a JSON text stand: one call for each, in order. nlohmann's events do not say it.
class Places {
 public:
  explicit Places(std::string_view text) : text_(text) {}

  // [begin, end) of the next token that is neither a comma nor a colon.
  std::pair<uint32_t, uint32_t> next() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n,:", at_), text_.size());
    size_t begin = at_;
    if (at_ == text_.size()) {
    } else if (text_[at_] == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\';
      at_ = std::min(at_ + 1, text_.size());
    } else if (is_bracket(text_[at_])) {
      ++at_;
    } else {
      while (at_ < text_.size() && !is_bracket(text_[at_]) &&
             std::string_view(" \t\r\n,:").find(text_[at_]) == std::string_view::npos)
        ++at_;
    }
    return {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  }

 private:
  static bool is_bracket(char c) { return c == '[' || c == ']' || c == '{' || c == '}'; }

  std::string_view text_;
  size_t at_ = 0;
};

// Builds the value from nlohmann's events, which hand out numbers as written.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  Reader(std::string_view text, JsonValue& root) : places_(text) { open_.push_back(&root); }
  std::optional<JsonFault> fault;

  bool null() override { return scalar({}); }
  bool boolean(bool value) override { return scalar(JsonValue::boolean(value)); }
  bool number_integer(number_integer_t value) override {
    return scalar(JsonValue::number(std::to_string(value)));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar(JsonValue::number(std::to_string(value)));
  }
  bool number_float(number_float_t, const string_t& written) override {
    return scalar(JsonValue::number(written));
  }
  bool string(string_t& value) override { return scalar(JsonValue::string(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(JsonValue::object()); }
  bool start_array(size_t) override { return open(JsonValue::list()); }
  bool end_object() override {
    places_.next();
    open_.back()->drop_replaced();
    return close();
  }
  bool end_array() override {
    places_.next();
    return close();
  }
  bool key(string_t& name) override {
    places_.next();
    key_ = name;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    std::string message = error.what();
    size_t colon = message.rfind(": ");
    fault = JsonFault{position == 0 ? 0 : position - 1,
                      colon == std::string::npos ? message : message.substr(colon + 2)};
    return false;
  }

 private:
  JsonValue* place(JsonValue value) {
    std::tie(value.begin, value.end) = places_.next();
    JsonValue* parent = open_.back();
    if (!begun_) {
      begun_ = true;
      *parent = std::move(value);
      return parent;
    }
    if (parent->kind == JsonValue::Kind::List) {
      parent->items.push_back(std::move(value));
      return &parent->items.back();
    }
    parent->set(key_, std::move(value));
    return &parent->members.back().value;
  }
  bool scalar(JsonValue value) {
    place(std::move(value));
    return true;
  }
  bool open(JsonValue value) {
    if (open_.size() > kMaxDepth) {
      fault = JsonFault{0, "nested too deeply"};
      return false;
    }
    bool root = !begun_;
    JsonValue* made = place(std::move(value));
    if (!root) open_.push_back(made);
    return true;
  }
  bool close() {
    if (open_.size() > 1) open_.pop_back();
    return true;
  }

  Places places_;
  std::vector<JsonValue*> open_;
  std::string key_;
  bool begun_ = false;
};

}  // namespace

JsonValue JsonValue::list() { return {Kind::List, {}, 0, 0, {}, {}}; }
JsonValue JsonValue::object() { return {Kind::Object, {}, 0, 0, {}, {}}; }
void JsonValue::set(std::string_view name, JsonValue value) {
  members.push_back({std::string(name), std::move(value)});
}

JsonValue JsonValue::string(std::string_view text) { return {Kind::String, std::string(text), 0, 0, {}, {}}; }
JsonValue JsonValue::number(std::string text) { return {Kind::Number, std::move(text), 0, 0, {}, {}}; }
JsonValue JsonValue::boolean(bool value) { return {Kind::Boolean, value ? "true" : "false", 0, 0, {}, {}}; }

const JsonValue* JsonValue::find(std::string_view name) const {
  for (size_t i = members.size(); i > 0; --i)
    if (members[i - 1].name == name) return &members[i - 1].value;
  return nullptr;
}

void JsonValue::drop_replaced() {
  if (members.size() < 2) return;
  std::unordered_set<std::string_view> seen;
  std::vector<bool> keep(members.size());
  for (size_t i = members.size(); i > 0; --i) keep[i - 1] = seen.insert(members[i - 1].name).second;
  if (seen.size() == members.size()) return;
  std::vector<JsonMember> kept;
  for (size_t i = 0; i < members.size(); ++i)
    if (keep[i]) kept.push_back(std::move(members[i]));
  members = std::move(kept);
}

void write_json(std::string& out, const JsonValue& value, int indent) {
  auto line = [&](int more) { out.append("\n").append(static_cast<size_t>(indent + more), ' '); };
  switch (value.kind) {
    case JsonValue::Kind::Null:
      out += "null";
      return;
    case JsonValue::Kind::Boolean:
    case JsonValue::Kind::Number:
      out += value.text;
      return;
    case JsonValue::Kind::String:
      write_string(out, value.text);
      return;
    case JsonValue::Kind::List:
      if (value.items.empty()) {
        out += "[]";
        return;
      }
      out += '[';
      for (size_t i = 0; i < value.items.size(); ++i) {
        if (i != 0) out += ',';
        line(2);
        write_json(out, value.items[i], indent + 2);
      }
      line(0);
      out += ']';
      return;
    case JsonValue::Kind::Object:
      break;
  }
  if (value.members.empty()) {
    out += "{}";
    return;
  }
  std::vector<const JsonMember*> sorted;
  for (const auto& member : value.members) sorted.push_back(&member);
  std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->name < b->name; });
  // The last of several members with one name counts.
  auto same = [](auto* a, auto* b) { return a->name == b->name; };
  sorted.erase(sorted.begin(), std::unique(sorted.rbegin(), sorted.rend(), same).base());
  out += '{';
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i != 0) out += ',';
    line(2);
    write_string(out, sorted[i]->name);
    out += ": ";
    write_json(out, sorted[i]->value, indent + 2);
  }
  line(0);
  out += '}';
}

std::optional<JsonFault> read_json(std::string_view text, JsonValue& value) {
  Reader reader(text, value);
  bool good = nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  if (good) return std::nullopt;
  return reader.fault ? reader.fault : JsonFault{0, "not JSON"};
}

}  // namespace radl::sema
