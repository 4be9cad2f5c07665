// Functions of strings, and from and to strings.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/digest.h"
#include "compiler/eval/function_runs.h"
#include "compiler/eval/secret_access.h"
#include "compiler/eval/units.h"

namespace radl::expr {

namespace {

// Length in characters: bytes that do not continue a UTF-8 sequence.
int64_t characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; });
}

template <class Change>
Value changed(const CallFrame& call, Change change) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a string");
  std::string text = call[0].as_text(kPermitted);
  if (!call.charge(0, text.size())) return {};
  change(text);
  return Value::string(std::move(text));
}

}  // namespace

Value run_length(const CallFrame& call) {
  if (call[0].kind() == Kind::String) return Value::integer(characters(call[0].as_text(kPermitted)));
  if (call[0].kind() == Kind::List) return Value::integer(static_cast<int64_t>(call[0].items().size()));
  return run_count(call);
}

Value run_substring(const CallFrame& call) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a string");
  for (size_t i = 1; i < call.size(); i++)
    if (call[i].kind() != Kind::Integer || !call[i].unit().empty()) return call.expected(i, "an integer");
  const std::string& text = call[0].as_text(kPermitted);
  const int64_t from = call[1].as_integer(kPermitted);
  const int64_t count = call.size() == 3 ? call[2].as_integer(kPermitted) : INT64_MAX;
  if (from < 0 || count < 0)
    return call.fail("substring() counts from 0, and a number of characters is not negative");
  if (!call.charge(0, text.size())) return {};
  std::string part;
  int64_t character = -1;
  for (char c : text) {
    character += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (character >= from && character - from < count) part += c;
  }
  return Value::string(std::move(part));
}

// ASCII letters only: the result does not depend on the locale.
Value run_upper(const CallFrame& call) {
  return changed(call, [](std::string& text) {
    for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
}

Value run_lower(const CallFrame& call) {
  return changed(call, [](std::string& text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
}

Value run_trim(const CallFrame& call) {
  return changed(call, [](std::string& text) {
    const char* spaces = " \t\r\n";
    size_t from = text.find_first_not_of(spaces);
    text = from == text.npos ? std::string() : text.substr(from, text.find_last_not_of(spaces) - from + 1);
  });
}

Value run_replace(const CallFrame& call) {
  for (size_t i = 0; i < 3; i++) {
    if (call[i].kind() != Kind::String) return call.expected(i, "a string");
  }
  const std::string &text = call[0].as_text(kPermitted), &from = call[1].as_text(kPermitted),
                    &to = call[2].as_text(kPermitted);
  if (from.empty()) return call.fail("the string to replace is empty");
  size_t hits = 0;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + from.size())) hits++;
  if (!call.charge(hits, text.size() + hits * to.size())) return {};
  std::string result;
  size_t done = 0;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, done)) {
    result.append(text, done, at - done).append(to);
    done = at + from.size();
  }
  return Value::string(result.append(text, done));
}

Value run_starts_with(const CallFrame& call) {
  for (size_t i = 0; i < 2; i++) {
    if (call[i].kind() != Kind::String) return call.expected(i, "a string");
  }
  return Value::boolean(call[0].as_text(kPermitted).starts_with(call[1].as_text(kPermitted)));
}

Value run_ends_with(const CallFrame& call) {
  for (size_t i = 0; i < 2; i++) {
    if (call[i].kind() != Kind::String) return call.expected(i, "a string");
  }
  return Value::boolean(call[0].as_text(kPermitted).ends_with(call[1].as_text(kPermitted)));
}

// Replaces each `{}` in turn; `{{` and `}}` are escaped braces.
Value run_format(const CallFrame& call) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a string");
  const std::string& pattern = call[0].as_text(kPermitted);
  Items parts;
  std::string text;
  size_t next = 1;
  for (size_t i = 0; i < pattern.size(); i++) {
    std::string_view pair = std::string_view(pattern).substr(i, 2);
    if (pair == "{{" || pair == "}}") {
      text += pair[0];
      i++;
    } else if (pair == "{}") {
      if (next >= call.size())
        return call.fail(fmt::format("the pattern has more `{{}}` than values ({})", call.size() - 1));
      parts.push_back(Value::string(std::exchange(text, {})));
      if (!append_text(call, parts, call[next++])) return {};
      i++;
    } else if (pattern[i] == '{' || pattern[i] == '}') {
      return call.fail("in a pattern `{}` is a place for a value; write `{{` or `}}` for a brace");
    } else {
      text += pattern[i];
    }
  }
  if (next != call.size())
    return call.fail(
        fmt::format("the pattern has place for {} values, {} are given", next - 1, call.size() - 1));
  parts.push_back(Value::string(std::move(text)));
  return call.charge(parts.size(), pattern.size()) ? Value::joined(std::move(parts)) : Value();
}

