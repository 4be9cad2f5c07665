// The table of known features (features.def), for the check, completion, hover and documentation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/syntax/ast.h"

namespace radl::sema {

enum class Scope : uint8_t { Network, System, Application, Ansible, Description, Option, Radl2System, None };
enum class FeatureType : uint8_t {
  Any,
  Number,
  Integer,
  String,
  Choice,
  Version,
  Outports,
  HostName,
  NetworkName,
  AnsibleName,
  Password,
  Applications,
  StringOrList,
  List,
};
enum class UnitClass : uint8_t { Any, None, Size, Performance };

// How a feature may be written: only with `=`, with any comparison, or as `contains (...)`.
enum class Operators : uint8_t { Equal, All, Contains };
Operators operators_of(FeatureType type);
std::span<const std::string_view> units_of(
    UnitClass units);  // case-insensitive; an empty list for Any and None

struct FeatureSpec {
  Scope scope;
  std::string_view name;  // "disk.N.size", "expose.*"
  FeatureType type;
  UnitClass unit;
  bool checked;  // the reference's check validates it
  std::vector<std::string_view> values;
  std::string_view default_value;
  std::string_view documentation;
};

const std::vector<FeatureSpec>& all_features();
// "disk.12.os.name" has kind "disk", index "12", rest "os.name". For names that do not begin with disk. or
// net_interface., kind is empty.
struct IndexedName {
  std::string_view kind, index, rest;
  int64_t number = 0;  // of index
  bool valid = false;  // index is a number
};
IndexedName split_index(std::string_view name);

// Looks up a name: "disk.0.size" in System finds "disk.N.size". nullptr if unknown.
const FeatureSpec* find_feature(Scope scope, std::string_view name);
const FeatureSpec* find_feature(Scope scope, std::string_view name,
                                const IndexedName& parts);  // the name's split_index
// The known name nearest to a misspelled one, with its indices: "disk.0.size"; "" if none is near.
std::string nearest_feature(Scope scope, std::string_view name);

Scope scope_of(ast::Kind block);
std::string_view type_name(FeatureType type);  // "a number", for messages and docs
bool is_secret_name(std::string_view name);    // a password, private key or token
// True if a feature's value may be a secret: it has a secret name, or is passed on without interpretation.
// All others appear in plans or in requests to a cloud.
bool may_be_secret(Scope scope, const FeatureSpec* spec, std::string_view name);

}  // namespace radl::sema
