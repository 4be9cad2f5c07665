// The value of a feature. Part of hir.h.
//
// Plain data of 32 bytes that points into a tree or an arena, because a document has many. A secret's content
// is accessible only with a Permission; without one, readers find no number, text or list.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/eval/permission.h"
#include "compiler/source/source.h"
#include "compiler/syntax/arena.h"
#include "compiler/syntax/ast.h"

namespace radl::hir {

using Number = ast::NumberValue;  // with its unit as written; the IR has base units
struct Features;

enum class Kind : uint8_t {
  Error,       // already reported
  Expression,  // of a `radl 2` file read without its scope
  Number,
  Text,
  Boolean,    // read without its scope; evaluation turns it into the text yes or no
  Random,     // 'random(D)'
  List,       // of texts and numbers
  Reference,  // EC3's `system wn`
  Group,      // contains ( features )
};

struct Reference {
  ast::Name kind, target;
  Span span() const { return {kind.span.file, kind.span.begin, target.span.end}; }
};

class Value {
 public:
  Value() = default;  // Error
  static Value of_kind(Kind kind, Span span) { return {kind, span, nullptr, 0}; }
  static Value number(const Number* number, Span span) { return {Kind::Number, span, number, 0}; }
  static Value text(std::string_view text, Span span) {
    return {Kind::Text, span, text.data(), static_cast<uint32_t>(text.size())};
  }
  static Value boolean(bool yes, Span span) { return {Kind::Boolean, span, nullptr, yes}; }
  static Value random(int length, Span span) {
    return {Kind::Random, span, nullptr, static_cast<uint32_t>(length)};
  }
  static Value list(const List<Value>* items, Span span) { return {Kind::List, span, items, 0}; }
  static Value reference(const Reference* to, Span span) { return {Kind::Reference, span, to, 0}; }
  static Value group(const Features* features, Span span) { return {Kind::Group, span, features, 0}; }
  // `name`: the secret's name in the IR; "" if it was made from several.
  static Value secret(Arena& arena, const Value& content, std::string_view name);

  Kind kind() const { return kind_; }
  Span span() const { return span_; }
  bool sensitive() const { return sensitive_; }
  std::string_view secret_name() const;
  // Returns *this if it is not a secret.
  const Value& content(expr::Permission) const;

  // Accessors for values that may be shown: null, nullopt or 0 if the value has another kind.
  const Number* number() const { return is(Kind::Number) ? static_cast<const Number*>(data_) : nullptr; }
  std::optional<std::string_view> text() const {
    if (!is(Kind::Text)) return std::nullopt;
    return std::string_view(static_cast<const char*>(data_), size_);
  }
  std::optional<bool> boolean() const { return is(Kind::Boolean) ? std::optional(size_ != 0) : std::nullopt; }
  int random_length() const { return is(Kind::Random) ? static_cast<int>(size_) : 0; }
  const List<Value>* list() const {
    return is(Kind::List) ? static_cast<const List<Value>*>(data_) : nullptr;
  }
  const Reference* reference() const {
    return is(Kind::Reference) ? static_cast<const Reference*>(data_) : nullptr;
  }
  const Features* group() const { return is(Kind::Group) ? static_cast<const Features*>(data_) : nullptr; }

 private:
  Value(Kind kind, Span span, const void* data, uint32_t size)
      : data_(data), span_(span), size_(size), kind_(kind) {}
  bool is(Kind kind) const { return kind_ == kind && !sensitive_; }

  const void* data_ = nullptr;  // depends on kind_; for a secret: its Secret
  Span span_;
  uint32_t size_ = 0;
  Kind kind_ = Kind::Error;
  bool sensitive_ = false;
};

}  // namespace radl::hir
