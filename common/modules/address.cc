#include "common/modules/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "common/http/url.h"
#include "common/text.h"

namespace radl::vendored {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGit = "git::";
constexpr std::array<std::string_view, 11> kArchives = {".tar.gz",  ".tgz",    ".tar.xz",  ".txz",
                                                        ".tar.bz2", ".tbz2",   ".tar.zst", ".tzst",
                                                        ".tar",     ".tar.lz", ".zip"};

std::string_view archive_suffix(std::string_view path) {
  for (std::string_view suffix : kArchives)
    if (path.size() > suffix.size() && path.ends_with(suffix)) return suffix;
  return {};
}

size_t after_scheme(std::string_view text) {
  size_t scheme = text.find("://");
  return scheme == text.npos ? 0 : scheme + 3;
}

// The parts before and after the `//` that is not the scheme's.
std::pair<std::string_view, std::string_view> parts_of(std::string_view text) {
  size_t at = text.find("//", after_scheme(text));
  if (at == text.npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 2)};
}

Status check_module(std::string_view module) {
  if (module.empty())
    return Status(Code::Invalid, "the address does not say which module is meant")
        .with_hint("write it behind two slashes: 'git::https://host/repository.git//MODULE@v1'");
  for (std::string_view part : split(module, '/')) {
    if (part.empty() || part.front() == '.')
      return invalid("the module's path in an address has a part that is empty or begins with a dot");
  }
  if (module.ends_with(".radl")) return invalid("the module's path in an address is written without .radl");
  return {};
}

Status check_url(const std::string& location, bool git) {
  auto url = http::parse_url(location);
  if (!url.ok()) return Status(Code::Auth, "the address holds no URL that can be read");
  const std::string scheme = to_lower(url->scheme);
  if (!url->password.empty() || (!url->user.empty() && scheme != "ssh")) {
    return Status(Code::Auth, "the address holds a user or a password")
        .with_hint("take them out: git asks its credential helper, ssh its agent");
  }
  const bool taken = scheme == "https" || scheme == "file" || (git && scheme == "ssh");
  if (!taken) {
    return invalid(fmt::format("modules do not come over {}", scheme))
        .with_hint(git ? "a repository is reached by https://, ssh:// or file://"
                       : "an archive is reached by https:// or file://");
  }
  if (scheme == "file" ? !url->host.empty() || url->path.size() < 2 : url->host.empty())
    return invalid("the address names no host or path").with_hint("a path is written file:///folder/file");
  if (url->host.starts_with("-") || url->user.starts_with("-"))
    return invalid("the address's host begins with a dash");
  return {};
}

// A path of this computer, relative to the project unless it is absolute.
std::string local_path(std::string_view written, const std::string& folder, const std::string& project) {
  fs::path path(written);
  if (path.is_absolute()) return path.lexically_normal().generic_string();
  std::error_code error;
  fs::path from = fs::absolute(project.empty() ? "." : project, error).lexically_normal();
  fs::path whole = fs::absolute((folder.empty() ? "." : folder) / path, error).lexically_normal();
  std::string relative = whole.lexically_relative(from).generic_string();
  return relative.starts_with("../") ? relative : "./" + relative;
}

// Location and REF. An `@` before the path belongs to a user, and a path has none (parse_address).
std::pair<std::string_view, std::string_view> split_package(std::string_view package) {
  size_t path = package.find("://") == package.npos ? 0 : package.find('/', after_scheme(package));
  size_t at = package.find('@', std::min(path, package.size()));
  if (!package.starts_with(kGit) || at == package.npos) return {package, {}};
  return {package.substr(0, at), package.substr(at + 1)};
}

}  // namespace

bool is_address(std::string_view text) {
  if (text.starts_with(kGit) || text.find("://") != text.npos) return true;
  return !archive_suffix(parts_of(text).first).empty();
}

bool is_reference(std::string_view text) {
  auto fits = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("._/+-").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= 200 && text.front() != '-' && text.front() != '/' &&
         text.back() != '/' && text.back() != '.' && !text.ends_with(".lock") &&
         text.find("..") == text.npos && text.find("//") == text.npos &&
         std::all_of(text.begin(), text.end(), fits);
}

bool is_commit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Result<Address> parse_address(std::string_view text, const std::string& folder, const std::string& project) {
  for (unsigned char c : text)
    if (c < 0x20 || c == 0x7f || c == '\\') return invalid("the address has a character that no address has");
  if (text.find_first_of("?#") != text.npos)
    return Status(Code::Auth, "the address has a ? or #, behind which a secret may stand");
  Address made;
  made.git = text.starts_with(kGit);
  if (made.git) text.remove_prefix(kGit.size());
  auto [location, module] = parts_of(text);
  const size_t at = made.git ? module.rfind('@') : module.npos;
  if (at != module.npos) {
    made.ref = module.substr(at + 1);
    module = module.substr(0, at);
  }
  const bool is_url = location.find("://") != location.npos;
  made.local = !is_url || location.starts_with("file://");
  if (is_url) {
    if (Status url = check_url(std::string(location), made.git); !url.ok()) return url;
  } else if (!location.starts_with("/") && !location.starts_with("./") && !location.starts_with("../")) {
    return invalid("the address is neither a URL nor a path that begins with ./, ../ or /")
        .with_hint("git's short form user@host:path is written ssh://user@host/path");
  }
  if (made.git && !split_package(std::string(kGit) + std::string(location)).second.empty()) {
    return invalid("the repository's path has an @")
        .with_hint("write the tag after the module: '..//MODULE@v1'");
  }
  if (!made.git && archive_suffix(location).empty()) {
    return invalid("the address names no archive that can be read")
        .with_hint(
            "a repository is written 'git::https://..'; an archive ends in .tar.gz, .tar.xz, .zip, ...");
  }
  if (at != std::string_view::npos && !is_reference(made.ref))
    return invalid("the text after @ in the address is not a tag, branch or commit");
  if (Status fine = check_module(module); !fine.ok()) return fine;
  made.module = module;
  made.location = is_url ? std::string(location) : local_path(location, folder, project);
  made.package =
      (made.git ? std::string(kGit) : "") + made.location + (made.ref.empty() ? "" : "@" + made.ref);
  return made;
}

std::string address_of(std::string_view package, std::string_view module) {
  auto [location, ref] = split_package(package);
  return fmt::format("{}//{}{}{}", location, module, ref.empty() ? "" : "@", ref);
}

std::string short_name(std::string_view package) {
  package = split_package(package).first;
  while (package.ends_with("/")) package.remove_suffix(1);
  package = package.substr(package.rfind('/') + 1);
  package.remove_suffix(package.ends_with(".git") ? 4 : archive_suffix(package).size());
  std::string name;
  for (unsigned char c : package.substr(0, 60))
    name += std::isalnum(c) || c == '_' || c == '.' || c == '-' ? char(c) : '-';
  return name.empty() || name.front() == '.' || name.front() == '-' ? "module" + name : name;
}

}  // namespace radl::vendored
