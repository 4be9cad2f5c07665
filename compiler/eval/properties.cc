#include "compiler/eval/properties.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/dataset_digest.h"
#include "common/dataset_files.h"
#include "common/digest.h"
#include "common/own_folders.h"
#include "common/tidy_path.h"
#include "compiler/eval/property_setter.h"

namespace radl::passes {

namespace fs = std::filesystem;
using expr::Value;

std::string absolute_path(const std::string& folder, const std::string& path) {
  fs::path place(path);
  if (place.is_relative()) place = fs::path(folder) / place;
  std::error_code error;
  fs::path absolute = fs::absolute(place, error);
  std::string text = tidy_path((error ? place : absolute).string());
  if (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

namespace {

constexpr size_t kMaxEntries = 100'000;

Result<std::string> path_digest(const std::string& path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    auto sum = sum_folder(path, {});
    return sum ? Result<std::string>(sum->digest) : sum.status();
  }
  if (fs::is_regular_file(status)) return sha256_file(path);
  if (!fs::exists(status)) return not_found(fmt::format("{} does not exist", path));
  return invalid(fmt::format("{} is neither a file nor a folder", path));
}

}  // namespace

Result<FolderSum> sum_folder(const std::string& root, const Contents& contents) {
  std::map<std::string, std::string> lines;  // sorted by path
  FolderSum sum;
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, error), end; at != end; at.increment(error)) {
    if (error) break;
    std::string relative = at->path().lexically_relative(root).generic_string();
    fs::file_status status = at->symlink_status(error);
    const Belongs part = belongs(*at, relative, contents);
    if (part != Belongs::Yes) {
      const bool folder = fs::is_directory(status);
      if (folder) at.disable_recursion_pending();
      if (part == Belongs::Ignored) ++(folder ? sum.ignored_folders : sum.ignored_files);
    } else if (fs::is_symlink(status)) {
      lines[relative] =
          fmt::format("link {} {}\n", sha256_hex(fs::read_symlink(at->path(), error).string()), relative);
    } else if (fs::is_regular_file(status)) {
      auto digest = sha256_file(at->path().string());
      if (!digest.ok()) return digest.status();
      sum.bytes += at->file_size(error);
      lines[relative] = fmt::format("{:04o} {} {}\n", static_cast<unsigned>(status.permissions()) & 07777u,
                                    *digest, relative);
    }
    if (lines.size() > kMaxEntries)
      return Status(Code::Quota, fmt::format("{} holds more than {} files", root, kMaxEntries));
  }
  if (error) return Status(Code::Invalid, fmt::format("{}: {}", root, error.message()));
  Sha256 hash;
  for (const auto& [relative, line] : lines) hash.update(line);
  sum.digest = hash.finish_hex();
  sum.files = lines.size();
  return sum;
}

const Result<FolderSum>& LocalFiles::sources(const std::string& path,
                                             const std::vector<std::string>& patterns,
                                             const IgnoreRules& rules) {
  std::pair key(path, patterns);
  auto found = sources_.find(key);
  if (found == sources_.end())
    found = sources_.emplace(std::move(key), sum_folder(path, {Holding::Sources, rules})).first;
  return found->second;
}

Result<std::string> LocalFiles::digest(const std::string& path) {
  auto found = known_.find(path);
  if (found == known_.end()) found = known_.emplace(path, path_digest(path)).first;
  return found->second;
}

Result<std::string> LocalFiles::dataset_digest(const std::string& path) {
  auto digest = [&]() -> Result<std::string> {
    auto files = list_dataset(path);
    if (!files.ok()) return files.status();
    auto digests = file_digests(*files, cache_);
    if (!digests.ok()) return digests.status();
    return content_digest(*files, *digests);
  };
  auto found = datasets_.find(path);
  if (found == datasets_.end()) found = datasets_.emplace(path, digest()).first;
  return found->second;
}

void set_property(const PropertyContext& context, const ir::Property& property, const Value& value, Span at,
                  ir::Json& into) {
  PropertySetter(context, property, at, into).run(value);
}

bool fits_property(const ir::Property& property, const Value& value, Span at, Diagnostics& diagnostics) {
  switch (property.type) {
    case ir::PropertyType::String:
    case ir::PropertyType::Integer:
    case ir::PropertyType::Number:
    case ir::PropertyType::Boolean:
    case ir::PropertyType::Size:
    case ir::PropertyType::Duration:
    case ir::PropertyType::Mode:
    case ir::PropertyType::List:
    case ir::PropertyType::Map:
    case ir::PropertyType::SizeStages:
    case ir::PropertyType::ImageSize:
      break;
    default:
      return true;
  }
  size_t errors = diagnostics.errors();
  LocalFiles files("");
  ir::Secrets secrets;
  ir::Json unused = ir::Json::object();
  set_property({diagnostics, files, secrets, {}, "", {}}, property, value, at, unused);
  return diagnostics.errors() == errors;
}

}  // namespace radl::passes
