// The table of resource types and properties of native recipes. The checker, completion, the documentation
// (docs/steps-schema.md) and the runtime's tests read it. runtime/steps implements the types.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/resources/string_form.h"

namespace radl::ir {

enum class PropertyType {
  String,
  Integer,
  Number,
  Boolean,     // yes, no, true, false, or these as strings; JSON true/false in the IR
  Size,        // number with a size unit; bytes in the IR
  Duration,    // number with s, m, h or d (none: seconds); seconds in the IR
  Mode,        // text of 3 or 4 octal digits; four digits in the IR
  LocalPath,   // file or folder on the computer that runs radlc, relative to the source file; absolute in the
               // IR, with its content's digest in the property NAME_sha256
  Output,      // a result: a folder on the computer that runs radlc, which need not exist, absolute in the
               // IR; or a bucket address "s3://BUCKET/PREFIX" without a trailing slash
  Bucket,      // an Output that must be in a bucket
  RemotePath,  // path on the node; relative paths start at the login's home
  List,        // of strings
  Map,         // text -> text
  Systems,     // a system or a list of systems; addresses of its nodes in the IR
  SizeStages,  // list of [share of the sides, share of the run]; a list of {scale, until} in the IR
  Dataset,     // name or place, or a map {name, directory, train, test, ...}; a map in the IR (docs/ir.md)
  DatasetPath,  // place of a dataset: absolute path or URI in the IR; a local one also has NAME_sha256
  ImageSize,    // side, 'HxW' or 'HxWxC'; [height, width, channels] in the IR
  Source,       // a LocalPath, or 'git::URL@COMMIT' with a whole commit
  LocalPaths,   // name -> LocalPath; a list of {name, path, sha256} in the IR
};

struct Property {
  std::string_view name;
  PropertyType type;
  bool required = false;
  std::string_view default_json;  // JSON text; empty: no default, the property is absent from the IR
  std::string_view one_of;        // values separated by '|'; empty: any
  double min = 0, max = 0;        // range of a number, if min < max
  std::string_view doc;           // one sentence of Markdown
  std::string_view job_key =
      {};  // for `training`: its key in the job file, such as "optimizer.momentum"; else empty
  StringForm form = StringForm::Any;  // of a string, or of each string of a list
};

struct ResourceType {
  std::string_view name;
  std::string_view subject;   // meaning of the resource's name: "path on the node"
  bool name_is_path = false;  // the name must be an absolute path, or one that starts with ~/
  std::span<const Property> properties;
  std::string_view doc;        // what it does; Markdown
  std::string_view undoing;    // effect of removing the resource from the recipe
  std::string_view exclusive;  // properties of which exactly one must be given, separated by '|'; a leading
                               // '?' allows none
};

std::span<const ResourceType> resource_types();
// nullptr if unknown.
const ResourceType* find_resource_type(std::string_view name);
const Property* find_property(const ResourceType& type, std::string_view name);
// `training` or `program`: the only resource in its configure, and chooses its nodes itself.
bool is_job_type(std::string_view name);
std::string_view property_type_name(PropertyType type);
// The whole table as a Markdown page.
std::string resource_schema_markdown();

}  // namespace radl::ir
