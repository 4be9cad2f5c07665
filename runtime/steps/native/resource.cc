#include "runtime/steps/native/resource.h"

#include <fmt/format.h>

#include "common/digest.h"
#include "common/shell_quote.h"
#include "runtime/steps/manifest.h"

namespace radl::native {

const char* const kLookPrelude = R"sh(
say() { printf '%s\t%s\t%s\n' "$I" "$1" "$2"; }
say_path() {
  if [ -L "$1" ]; then say kind link
  elif [ -f "$1" ]; then say kind file
  elif [ -d "$1" ]; then say kind directory
  elif [ -e "$1" ]; then say kind other
  else
    p=$1
    while [ ! -e "$p" ] && [ "$p" != / ] && [ "$p" != . ]; do p=$(dirname "$p"); done
    if [ -d "$p" ] && [ -x "$p" ]; then say kind absent; else say kind hidden; fi
    return 1
  fi
  s=$(stat -c '%a %U %G %s' "$1" 2>/dev/null) || { say kind hidden; return 1; }
  set -- $s
  say mode "$1"; say owner "$2"; say group "$3"; say size "$4"
}
say_content() {
  d=$(sha256sum < "$1" 2>/dev/null) || { say kind hidden; return 1; }
  d=${d%% *}
  say sha256 "$d"
  [ "$d" = "$2" ] || [ "$(stat -c %s "$1")" -gt 131072 ] || say content "$(base64 < "$1" | tr -d '\n')"
}
)sh";

std::string Item::text(const char* property, const std::string& otherwise) const {
  if (!has(property)) return otherwise;
  const Json& value = resource->properties[property];
  if (value.is_string()) return value.get<std::string>();
  return value.dump();
}

double Item::number(const char* property, double otherwise) const {
  if (!has(property)) return otherwise;
  const Json& value = resource->properties[property];
  if (value.is_number()) return value.get<double>();
  return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr) : otherwise;
}

bool Item::flag(const char* property, bool otherwise) const {
  if (!has(property)) return otherwise;
  const Json& value = resource->properties[property];
  if (value.is_boolean()) return value.get<bool>();
  std::string word = value.is_string() ? value.get<std::string>() : "";
  return word == "yes" || word == "true";
}

Change change(const Item& item, std::string what, Json before, Json after, std::string diff) {
  return {item.label(), std::move(what), std::move(before), std::move(after), std::move(diff)};
}

void plan_access(const Item& item, const Seen& seen, const std::string& wanted_mode, const std::string& path,
                 Work& work) {
  auto get = [&](const char* name) {
    auto found = seen.find(name);
    return found == seen.end() ? std::string() : found->second;
  };
  bool there = get("kind") == "file" || get("kind") == "directory";
  if (!wanted_mode.empty()) {
    auto octal = [](const std::string& text) {
      return fmt::format("{:04o}", std::strtoul(text.c_str(), nullptr, 8));
    };
    std::string wanted = octal(wanted_mode), now = there ? octal(get("mode")) : "";
    if (now != wanted) work.changes.push_back(change(item, "mode", there ? Json(now) : Json(), wanted));
    work.script += fmt::format("chmod {} {}\n", wanted, path);
  }
  for (const char* whose : {"owner", "group"}) {
    std::string wanted = item.text(whose);
    if (wanted.empty()) continue;
    if (!there || get(whose) != wanted)
      work.changes.push_back(change(item, whose, there ? Json(get(whose)) : Json(), wanted));
    work.script += fmt::format("{} {} {}\n", std::string_view(whose) == "owner" ? "chown" : "chgrp",
                               shell_quote(wanted), path);
  }
}

Result<std::string> local_source(const Item& item, const char* property) {
  std::string path = item.text(property), planned = item.text((std::string(property) + "_sha256").c_str());
  auto digest = path_digest(path);
  if (!digest) return std::move(digest).status().at(item.label());
  if (!planned.empty() && *digest != planned) {
    return Status(Code::Conflict,
                  fmt::format("{}: '{}' is not what it was when the plan was made", item.label(), path))
        .with_hint("plan again");
  }
  return digest;
}

std::string write_bytes(const std::string& content, const std::string& path) {
  std::string text = base64_encode(content), lines;
  for (size_t i = 0; i < text.size(); i += 76) lines += text.substr(i, 76) + "\n";
  return fmt::format("base64 -d > {} <<'RADL_BYTES'\n{}RADL_BYTES\n", path, lines);
}

const Kind* find_kind(const std::string& type) {
  static const std::map<std::string, std::unique_ptr<Kind>> kinds = [] {
    std::map<std::string, std::unique_ptr<Kind>> all;
    all["file"] = make_file_kind();
    all["directory"] = make_directory_kind();
    all["package"] = make_package_kind();
    all["command"] = make_command_kind();
    all["service"] = make_service_kind();
    all["user"] = make_user_kind();
    all["download"] = make_download_kind();
    all["upload"] = make_upload_kind();
    all["mount"] = make_mount_kind();
    all["wait_for"] = make_wait_for_kind();
    all["dataset"] = make_dataset_kind();
    return all;
  }();
  auto found = kinds.find(type);
  return found == kinds.end() ? nullptr : found->second.get();
}

}  // namespace radl::native
