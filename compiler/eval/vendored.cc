#include "compiler/eval/vendored.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/modules/content.h"
#include "common/text.h"
#include "common/tidy_path.h"
#include "compiler/eval/library.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBring = "`radlc vendor` downloads it";

bool below(const fs::path& path, const fs::path& folder) {
  fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

fs::path real(const std::string& path) {
  std::error_code error;
  fs::path whole = fs::weakly_canonical(path.empty() ? "." : path, error);
  return error ? fs::path(path) : whole;
}

Status not_vendored(std::string message) {
  return Status(Code::Conflict, std::move(message)).with_hint(kBring);
}

}  // namespace

std::string project_of(const std::string& folder) {
  std::error_code error;
  fs::path at = fs::absolute(folder.empty() ? "." : folder, error).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();
  std::string up = folder.empty() ? "." : folder, found = folder;
  for (; !error && at.has_relative_path(); at = at.parent_path()) {
    up += "/..";
    // The outermost one: a package may have modules/ of its own.
    if (at.filename() == "modules" && fs::is_regular_file(at.parent_path() / vendored::kLockFile, error))
      found = tidy_path(up);
  }
  return found;
}

VendoredModules::VendoredModules(const std::string& project, bool verify)
    : project_(project_of(project)), verify_(verify), lock_(vendored::read_lock_file(project_)) {}

std::string VendoredModules::folder_of(const vendored::Package& package) const {
  return tidy_path((project_.empty() ? "." : project_) + "/" + package.folder());
}

std::optional<std::string> VendoredModules::package_folder(const std::string& file) const {
  if (!lock_.ok()) return std::nullopt;
  for (const vendored::Package& package : lock_->packages) {
    const std::string folder = folder_of(package);
    if (below(real(file), real(folder))) return folder;
  }
  return std::nullopt;
}

Result<vendored::Address> VendoredModules::address(std::string_view text,
                                                   const std::string& importing_file) const {
  const std::string folder = fs::path(importing_file).parent_path().string();
  auto address = vendored::parse_address(text, folder, project_);
  if (!address.ok() || !address->local || !lock_.ok()) return address;
  // A package from elsewhere must not reach into this computer.
  for (const vendored::Package& package : lock_->packages) {
    if (!below(real(importing_file), real(folder_of(package)))) continue;
    auto parent =
        vendored::parse_address(vendored::address_of(package.address, "module"), project_, project_);
    const bool absolute = address->location.starts_with("/") || address->location.starts_with("file://");
    if (!absolute || !parent.ok() || !parent->local) {
      return invalid("a module from elsewhere cannot use a repository or archive of this computer")
          .with_hint("only one that came from this computer itself can, by a whole path");
    }
  }
  return address;
}

Status VendoredModules::verified(const vendored::Package& package) {
  auto [slot, fresh] = verified_.try_emplace(package.address);
  if (!fresh || !verify_) return slot->second;
  const std::string folder = folder_of(package);
  auto content = vendored::read_content(folder);
  if (!content.ok() && content.status().code() == Code::NotFound)
    slot->second = not_vendored(fmt::format("{} is locked, but {} does not exist", package.address, folder));
  else if (!content.ok())
    slot->second = Status(content.status());
  else if (vendored::content_digest(*content) != package.sha256)
    slot->second =
        Status(Code::Conflict,
               fmt::format("{} was changed: it is not what {} says", folder, vendored::kLockFile))
            .with_hint(
                "`radlc vendor` downloads the locked one again; `radlc vendor --update` takes another "
                "version");
  return slot->second;
}

Result<std::string> VendoredModules::find(const vendored::Address& address) {
  if (!lock_.ok()) return lock_.status();
  const vendored::Package* package = lock_->find(address.package);
  if (package == nullptr) return not_vendored(fmt::format("{} is not vendored", address.package));
  if (Status fine = verified(*package); !fine.ok()) return fine;
  const std::string file = folder_of(*package) + "/" + address.module + ".radl";
  std::error_code error;
  if (fs::is_regular_file(file, error)) return tidy_path(file);
  Status status = not_found(fmt::format("{} has no module '{}'", address.package, address.module));
  std::vector<std::string> names;
  list_folder(folder_of(*package), "", names);
  std::string near = nearest(address.module, names);
  if (near.empty() && !names.empty()) near = names.front();
  return std::move(status).with_hint(near.empty() ? "it holds no .radl file"
                                                  : fmt::format("it has '{}'", near));
}

std::vector<std::string> VendoredModules::list() const {
  std::vector<std::string> all;
  if (!lock_.ok()) return all;
  for (const vendored::Package& package : lock_->packages) {
    std::vector<std::string> modules;
    list_folder(folder_of(package), "", modules);
    for (const std::string& module : modules) all.push_back(vendored::address_of(package.address, module));
  }
  return all;
}

}  // namespace radl
