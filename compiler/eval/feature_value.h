// The value of a feature. Part of hir.h.
//
// A literal of the syntax tree, as written or as evaluation made it, or a group of features. One pointer,
// because a document has many. A secret's content is accessible only with a Permission; without one, readers
// find no number, text or list.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/eval/permission.h"
#include "compiler/source/source.h"
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

// A node that only evaluation makes.
struct Group : ast::Expr {
  const Features* features = nullptr;
};

class Value {
 public:
  Value() = default;  // Error
  Value(const ast::Expr* literal) : node_(literal) {}
  // `text` must live as long as the arena.
  static ast::String* text(Arena& arena, std::string_view text, Span span) {
    return arena.make<ast::String>(ast::Kind::String, span, text);
  }
  // `name`: the secret's name in the IR; "" if it was made from several.
  static ast::Expr* secret(Arena& arena, const ast::Expr* content, std::string_view name) {
    return arena.make<Secret>(ast::Kind::Secret, content->span, content, arena.copy(name));
  }

  Kind kind() const;
  Span span() const { return node_ == nullptr ? Span{} : node_->span; }
  bool sensitive() const { return is(ast::Kind::Secret); }
  std::string_view secret_name() const { return sensitive() ? secret().name : std::string_view(); }
  // Returns *this if it is not a secret.
  Value content(expr::Permission) const { return sensitive() ? Value(secret().content) : *this; }

  // Accessors for values that may be shown: null, nullopt or 0 if the value has another kind.
  const Number* number() const { return as<ast::Number>(ast::Kind::Number); }
  std::optional<std::string_view> text() const {
    auto* text = as<ast::String>(ast::Kind::String);
    return text != nullptr && text->parts.empty() ? std::optional(text->text) : std::nullopt;
  }
  std::optional<bool> boolean() const {
    auto* boolean = as<ast::Boolean>(ast::Kind::Boolean);
    return boolean != nullptr ? std::optional(boolean->value) : std::nullopt;
  }
  int random_length() const {
    auto* random = as<ast::Random>(ast::Kind::Random);
    return random != nullptr ? random->length : 0;
  }
  const List<ast::Expr*>* list() const {
    auto* list = as<ast::ListValue>(ast::Kind::ListValue);
    return list != nullptr ? &list->items : nullptr;
  }
  const ast::Ec3Reference* reference() const { return as<ast::Ec3Reference>(ast::Kind::Ec3Reference); }
  const Features* group() const {
    auto* group = as<Group>(ast::Kind::Group);
    return group != nullptr ? group->features : nullptr;
  }

 private:
  struct Secret : ast::Expr {
    const ast::Expr* content = nullptr;
    std::string_view name;
  };

  bool is(ast::Kind kind) const { return node_ != nullptr && node_->kind == kind; }
  template <class T>
  const T* as(ast::Kind kind) const {
    return is(kind) ? static_cast<const T*>(node_) : nullptr;
  }
  const Secret& secret() const { return *static_cast<const Secret*>(node_); }

  const ast::Expr* node_ = nullptr;
};

}  // namespace radl::hir
