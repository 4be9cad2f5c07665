#include "compiler/eval/feature_value.h"

namespace radl::hir {

Kind Value::kind() const {
  if (node_ == nullptr) return Kind::Error;
  switch (node_->kind) {
    case ast::Kind::Secret:
      return Value(secret().content).kind();
    case ast::Kind::Number:
      return Kind::Number;
    case ast::Kind::String:
      return text() ? Kind::Text : Kind::Expression;
    case ast::Kind::Boolean:
      return Kind::Boolean;
    case ast::Kind::Random:
      return Kind::Random;
    case ast::Kind::ListValue:
      return Kind::List;
    case ast::Kind::Ec3Reference:
      return Kind::Reference;
    case ast::Kind::Group:
      return Kind::Group;
    case ast::Kind::ErrorValue:
      return Kind::Error;
    default:
      return Kind::Expression;
  }
}

}  // namespace radl::hir
