// Strict reader for JSON objects: every key must be consumed, have the right type and be in range.
//
// Collects all problems, each with the path of its key, so that a user sees them in one run.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"

namespace radl::engine {

// Parses JSON text. Duplicate keys and trailing text are errors. Messages name file, line and
// column.
Result<nlohmann::json> parse_json_strict(std::string_view text, std::string_view file);

// A key that a reader accepts, for documentation.
struct KeyInfo {
  std::string path;    // "optimizer.momentum", "resize[].scale"
  std::string values;  // "integer, at least 0"; names in backticks
  std::string preset;  // its default as JSON, "chosen" if the engine chooses it, or "none"
};

class Problems {
 public:
  Problems() = default;
  // For documentation: readers append their keys to `keys` instead of reading. Objects and lists then contain
  // one empty object, so that nested readers run too.
  explicit Problems(std::vector<KeyInfo>& keys) : keys_(&keys) {}
  std::vector<KeyInfo>* keys() { return keys_; }

  void add(const std::string& path, const std::string& what);
  bool empty() const { return lines_.empty(); }
  size_t count() const { return lines_.size(); }
  // Ok, or Invalid with one line per problem, each prefixed with `file`.
  Status status(std::string_view file) const;

 private:
  std::vector<std::string> lines_;
  std::vector<KeyInfo>* keys_ = nullptr;
};

// The allowed range of a number; an unset end is open.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;  // excludes the low end itself
};

// The keys of one object. Every getter marks its key as known, and leaves `out` unchanged if the key is
// absent.
class Fields {
 public:
  Fields(const nlohmann::json& object, std::string path, Problems& problems);
  ~Fields();  // reports unknown keys, with the nearest known one
  Fields(const Fields&) = delete;

  void get(const char* key, std::string& out);
  void get(const char* key, bool& out);
  void get(const char* key, int& out, Range range = {});
  void get(const char* key, int64_t& out, Range range = {});
  void get(const char* key, uint64_t& out);
  void get(const char* key, double& out, Range range = {});
  void get(const char* key, std::vector<double>& out, Range range = {});
  void get(const char* key, std::vector<std::string>& out);
  // One of `names`; `out` receives its index.
  void get_name(const char* key, const std::vector<std::string_view>& names, int& out);
  // One of `names`, as text.
  void get_name(const char* key, const std::vector<std::string_view>& names, std::string& out);
  // The object at `key`; nullptr if absent, or if it is not an object (reported).
  const nlohmann::json* object(const char* key);
  // Same for an array.
  const nlohmann::json* array(const char* key);
  bool has(const char* key) const;
  std::string path_of(const char* key) const;

 private:
  const nlohmann::json* find(const char* key);
  // Appends the key if the readers only describe themselves; false otherwise.
  bool describe(const char* key, std::string values, std::string preset);
  std::optional<double> number(const nlohmann::json& value, const std::string& path, const Range& range);

  const nlohmann::json& object_;
  std::string path_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace radl::engine
