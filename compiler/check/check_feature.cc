// One feature against its row of the table.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/host_name.h"
#include "common/text.h"
#include "compiler/check/check.h"
#include "compiler/check/outports.h"
#include "compiler/eval/quantity.h"
#include "compiler/eval/secret_access.h"
#include "compiler/syntax/unicode.h"

namespace radl::sema {
namespace {

std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

// What is being checked: the row, one value of it, and where it was written.
struct At {
  const FeatureSpec& spec;
  const hir::Feature& feature;
  Diagnostics& diagnostics;

  bool fail(DiagCode code, Span span, std::string message) const {
    diagnostics.report(code, span, std::move(message));
    return false;
  }
};

// A text that may be quoted, and where it was written.
struct Text {
  std::string_view text;
  Span span;
};

bool one_of_values(const FeatureSpec& spec, std::string_view text) {
  return std::any_of(spec.values.begin(), spec.values.end(),
                     [&](std::string_view value) { return equal_ignoring_case(value, text); });
}

// What the reference refuses: clouds rent ARM, and old files write i686.
bool other_architecture(std::string_view text, bool lenient) {
  return equal_ignoring_case(text, "arm64") || equal_ignoring_case(text, "aarch64") ||
         (lenient && equal_ignoring_case(text, "i686"));
}

bool is_version(std::string_view text) {
  if (text.empty()) return true;
  bool digit = false;
  for (char c : text) {
    if (c >= '0' && c <= '9')
      digit = true;
    else if (c == '.' && digit)
      digit = false;
    else
      return false;
  }
  return digit;
}

bool strong_password(std::string_view text) {
  bool upper = false, digit = false, other = false;
  size_t length = 0;
  for (; !text.empty(); ++length) {
    CodePoint next = decode_utf8(text);
    upper |= is_upper_case(next.value);
    digit |= digit_value(next.value) >= 0;
    other |= next.value == '_' || !is_word_character(next.value);
    text.remove_prefix(std::max(1u, next.length));
  }
  return length > 6 && upper && digit && other;
}

// What people write for yes and no elsewhere.
std::optional<std::string_view> yes_or_no_meant(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"true", "yes"}, {"on", "yes"}, {"y", "yes"}, {"false", "no"}, {"off", "no"}, {"n", "no"}};
  for (const auto& [word, meant] : kWords)
    if (equal_ignoring_case(text, word)) return meant;
  return std::nullopt;
}

bool wrong_choice(const At& at, const Text& value) {
  Diagnostic& d =
      at.diagnostics.report(DiagCode::WrongValue, value.span,
                            quoted(at.feature.name) + " is " + one_of(at.spec.values) + ", not '" +
                                std::string(value.text.substr(0, value.text.find('\n'))) +
                                (value.text.find('\n') == value.text.npos ? "'" : "...'"));
  if (value.text.find('\n') != value.text.npos)
    d.with_help("this string runs over several lines: is its quote missing?");
  const bool yes_or_no = at.spec.values.size() == 2 && at.spec.values[0] == "yes";
  std::optional<std::string_view> near;
  if (yes_or_no) near = yes_or_no_meant(value.text);  // 'on' is nearer to 'no' than to 'yes'
  if (!near) near = nearest_name(value.text, at.spec.values);
  if (near) d.fix("write '" + std::string(*near) + "'", value.span, "'" + std::string(*near) + "'");
  if (!near && !value.text.empty() && at.spec.name == "disk.N.os.name")
    d.with_help("a distribution goes into `disk.0.os.flavour`");
  return false;
}

bool unknown_name(const At& at, DiagCode code, const Text& value, std::string_view what,
                  const std::vector<std::string_view>& names) {
  Diagnostic& d = at.diagnostics.report(
      code, value.span, "there is no " + std::string(what) + " `" + std::string(value.text) + "`");
  if (auto near = nearest_name(value.text, names)) {
    d.labelled("did you mean '" + std::string(*near) + "'?");
    d.fix("write '" + std::string(*near) + "'", value.span, "'" + std::string(*near) + "'");
  } else {
    help_with_names(d, what, names);
  }
  return false;
}

// The place of [begin, end) of a string's content. Offsets hold when nothing was decoded.
Span part_of(const Text& value, size_t begin, size_t end) {
  Span span = value.span;
  if (value.span.size() != value.text.size() + 2) return span;
  span.begin = value.span.begin + 1 + static_cast<uint32_t>(begin);
  span.end = value.span.begin + 1 + static_cast<uint32_t>(std::max(end, begin + 1));
  return span;
}