Value run_string(const CallFrame& call) {
  if (call[0].kind() == Kind::Unknown || call[0].kind() == Kind::Joined) return Value::joined({call[0]});
  auto text = display(call[0], kPermitted);
  return text ? Value::string(std::move(*text)) : call.expected(0, "something with a string form");
}

Value run_number(const CallFrame& call) {
  if (call[0].is_number()) return call[0];
  if (call[0].kind() != Kind::String) return call.expected(0, "a string or a number");
  const std::string& text = call[0].as_text(kPermitted);
  size_t used = 0;
  try {
    if (!text.empty() && text.find_first_not_of("-0123456789") == text.npos) {
      long long whole = std::stoll(text, &used);
      if (used == text.size()) return Value::integer(whole);
    } else if (!text.empty() && text.find_first_not_of("-+.eE0123456789") == text.npos) {
      double real = std::stod(text, &used);
      if (used == text.size() && std::isfinite(real)) return Value::real(real);
    }
  } catch (const std::exception&) {
  }
  return call.fail(call[0].sensitive() ? "the string is not a number"
                                       : fmt::format("'{}' is not a number", call[0].as_text()));
}

Value run_bytes(const CallFrame& call) {
  if (!call[0].is_number()) return call.expected(0, "a size");
  auto factor = size_factor_of_value(call[0].unit());
  if (!factor) return call.expected(0, "a size");
  double bytes = call[0].as_real(kPermitted) * *factor;
  if (std::abs(bytes) > 9e18) return call.fail("the size is too large");
  return Value::integer(static_cast<int64_t>(std::llround(bytes)));
}

Value run_sha256(const CallFrame& call) {
  return changed(call, [](std::string& text) { text = sha256_hex(text); });
}

Value run_base64(const CallFrame& call) {
  return changed(call, [](std::string& text) { text = base64_encode(text); });
}

namespace {

// JSON whose strings have parts that are known only after apply: addresses and the like, which need no
// escapes.
class JsonText {
 public:
  explicit JsonText(const CallFrame& call) : call_(call) {}

  Value run(const Value& value) {
    if (!add(value)) return {};
    finish();
    return Value::joined(std::move(parts_));
  }

 private:
  void finish() { parts_.push_back(Value::string(std::exchange(text_, {}))); }

  // Text from a secret is a separate, secret part.
  bool add_text(const std::string& text, const Value& from) {
    if (!from.sensitive()) {
      text_ += text;
    } else {
      finish();
      parts_.push_back(Value::string(text).mark_sensitive());
    }
    return call_.charge(1, text.size());
  }

  bool unknown(const Value& value) {
    const std::string& name = value.as_text();
    const std::string_view attribute = std::string_view(name).substr(name.rfind('.') + 1);
    constexpr std::string_view kPlain[] = {"ip", "private_ip", "public_ip", "port", "user", "id"};
    if (std::find(std::begin(kPlain), std::end(kPlain), attribute) == std::end(kPlain)) {
      call_.context().diagnostics->report(
          DiagCode::NotKnownYet, call_.span(0),
          fmt::format("json() takes addresses of nodes before they are known, but not {}", name));
      return false;
    }
    finish();
    parts_.push_back(value);
    return true;
  }

  bool add(const Value& value) {
    if (!value.has_unknown()) return add_text(json_text(value, kPermitted), value);
    if (value.kind() == Kind::List) return list(value);
    if (value.kind() == Kind::Map) return map(value);
    const bool number = value.kind() == Kind::Unknown && value.as_text().ends_with(".port");
    if (!number) text_ += '"';
    const Items whole = value.kind() == Kind::Joined ? value.items() : Items{value};
    for (const Value& part : whole) {
      if (part.kind() == Kind::Unknown) {
        if (!unknown(part)) return false;
        continue;
      }
      const std::string known = json_text(part, kPermitted);
      if (!add_text(known.substr(1, known.size() - 2), part)) return false;
    }
    if (!number) text_ += '"';
    return true;
  }

  bool list(const Value& value) {
    text_ += '[';
    for (size_t i = 0; i < value.items().size(); ++i) {
      if (i > 0) text_ += ',';
      if (!add(value.items()[i])) return false;
    }
    text_ += ']';
    return true;
  }

  bool map(const Value& value) {
    text_ += '{';
    bool first = true;
    for (const auto& [name, inner] : value.entries()) {
      if (!std::exchange(first, false)) text_ += ',';
      text_ += json_text(Value::string(name), kPermitted) + ':';
      if (!add(inner)) return false;
    }
    text_ += '}';
    return true;
  }

  const CallFrame& call_;
  Items parts_;
  std::string text_;
};

}  // namespace

Value run_json(const CallFrame& call) {
  if (call[0].has_unknown()) return JsonText(call).run(call[0]);
  std::string text = json_text(call[0], kPermitted);
  return call.charge(0, text.size()) ? Value::string(std::move(text)) : Value();
}

}  // namespace radl::expr
