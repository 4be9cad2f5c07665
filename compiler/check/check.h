// The document check: everything that the reference's check refuses, and what a careful reader would warn
// about. All findings are collected; nothing is changed.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/check/document.h"
#include "compiler/check/features.h"
#include "compiler/diag/diagnostic.h"

namespace radl::sema {

// Names that stand in what is left out (`when`, `each` over nothing), with their modules' prefixes.
struct LeftOut {
  std::set<std::string, std::less<>> deployed, configured;
};

struct CheckOptions {
  bool lenient = false;  // also takes i686 and ARM, spaces in outports, fractions of memory
  // What a run needs and the reference does not check: a dns_name is a host name (RFC 1123), and a choice or
  // a number is one, also where the reference takes any value.
  bool for_run = false;
  bool unused = true;  // warn about what is never deployed, configured or connected
  const LeftOut* left_out = nullptr;
  std::span<const std::string> image_schemes;  // that images may have; empty: any
};

// Whether the values of this row are checked.
bool is_checked(const FeatureSpec& spec, const CheckOptions& options);

void check_document(const Document& document, Diagnostics& diagnostics, const CheckOptions& options = {});

// The passes of check_document, in order.
void check_networks(const Document& document, Diagnostics& diagnostics, const CheckOptions& options);
void check_ansibles(const Document& document, Diagnostics& diagnostics);
void check_systems(const Document& document, Diagnostics& diagnostics, const CheckOptions& options);
void check_deploys(const Document& document, Diagnostics& diagnostics);
void check_configures(const Document& document, Diagnostics& diagnostics);
void check_contextualize(const Document& document, Diagnostics& diagnostics);
void check_unused(const Document& document, Diagnostics& diagnostics, const CheckOptions& options);

// Is this name that of a block (of this keyword) that could not be read: one with an unknown keyword,
// without a name, or that a string or recipe without end swallowed? It was reported already; that nothing
// defines the name would be a second message about the same mistake.
bool may_be_defined(const Document& document, std::string_view keyword, std::string_view name);

// "systems: front, worker": adds the names that exist, the first ten, as help for an unknown one. Nothing if
// there are none. `what`: "system".
void help_with_names(Diagnostic& diagnostic, std::string_view what, std::vector<std::string_view> names);

// Type, operator, value and unit of one feature, at each place where it is written. True when it is right.
bool check_feature(const FeatureSpec& spec, const Merged& feature, const Document& document,
                   Diagnostics& diagnostics, const CheckOptions& options);
// What check_feature and the two below say, of each feature.
void check_set(Scope scope, const FeatureSet& features, const Document& document, Diagnostics& diagnostics,
               const CheckOptions& options);
// A secret where it would be seen.
void check_secrecy(Scope scope, const FeatureSpec* spec, const Merged& feature, Diagnostics& diagnostics);
// Warnings for a name: unknown, ranges and lists that RADL-JSON loses, plain secrets.
void warn_feature(Scope scope, const FeatureSpec* spec, const Merged& feature, Diagnostics& diagnostics,
                  const CheckOptions& options);

}  // namespace radl::sema
