#include "compiler/eval/feature_value.h"

#include <cassert>

namespace radl::hir {

namespace {

struct Secret {
  Value content;
  std::string_view name;
};

}  // namespace

Value Value::secret(Arena& arena, const Value& content, std::string_view name) {
  Value made(content.kind_, content.span_, arena.make<Secret>(content, arena.copy(name)), 0);
  made.sensitive_ = true;
  return made;
}

std::string_view Value::secret_name() const {
  return sensitive_ ? static_cast<const Secret*>(data_)->name : std::string_view();
}

const Value& Value::content(expr::Permission) const {
  return sensitive_ ? static_cast<const Secret*>(data_)->content : *this;
}

}  // namespace radl::hir
