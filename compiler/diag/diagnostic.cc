#include "compiler/diag/diagnostic.h"

#include <algorithm>
#include <utility>

#include "compiler/diag/shown_text.h"

namespace radl {
namespace {

// What several systems inherit is looked at in each. `list` is sorted.
void drop_repeated(std::vector<Diagnostic>& list, size_t& errors, size_t& warnings) {
  size_t kept = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const Diagnostic& d = list[i];
    bool repeated = false;
    for (size_t j = kept; j > 0 && !repeated; --j) {
      const Diagnostic& reported = list[j - 1];
      if (reported.span.file != d.span.file || reported.span.begin != d.span.begin || !d.span.known()) break;
      repeated = reported.code == d.code && reported.span == d.span && reported.message == d.message &&
                 reported.help == d.help;
    }
    if (repeated) {
      (d.severity == Severity::Error ? errors : warnings) -= 1;
      continue;
    }
    if (kept != i) list[kept] = std::move(list[i]);
    ++kept;
  }
  list.resize(kept);
}

// What is reported once for each `use` of the same module.
bool depends_on_values(DiagCode code) {
  switch (code) {
    case DiagCode::UnknownMember:
    case DiagCode::WrongOperand:
    case DiagCode::UnitClash:
    case DiagCode::NumberRange:
    case DiagCode::WrongArguments:
    case DiagCode::ExpressionCost:
    case DiagCode::IndexRange:
    case DiagCode::InputValue:
    case DiagCode::NotKnownYet:
    case DiagCode::SecretShown:
    case DiagCode::DeployCount:
    case DiagCode::FunctionFailed:
    case DiagCode::FeatureExpression:
    case DiagCode::AssertionFailed:
    case DiagCode::PropertyValue:
    case DiagCode::ResourceName:
    case DiagCode::LocalFile:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Diagnostics::tell_use(Diagnostic& found) const {
  if (used_from_.file == 0 || found.span.file != used_from_.file) return;
  const UsedFrom* from = &used_from_;
  if (from->library) {
    found.used_at = from->use;
    from = from->outer;
  }
  if (!depends_on_values(found.code)) return;
  for (; from != nullptr; from = from->outer) found.note(from->use, "in the module that is used here");
}

Diagnostic& Diagnostics::report(DiagCode code, Span span, std::string message) {
  scratch_ = Diagnostic{code, code_info(code).severity, span, shortened(std::move(message))};
  for (const auto& [which, level] : levels_) {
    if (which != code) continue;
    if (!level && scratch_.severity != Severity::Error) return scratch_;
    if (level) scratch_.severity = *level;
  }
  if (scratch_.severity == Severity::Warning) {
    if (silenced(code, span)) return scratch_;
    if (werror_) scratch_.severity = Severity::Error;
  }
  tell_use(scratch_);
  if (per_code_.empty()) per_code_.resize(static_cast<size_t>(DiagCode::kCount));
  uint32_t& count = per_code_[static_cast<size_t>(code)];
  (scratch_.severity == Severity::Error ? errors_ : warnings_) += 1;
  if (count >= kMaxPerCode || list_.size() >= kMaxTotal) {
    ++dropped_;
    return scratch_;
  }
  ++count;
  list_.push_back(std::move(scratch_));
  return list_.back();
}

UsedFrom Diagnostics::set_used_from(UsedFrom from) { return std::exchange(used_from_, from); }

void Diagnostics::tell_at_uses(const std::map<uint32_t, Span>& uses) {
  for (Diagnostic& found : list_) {
    auto known = uses.find(found.span.file);
    if (!found.used_at.known() && known != uses.end()) found.used_at = known->second;
    if (!found.used_at.known()) continue;
    found.notes.insert(found.notes.begin(),
                       {found.span, found.label.empty() ? "in this module" : found.label});
    found.span = std::exchange(found.used_at, Span{});
    found.label.clear();
    found.fixes.clear();  // the library is not the user's to edit
  }
}

bool Diagnostics::silenced(DiagCode code, Span span) const {
  return std::any_of(allows_.begin(), allows_.end(), [&](const Allow& allow) {
    return allow.code == code && allow.where.file == span.file && allow.where.contains(span.begin);
  });
}

void Diagnostics::allow(DiagCode code, Span where) { allows_.push_back({code, where}); }

void Diagnostics::set_severity(DiagCode code, std::optional<Severity> level) {
  levels_.emplace_back(code, level);
}

bool Diagnostics::has(DiagCode code) const {
  return std::any_of(list_.begin(), list_.end(), [&](const Diagnostic& d) { return d.code == code; });
}

void Diagnostics::sort() {
  std::stable_sort(list_.begin(), list_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    if (a.span.file != b.span.file) return a.span.file < b.span.file;
    return a.span.begin < b.span.begin;
  });
  drop_repeated(list_, errors_, warnings_);
  drop_echoes();
}

void Diagnostics::drop_echoes() {
  if (errors_ == 0) return;
  auto touches = [](const Diagnostic& error, const Diagnostic& echo) {
    return error.severity == Severity::Error && error.span.known() && error.span.file == echo.span.file &&
           error.span.begin <= echo.span.end && echo.span.begin <= error.span.end;
  };
  auto echo = [&](const Diagnostic& d) {
    bool near = d.code == DiagCode::JunkSkipped || d.code == DiagCode::OddUnit;
    bool same = d.code == DiagCode::UnknownFeature || d.code == DiagCode::ListElsewhere ||
                d.code == DiagCode::WrongOperator || d.code == DiagCode::WrongUnit;
    if (!same && (!near || d.severity != Severity::Warning)) return false;
    return std::any_of(list_.begin(), list_.end(), [&](const Diagnostic& other) {
      return touches(other, d) && (near || (other.span == d.span && other.code != d.code));
    });
  };
  std::vector<bool> drop(list_.size());
  for (size_t i = 0; i < list_.size(); ++i) {
    drop[i] = echo(list_[i]);
    if (drop[i]) (list_[i].severity == Severity::Error ? errors_ : warnings_) -= 1;
  }
  size_t at = 0;
  std::erase_if(list_, [&](const Diagnostic&) { return drop[at++]; });
}

void Diagnostics::append(const Diagnostics& other) {
  for (const Diagnostic& d : other.list_) {
    list_.push_back(d);
    (d.severity == Severity::Error ? errors_ : warnings_) += 1;
  }
  dropped_ += other.dropped_;
}

void Diagnostics::clear() {
  list_.clear();
  per_code_.clear();
  errors_ = warnings_ = dropped_ = 0;
}

}  // namespace radl
