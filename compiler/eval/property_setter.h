// Sets one property of a native resource. Internal to properties.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/eval/properties.h"

namespace radl::passes {

class PropertySetter {
 public:
  PropertySetter(const PropertyContext& context, const ir::Property& property, Span at, ir::Json& into)
      : context_(context), property_(property), at_(at), into_(into) {}

  // Reports an invalid value.
  void run(const expr::Value& value);

 private:
  using Value = expr::Value;
  using ValueKind = expr::Kind;

  std::string key() const;
  void wrong(std::string_view what, const Value& value, std::string help = "");
  bool is_shown() const;
  bool may_be_unknown() const;
  void put(const Value& value);
  const std::string* known_text(const Value& value, std::string_view what);
  void text(const Value& value);
  bool fits_form(const Value& value);
  void choice(const Value& value);
  bool in_range(double value);
  bool shown(const Value& value);
  void number(const Value& value);
  void measured(const Value& value, std::optional<double> factor, std::string_view what);
  void boolean(const Value& value);
  void mode(const Value& value);
  void list(const Value& value);
  void map(const Value& value);
  void systems(const Value& value);
  void size_stages(const Value& value);
  void image_size(const Value& value);

  // property_places.cc: local files and bucket addresses
  struct LocalFile {
    std::string path, sha256;  // absolute path; digest of its content
  };
  // nullopt after a report.
  std::optional<LocalFile> local_file(const Value& value, std::string_view wanted);
  void output(const Value& value);
  void bucket(const Value& value);
  void bucket(const std::string& text, const Value& value);
  void local_path(const Value& value);
  void source(const Value& value);
  void local_paths(const Value& value);
  void refuse(const Status& why);
  void set_dataset(const Value& name, ir::Json& made);
  void dataset_path(const Value& value);
  void dataset(const Value& value);

  const PropertyContext& context_;
  const ir::Property& property_;
  Span at_;
  ir::Json& into_;
};

}  // namespace radl::passes