void fix_spaces(Diagnostic& d, const Text& value) {
  std::string tight;
  for (char c : value.text)
    if (c != ' ') tight += c;
  d.fix("remove the spaces", value.span, "'" + tight + "'");
}

bool outports(const At& at, const Text& value, bool lenient) {
  auto fault = outports_fault(value.text, lenient);
  if (!fault && lenient) {
    if (auto spaces = outports_fault(value.text, false))
      fix_spaces(at.diagnostics.report(DiagCode::SpacesInOutports, part_of(value, spaces->begin, spaces->end),
                                       spaces->message),
                 value);
  }
  if (!fault) return true;
  const std::string_view item = value.text.substr(fault->begin, fault->end - fault->begin);
  const Span part = part_of(value, fault->begin, fault->end);
  Diagnostic& d = at.diagnostics.report(DiagCode::BadOutports, part, fault->message);
  if (const size_t slash = item.find('/'); item.starts_with("tcp/") || item.starts_with("udp/")) {
    const std::string right = std::string(item.substr(slash + 1)) + "/" + std::string(item.substr(0, slash));
    if (part.size() == item.size() && !outports_fault(right, false)) d.fix("write " + right, part, right);
  }
  if (fault->message.find("both sides") != std::string::npos) {
    size_t dash = item.rfind('-'), slash = item.rfind('/');
    if (dash != item.npos && slash != item.npos && slash > dash) {
      std::string ports(item.substr(dash + 1, slash - dash - 1)), protocol(item.substr(slash));
      std::string from(item.substr(0, std::min(item.find('/'), dash)));
      std::string range = from == ports ? "" : "`; a range is `" + from + ":" + ports + protocol;
      d.with_help("`-` maps a port to one of the node, `" + from + protocol + "-" + ports + protocol + range +
                  "`");
    }
  }
  if (fault->message.find("spaces") != std::string::npos) {
    fix_spaces(d, value);
    if (!outports_fault(value.text, true)) d.with_help("`radlc plan` and `radlc apply` take it without them");
  }
  return false;
}

bool host_name(const At& at, const Text& value) {
  // An input that is filled in later, and EC3's empty name, which means none.
  if (value.text.empty() || value.text.find("@input.") != value.text.npos) return true;
  auto fault = host_name_fault(value.text, true);
  if (!fault) return true;
  Diagnostic& d = at.diagnostics.report(DiagCode::WrongValue, part_of(value, fault->begin, fault->end),
                                        quoted(at.feature.name) + " is a host name: " + fault->message);
  std::string better(value.text);
  std::replace(better.begin(), better.end(), '_', '-');
  if (!host_name_fault(better, true))
    d.fix("write '" + better + "'", value.span, "'" + better + "'");
  else
    d.with_help("it has letters, digits and `-`, in parts joined by dots: 'node-#N#', 'front.example.org'");
  return false;
}

bool check_text(const At& at, const Text& value, const Document& document, const CheckOptions& options) {
  const FeatureSpec& spec = at.spec;
  std::string_view text = value.text;
  if (at.feature.op != ast::Op::Eq && at.feature.op != ast::Op::Contains &&
      operators_of(spec.type) == Operators::Equal) {
    Diagnostic& d = at.diagnostics.report(DiagCode::WrongOperator, at.feature.op_span,
                                          quoted(at.feature.name) + " takes `=`");
    d.fix("write `=`", at.feature.op_span, "=");
    return false;
  }
  switch (spec.type) {
    case FeatureType::Choice: {
      bool more = spec.name == "cpu.arch" && (at.feature.strict || options.lenient) &&
                  other_architecture(text, options.lenient);
      return one_of_values(spec, text) || more || wrong_choice(at, value);
    }
    case FeatureType::Version:
      return is_version(text) || at.fail(DiagCode::WrongValue, value.span,
                                         quoted(at.feature.name) + " is digits and dots, such as '22.04'");
    case FeatureType::Outports:
      return outports(at, value, options.lenient);
    case FeatureType::HostName:
      return !options.for_run || host_name(at, value);
    case FeatureType::NetworkName:
      return document.networks.find(text) || may_be_defined(document, "network", text) ||
             unknown_name(at, DiagCode::UnknownNetwork, value, "network", document.networks.names());
    case FeatureType::AnsibleName:
      return document.ansibles.find(text) || may_be_defined(document, "ansible", text) ||
             unknown_name(at, DiagCode::UnknownAnsibleHost, value, "ansible host", document.ansibles.names());
    case FeatureType::Password:
      return strong_password(text) ||
             at.fail(
                 DiagCode::WeakPassword, value.span,
                 "a new password has more than 6 characters, with an upper-case letter, a digit and a sign");
    default:
      break;
  }
  if (spec.scope == Scope::Application && (spec.name == "name" || spec.name == "path") && text.empty())
    return at.fail(DiagCode::WrongValue, value.span,
                   quoted(at.feature.name) + " of an application is not empty");
  return true;
}

