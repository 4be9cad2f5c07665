#include "compiler/passes/properties.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/dataset_digest.h"
#include "common/dataset_files.h"
#include "common/digest.h"
#include "common/own_folders.h"
#include "common/tidy_path.h"
#include "compiler/passes/property_setter.h"

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
Result<std::string> folder_digest(const std::string& root, Holding holding) {
  std::map<std::string, std::string> lines;  // sorted by path
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, error), end; at != end; at.increment(error)) {
    if (error) break;
    std::string relative = at->path().lexically_relative(root).generic_string();
    fs::file_status status = at->symlink_status(error);
    if (fs::is_symlink(status)) {
      lines[relative] =
          fmt::format("link {} {}\n", sha256_hex(fs::read_symlink(at->path(), error).string()), relative);
    } else if (fs::is_directory(status)) {
      if (is_left_out(at->path(), holding)) at.disable_recursion_pending();
    } else if (fs::is_regular_file(status)) {
      auto digest = sha256_file(at->path().string());
      if (!digest.ok()) return digest;
      lines[relative] = fmt::format("{:04o} {} {}\n", static_cast<unsigned>(status.permissions()) & 07777u,
                                    *digest, relative);
    }
    if (lines.size() > kMaxEntries)
      return Status(Code::Quota, fmt::format("{} holds more than {} files", root, kMaxEntries));
  }
  if (error) return Status(Code::Invalid, fmt::format("{}: {}", root, error.message()));
  Sha256 sum;
  for (const auto& [relative, line] : lines) sum.update(line);
  return sum.finish_hex();
}

Result<std::string> path_digest(const std::string& path, Holding holding) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return folder_digest(path, holding);
  if (fs::is_regular_file(status)) return sha256_file(path);
  if (!fs::exists(status)) return not_found(fmt::format("{} is not there", path));
  return invalid(fmt::format("{} is neither a file nor a folder", path));
}

// One property being set.

}  // namespace

Result<std::string> LocalFiles::digest(const std::string& path, Holding holding) {
  auto found = known_.find({path, holding});
  if (found == known_.end())
    found = known_.emplace(std::pair(path, holding), path_digest(path, holding)).first;
  return found->second;
}

Result<std::string> LocalFiles::dataset_digest(const std::string& path) {
  auto digest = [&]() -> Result<std::string> {
    auto files = list_dataset(path);
    if (!files.ok()) return files.status();
    auto digests = file_digests(*files);
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
  LocalFiles files;
  ir::Secrets secrets;
  ir::Json unused = ir::Json::object();
  set_property({diagnostics, files, secrets, {}, "", {}}, property, value, at, unused);
  return diagnostics.errors() == errors;
}

}  // namespace radl::passes
