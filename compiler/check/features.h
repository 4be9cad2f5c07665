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

// How a feature may be written: with `=` alone, with any comparison, or as `contains (...)`.
enum class Operators : uint8_t { Equal, All, Contains };
Operators operators_of(FeatureType type);
std::span<const std::string_view> units_of(
    UnitClass units);  // in any case of letters; empty for Any and None

struct FeatureSpec {
  Scope scope;
  std::string_view name;  // "disk.N.size", "expose.*"
  FeatureType type;
  UnitClass unit;
  bool checked;  // the reference's check looks at it
  std::vector<std::string_view> values;
  std::string_view default_value;
  std::string_view documentation;
};

const std::vector<FeatureSpec>& all_features();
// "disk.12.os.name": kind "disk", index "12", rest "os.name". Only for names that begin with disk. or
// net_interface.; others give an empty kind.
struct IndexedName {
  std::string_view kind, index, rest;
  int64_t number = 0;  // of index
  bool valid = false;  // index is a number
};
IndexedName split_index(std::string_view name);

// "disk.0.size" in System finds "disk.N.size"; nullptr when there is none.
const FeatureSpec* find_feature(Scope scope, std::string_view name);
const FeatureSpec* find_feature(Scope scope, std::string_view name,
                                const IndexedName& parts);  // its split_index
// The known name that `name` was probably meant to be, with its indices: "disk.0.size"; "" when none is near.
std::string nearest_feature(Scope scope, std::string_view name);

Scope scope_of(ast::Kind block);
std::string_view type_name(FeatureType type);  // "a number", for messages and docs
bool is_secret_name(std::string_view name);    // a password, private key or token
// Whether a feature may be a secret: one by its name, or what is handed on unread. All others stand in plans
// or in what a cloud is asked for.
bool may_be_secret(Scope scope, const FeatureSpec* spec, std::string_view name);

}  // namespace radl::sema