bool wrong_type(const At& at, Span span) {
  return at.fail(DiagCode::WrongType, span,
                 quoted(at.feature.name) + " takes " + std::string(type_name(at.spec.type)));
}

bool wrong_list(const At& at, Span span) {
  Diagnostic& d = at.diagnostics.report(
      DiagCode::WrongType, span, quoted(at.feature.name) + " takes " + std::string(type_name(at.spec.type)));
  if (at.spec.type == FeatureType::Outports)
    d.with_help("several ports stand in one string, with commas: '80/tcp,443/tcp'");
  return false;
}

// '2' and '512M' where a number is wanted.
bool number_in_quotes(const At& at, const Text& value) {
  Diagnostic& d =
      at.diagnostics.report(DiagCode::WrongType, value.span,
                            quoted(at.feature.name) + " takes " + std::string(type_name(at.spec.type)));
  if (at.spec.type == FeatureType::Applications && at.feature.op == ast::Op::Contains) {
    const std::string group = "(name = '" + std::string(value.text) + "')";
    d.fix("write " + group, value.span, group);
    return false;
  }
  size_t digits = value.text.find_first_not_of("0123456789");
  std::string_view unit = value.text.substr(std::min(digits, value.text.size()));
  bool word =
      std::all_of(unit.begin(), unit.end(), [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; });
  if (digits != 0 && !value.text.empty() && word)
    d.fix("write " + std::string(value.text), value.span, std::string(value.text));
  return false;
}

bool known_unit(UnitClass units, std::string_view unit) {
  if (units == UnitClass::Any) return true;
  if (unit.empty()) return units != UnitClass::Performance;
  std::span<const std::string_view> known = units_of(units);
  return std::any_of(known.begin(), known.end(),
                     [&](std::string_view one) { return equal_ignoring_case(one, unit); });
}

// A size without a unit is in bytes, and less than a mebibyte of them was hardly meant.
void warn_small_size(const At& at, const hir::Number& number, Span span) {
  constexpr double kPlausible = 1 << 20;
  if (number.real <= 0 || number.real >= kPlausible) return;
  const std::string written = number_text(number), meant = written + (number.real < 100 ? "G" : "M");
  at.diagnostics
      .report(
          DiagCode::SmallSize, span,
          quoted(at.feature.name) + " is in bytes, and " + written + " bytes are less than any machine has")
      .fix("write " + meant, span, meant);
}

bool check_number(const At& at, const hir::Number& number, Span span, const CheckOptions& options) {
  const FeatureSpec& spec = at.spec;
  bool integer = spec.type == FeatureType::Integer;
  if (!integer && spec.type != FeatureType::Number) {
    Diagnostic& d = at.diagnostics.report(
        DiagCode::WrongType, span, quoted(at.feature.name) + " takes " + std::string(type_name(spec.type)));
    if (spec.type != FeatureType::Applications) d.labelled("strings stand in quotes");
    return false;
  }
  if (integer && number.is_float && !options.lenient) {
    at.diagnostics.report(DiagCode::WrongType, span, quoted(at.feature.name) + " takes an integer")
        .with_help("use a smaller unit: 1500M instead of 1.5G");
    return false;
  }
  if (number.real < 0)
    return at.fail(DiagCode::WrongValue, span, quoted(at.feature.name) + " is not negative");
  // radl 2 has durations: there `m` behind a number is minutes, and mega is written M.
  if (at.feature.strict && spec.unit == UnitClass::Size && number.unit.text == "m") {
    at.diagnostics
        .report(DiagCode::WrongUnit, number.unit.span,
                quoted(at.feature.name) + " takes a size, but `m` means minutes: mega is `M`")
        .fix("write `M`", number.unit.span, "M");
    return false;
  }
  if (spec.unit == UnitClass::Size && number.unit.text.empty()) warn_small_size(at, number, span);
  if (known_unit(spec.unit, number.unit.text)) return true;
  std::string wanted = spec.unit == UnitClass::None ? "takes no unit"
                       : spec.unit == UnitClass::Size
                           ? "takes a size: K, M, G, T, KB ... or Ki, Mi, Gi, KiB ..."
                           : "needs a unit: ECU, GCEU or HRZ";
  return at.fail(DiagCode::WrongUnit, number.unit ? number.unit.span : span,
                 quoted(at.feature.name) + " " + wanted);
}

