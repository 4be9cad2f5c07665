// JSON -> Program. Every complaint names the field: "nodes[3].requirements.cpu.count.min: expected a number,
// got text". Fields that this version does not know are refused: a reader that drops what it does not
// understand would apply something else than what was written.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "common/json_depth.h"
#include "compiler/ir/json_fields.h"

namespace radl::ir {
namespace {

constexpr int kMaxDepth = 64;

// Reads one object; remembers the first complaint of the whole document.
class Reader {
 public:
  Reader(const Json& json, std::string path, Status& status)
      : json_(json), path_(std::move(path)), status_(status) {
    if (!json_.is_object()) complain(path_.empty() ? "IR" : path_, "expected an object");
  }

  template <class T>
  void must(const char* key, T& value) {
    if (const Json* json = get(key))
      read(*json, at(key), value);
    else if (json_.is_object())
      complain(at(key), "is missing");
  }
  template <class T>
  void always(const char* key, T& value) {
    given(key, value);
  }
  template <class T>
  void given(const char* key, T& value) {
    if (const Json* json = get(key)) read(*json, at(key), value);
  }
  void given(const char* key, bool& value, bool /*fallback*/) { given(key, value); }
  void object(const char* key, JsonBox& value) {
    const Json* json = get(key);
    if (json != nullptr && is_object(*json, at(key))) value = *json;
  }

  // To be called when all fields were asked for.
  void finish() {
    if (!json_.is_object()) return;
    for (const auto& [key, value] : json_.items())
      if (!seen_.contains(key)) return complain(at(key), "is not a field of this version");
  }

 private:
  void read(const Json& json, const std::string& path, std::string& value) {
    if (!json.is_string()) return complain(path, "expected a string");
    value = json.get<std::string>();
  }
  void read(const Json& json, const std::string& path, double& value) {
    if (!json.is_number() || !std::isfinite(json.get<double>())) return complain(path, "expected a number");
    value = json.get<double>();
  }
  void read(const Json& json, const std::string& path, int& value) {
    if (!json.is_number_integer()) return complain(path, "expected an integer");
    const bool fits = json.is_number_unsigned()
                          ? json.get<uint64_t>() <= INT32_MAX
                          : json.get<int64_t>() >= INT32_MIN && json.get<int64_t>() <= INT32_MAX;
    if (!fits) return complain(path, "is out of range");
    value = json.get<int>();
  }
  void read(const Json& json, const std::string& path, bool& value) {
    if (!json.is_boolean()) return complain(path, "expected true or false");
    value = json.get<bool>();
  }
  void read(const Json& json, const std::string&, JsonBox& value) { value = json; }
  void read(const Json& json, const std::string& path, StepKind& value) {
    std::string name;
    read(json, path, name);
    for (StepKind kind : {StepKind::Native, StepKind::Ansible, StepKind::CloudInit, StepKind::Training,
                          StepKind::Program, StepKind::Barrier}) {
      if (name == step_kind_name(kind)) return void(value = kind);
    }
    complain(path, fmt::format("'{}' is not a kind of step", name));
  }
  template <class T>
  void read(const Json& json, const std::string& path, std::optional<T>& value) {
    read(json, path, value.emplace());
  }
  template <class T>
  void read(const Json& json, const std::string& path, std::vector<T>& value) {
    if (!json.is_array()) return complain(path, "expected a list");
    for (size_t i = 0; i < json.size() && status_.ok(); i++)
      read(json[i], fmt::format("{}[{}]", path, i), value.emplace_back());
  }
  template <class T>
  void read(const Json& json, const std::string& path, std::map<std::string, T>& value) {
    if (!is_object(json, path)) return;
    for (const auto& [name, item] : json.items()) read(item, path + "." + name, value[name]);
  }
  template <class T>
  requires requires(Reader& all, T& value) { fields(all, value); }
  void read(const Json& json, const std::string& path, T& value) {
    Reader inner(json, path, status_);
    fields(inner, value);
    inner.finish();
  }

  bool is_object(const Json& json, const std::string& path) {
    if (!json.is_object()) complain(path, "expected an object");
    return json.is_object();
  }
  std::string at(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  void complain(const std::string& path, std::string_view what) {
    if (status_.ok()) status_ = invalid(fmt::format("{}: {}", path, what));
  }
  const Json* get(const char* key) {
    seen_.insert(key);
    if (!json_.is_object()) return nullptr;
    auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  const Json& json_;
  std::string path_;
  Status& status_;
  std::set<std::string> seen_;
};

}  // namespace

Result<Program> from_json(const Json& json) {
  Status status;
  Reader reader(json, "", status);
  Program program;
  reader.must("ir", program.version);
  if (!status.ok()) return status;
  if (program.version != kVersion) {
    return Status(invalid(fmt::format("IR version {} is not supported: this radlc reads version {}",
                                      program.version, kVersion)))
        .with_hint(program.version > kVersion ? "it was written by a newer radlc"
                                              : "compile the source again");
  }
  fields(reader, program);
  reader.finish();
  if (status.ok()) status = verify(program);
  if (!status.ok()) return status;
  return program;
}

Result<Program> parse_program(std::string_view text) {
  if (json_shape(text).depth > kMaxDepth) return invalid(fmt::format("IR: nested deeper than {}", kMaxDepth));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return invalid("IR: this is not JSON (is the file complete?)");
  return from_json(json);
}

}  // namespace radl::ir
