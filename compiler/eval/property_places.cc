// Properties that name something on this computer or in an object store; what is on this computer is known by
// its digest.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/dataset_files.h"
#include "common/store_address.h"
#include "compiler/eval/datasets.h"
#include "compiler/eval/property_setter.h"

namespace radl::passes {

namespace {

constexpr std::string_view kBucketPlace =
    "a place in an object store: 's3://BUCKET/PREFIX', 'gs://BUCKET/PREFIX', 'az://CONTAINER/PREFIX' or "
    "'swift://CONTAINER/PREFIX'";

// Without slashes at the end; nothing when it is no such place.
std::optional<std::string> bucket_place(const std::string& text) {
  auto address = parse_store_folder(text);
  if (!address.ok()) return std::nullopt;
  return address->text();
}

}  // namespace

void PropertySetter::output(const Value& value) {
  const std::string* place =
      known_text(value, "a folder of this computer, or a place in an object store as 's3://BUCKET/PREFIX'");
  if (place == nullptr) return;
  if (place->find("://") != place->npos) return bucket(*place, value);
  // Otherwise there would be a folder of that name.
  if (place->starts_with('~'))
    return wrong("a folder of this computer, from the file's own folder or with '/' at its beginning", value);
  into_[key()] = absolute_path(context_.folder_of(value.file()), *place);
}

void PropertySetter::bucket(const Value& value) {
  if (const std::string* place = known_text(value, kBucketPlace)) bucket(*place, value);
}

void PropertySetter::bucket(const std::string& text, const Value& value) {
  if (std::optional<std::string> place = bucket_place(text))
    into_[key()] = *place;
  else
    wrong(kBucketPlace, value);
}

// nullopt: reported.
std::optional<PropertySetter::LocalFile> PropertySetter::local_file(const Value& value,
                                                                    std::string_view wanted) {
  const std::string* path = known_text(value, wanted);
  if (path == nullptr) return std::nullopt;
  std::string absolute = absolute_path(context_.folder_of(value.file()), *path);
  auto digest = context_.files.digest(absolute);
  if (digest.ok()) return LocalFile{std::move(absolute), *std::move(digest)};
  context_.diagnostics.report(DiagCode::LocalFile, at_, digest.status().text());
  return std::nullopt;
}

void PropertySetter::local_path(const Value& value) {
  const std::optional<LocalFile> found = local_file(value, "a path of this computer");
  if (!found) return;
  into_[key()] = found->path;
  into_[key() + "_sha256"] = found->sha256;
}

// What would be fetched is pinned: `git::URL@COMMIT`. No folder's digest could tell that a branch moved.
void PropertySetter::source(const Value& value) {
  const std::string* given = known_text(value, "a path of this computer, or 'git::URL@COMMIT'");
  if (given == nullptr) return;
  // What of it is sent, and the digest of that, is known with the program's other properties.
  if (!given->starts_with("git::")) {
    into_[key()] = absolute_path(context_.folder_of(value.file()), *given);
    return;
  }
  const size_t at = given->rfind('@');
  const std::string url = at == given->npos ? "" : given->substr(5, at - 5);
  const std::string commit = at == given->npos ? "" : given->substr(at + 1);
  const bool whole = (commit.size() == 40 || commit.size() == 64) &&
                     commit.find_first_not_of("0123456789abcdef") == commit.npos;
  bool reached = false;
  for (std::string_view scheme : {"https://", "ssh://", "file:///", "/"}) reached |= url.starts_with(scheme);
  const bool plain =
      std::none_of(given->begin(), given->end(), [](unsigned char c) { return c <= 32 || c == 127; });
  if (!whole || !reached || !plain || url.find('?') != url.npos) {
    const bool named = reached && plain && !whole && !commit.empty();
    return wrong(
        "'git::URL@COMMIT', with https://, ssh:// or file:/// and all 40 digits of the commit", value,
        named ? fmt::format("`git ls-remote {} {}` prints the commit of a branch or a tag", url, commit)
              : "");
  }
  into_[key()] = *given;
}

// A list, so that a step's digest need not look into names.
namespace {

// "program/prepare.files"
bool is_files_of_a_program(std::string_view unknown) {
  return unknown.starts_with("program/") && unknown.ends_with(".files");
}

}  // namespace

void PropertySetter::local_paths(const Value& value) {
  if (value.kind() != ValueKind::Map) return wrong("a map from names to paths of this computer", value);
  ir::Json made = ir::Json::array();
  for (const auto& [name, inner] : value.entries()) {
    const bool plain = !name.empty() && name.front() != '.' &&
                       name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == name.npos;
    if (!plain) {
      context_.diagnostics.report(
          DiagCode::PropertyValue, at_,
          fmt::format("'{}': '{}' is not a plain name: use letters, digits, '.', '_' and '-'", property_.name,
                      name));
      return;
    }
    if (inner.kind() == ValueKind::Unknown && is_files_of_a_program(inner.as_text())) {
      made.push_back({{"name", name}, {"files", ir::unknown(inner.as_text())}});
      continue;
    }
    const std::optional<LocalFile> found =
        local_file(inner, "paths of this computer and `files` of programs");
    if (!found) return;
    made.push_back({{"name", name}, {"path", found->path}, {"sha256", found->sha256}});
  }
  into_[key()] = std::move(made);
}

void PropertySetter::refuse(const Status& why) {
  auto& diagnostic = context_.diagnostics.report(
      why.code() == Code::Invalid ? DiagCode::PropertyValue : DiagCode::LocalFile, at_, why.message());
  if (!why.hint().empty()) diagnostic.with_help(why.hint());
}

// `name`: as written; a place becomes a location, and the engine finds out the format.
void PropertySetter::set_dataset(const Value& name, ir::Json& made) {
  const std::string text = name.as_text(), folder = context_.folder_of(name.file());
  if (Status known = check_dataset_name(text, made.contains("directory"), folder); !known.ok())
    return refuse(known);
  if (!made.contains("directory")) made["directory"] = dataset_directory(text);
  made["name"] = text;
  if (!names_a_place(text)) return;
  made["shown"] = text;
  made["name"] = "auto";
  if (Status set = set_dataset_location(context_.files, text, folder, "path", made); !set.ok()) refuse(set);
}

void PropertySetter::dataset_path(const Value& value) {
  const std::string* place = known_text(value, "a folder, archive, CSV file or URI");
  if (place == nullptr) return;
  Status set = set_dataset_location(context_.files, *place, context_.folder_of(value.file()), key(), into_);
  if (!set.ok()) refuse(set);
}

void PropertySetter::dataset(const Value& value) {
  ir::Json made = ir::Json::object();
  const Value* named = nullptr;
  if (value.kind() == ValueKind::String) {
    if (known_text(value, "a name") == nullptr) return;
    named = &value;
  } else if (value.kind() == ValueKind::Map) {
    static const std::vector<std::string> keys = {"name",   "directory", "train",        "test",
                                                  "source", "mirror",    "skip_corrupt", "corrupt_limit"};
    for (const auto& [name, inner] : value.entries()) {
      if (inner.kind() == ValueKind::Null) continue;
      bool count = name == "train" || name == "test" || name == "corrupt_limit";
      bool flag = name == "skip_corrupt";
      bool fits = count  ? inner.kind() == ValueKind::Integer && inner.as_integer() >= 0
                  : flag ? inner.kind() == ValueKind::Boolean
                         : inner.kind() == ValueKind::String;
      if (std::find(keys.begin(), keys.end(), name) == keys.end() || !fits || inner.sensitive())
        return wrong("a dataset", value);
      if (count && (inner.as_integer() > 0 || name == "corrupt_limit")) made[name] = inner.as_integer();
      if (flag) made[name] = inner.as_boolean();
      if (name == "name")
        named = &inner;
      else if (!count && !flag && !inner.as_text().empty())
        made[name] = inner.as_text();
    }
  }
  if (named == nullptr || named->as_text().empty())
    return wrong("the name or path of a dataset, or the output of std/data/dataset", value);
  set_dataset(*named, made);
  into_[key()] = std::move(made);
}

}  // namespace radl::passes