bool check_plain(const At& at, const hir::Value& value, const Document& document,
                 const CheckOptions& options) {
  FeatureType type = at.spec.type;
  bool text_type =
      type != FeatureType::Number && type != FeatureType::Integer && type != FeatureType::Applications;
  if (auto* number = value.number()) return check_number(at, *number, value.span(), options);
  if (auto text = value.text())
    return text_type ? check_text(at, {*text, value.span()}, document, options)
                     : number_in_quotes(at, {*text, value.span()});
  if (value.kind() == hir::Kind::Random) return text_type || wrong_type(at, value.span());
  if (value.kind() == hir::Kind::List)
    return type == FeatureType::StringOrList || type == FeatureType::List || wrong_list(at, value.span());
  return true;
}

// What is wrong with a secret is said without what it is: the words of these codes speak of the feature
// alone.
bool check_secret(const At& at, const hir::Value& value, const Document& document,
                  const CheckOptions& options) {
  if (!may_be_secret(at.spec.scope, &at.spec, at.feature.name)) return false;  // check_secrecy() says so
  Diagnostics unheard;
  if (check_plain({at.spec, at.feature, unheard}, value.content(expr::kPermitted), document, options))
    return true;
  for (const Diagnostic& found : unheard.all()) {
    bool of_feature = found.code == DiagCode::WrongType || found.code == DiagCode::WeakPassword ||
                      found.code == DiagCode::WrongOperator;
    return at.fail(found.code, value.span(),
                   of_feature ? found.message : "the feature does not accept the value of this secret");
  }
  return false;
}

bool has_secret(const hir::Value& value) {
  if (value.sensitive()) return true;
  const auto* list = value.list();
  return list && std::any_of(list->begin(), list->end(), has_secret);
}

bool check_value(const At& at, const hir::Value& value, const Document& document,
                 const CheckOptions& options) {
  return value.sensitive() ? check_secret(at, value, document, options)
                           : check_plain(at, value, document, options);
}

}  // namespace

bool check_feature(const FeatureSpec& spec, const Merged& feature, const Document& document,
                   Diagnostics& diagnostics, const CheckOptions& options) {
  At at{spec, *feature.first, diagnostics};
  switch (feature.kind) {
    case Merged::Kind::Number: {
      const Bound &lower = feature.lower, &upper = feature.upper;
      auto check = [&](const Bound& bound) {
        return check_number({spec, *bound.from, diagnostics}, *bound.number(), bound.from->value.span(),
                            options);
      };
      bool right = !lower.from || check(lower);
      if (!upper.from || upper.from == lower.from) return right;
      return check(upper) && right;
    }
    case Merged::Kind::Value:
      return check_value(at, *feature.value, document, options);
    case Merged::Kind::Set: {
      bool right = true;
      for (const hir::Feature* one : feature.set)
        right = check_value(at, one->value, document, options) && right;
      return right;
    }
    case Merged::Kind::Groups:
      break;
    case Merged::Kind::Unknown:
      return true;
  }
  if (spec.type != FeatureType::Applications) return wrong_type(at, feature.first->span);
  bool right = true;
  for (const FeatureSet& group : feature.groups)
    for (const Merged& item : group.items) {
      const FeatureSpec* row = find_feature(Scope::Application, item.name());
      if (row && row->checked) right = check_feature(*row, item, document, diagnostics, options) && right;
      warn_feature(Scope::Application, row, item, diagnostics, options);
      check_secrecy(Scope::Application, row, item, diagnostics);
    }
  return right;
}

void check_secrecy(Scope scope, const FeatureSpec* spec, const Merged& feature, Diagnostics& diagnostics) {
  if (may_be_secret(scope, spec, feature.name())) return;
  const auto hidden = [&](const hir::Value& value) {
    if (!has_secret(value)) return false;
    diagnostics.report(DiagCode::SecretShown, value.span(),
                       quoted(feature.name()) + " is shown in plans: it cannot be a secret");
    return true;
  };
  if (feature.kind == Merged::Kind::Unknown) hidden(feature.first->value);  // a secret without a value yet
  if (feature.kind == Merged::Kind::Value) hidden(*feature.value);
  if (feature.kind == Merged::Kind::Set)
    std::any_of(feature.set.begin(), feature.set.end(),
                [&](const hir::Feature* one) { return hidden(one->value); });
}

}  // namespace radl::sema
