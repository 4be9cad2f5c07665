#include "compiler/passes/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "common/dataset_digest.h"
#include "common/dataset_files.h"
#include "common/digest.h"
#include "common/text.h"
#include "common/tidy_path.h"
#include "compiler/expr/units.h"
#include "compiler/passes/datasets.h"

namespace radl::passes {

namespace fs = std::filesystem;
using expr::Value;
using ValueKind = expr::Kind;
using ir::PropertyType;

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
constexpr std::string_view kBucketPlace = "a place in a bucket, 's3://BUCKET/PREFIX'";

// Without slashes at the end; nothing when it is no such place. Empty and dotted parts mean other objects to
// some servers than to others.
std::optional<std::string> bucket_place(std::string_view text) {
  constexpr std::string_view kScheme = "s3://";
  if (!text.starts_with(kScheme)) return std::nullopt;
  while (text.size() > kScheme.size() && text.back() == '/') text.remove_suffix(1);
  std::string_view rest = text.substr(kScheme.size());
  const std::string_view bucket = rest.substr(0, rest.find('/'));
  const bool named = bucket.size() >= 3 && bucket.size() <= 63 &&
                     bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_") == bucket.npos;
  if (!named || text.size() > 800 || text.find_first_of("?#\\") != text.npos) return std::nullopt;
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) return std::nullopt;
  }
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return std::nullopt;
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return std::string(text);
}

Result<std::string> folder_digest(const std::string& root) {
  std::map<std::string, std::string> lines;  // sorted by path
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, error), end; at != end; at.increment(error)) {
    if (error) break;
    std::string relative = at->path().lexically_relative(root).generic_string();
    fs::file_status status = at->symlink_status(error);
    if (fs::is_symlink(status)) {
      lines[relative] =
          fmt::format("link {} {}\n", sha256_hex(fs::read_symlink(at->path(), error).string()), relative);
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

Result<std::string> path_digest(const std::string& path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return folder_digest(path);
  if (fs::is_regular_file(status)) return sha256_file(path);
  if (!fs::exists(status)) return not_found(fmt::format("{} is not there", path));
  return invalid(fmt::format("{} is neither a file nor a folder", path));
}

// One property being set.
class Setter {
 public:
  Setter(const PropertyContext& context, const ir::Property& property, Span at, ir::Json& into)
      : context_(context), property_(property), at_(at), into_(into) {}

  void run(const Value& value) {
    if (value.is_error() || value.kind() == ValueKind::Null) return;
    if (value.kind() == ValueKind::Unknown && may_be_unknown()) return put(value);
    switch (property_.type) {
      case PropertyType::String:
      case PropertyType::RemotePath:
        return text(value);
      case PropertyType::Integer:
      case PropertyType::Number:
        return number(value);
      case PropertyType::Size:
        return measured(value, expr::size_factor_of_value(value.is_number() ? value.unit() : ""),
                        "a size, such as 4G");
      case PropertyType::Duration:
        return measured(value, expr::duration_factor(value.is_number() ? value.unit() : ""),
                        "a duration, such as 90s or 5m");
      case PropertyType::Boolean:
        return boolean(value);
      case PropertyType::Mode:
        return mode(value);
      case PropertyType::LocalPath:
        return local_path(value);
      case PropertyType::Output:
        return output(value);
      case PropertyType::Bucket:
        if (const std::string* place = known_text(value, kBucketPlace)) bucket(*place, value);
        return;
      case PropertyType::List:
        return list(value);
      case PropertyType::Map:
        return map(value);
      case PropertyType::Systems:
        return systems(value);
      case PropertyType::SizeStages:
        return size_stages(value);
      case PropertyType::Dataset:
        return dataset(value);
      case PropertyType::DatasetPath:
        return dataset_path(value);
      case PropertyType::ImageSize:
        return image_size(value);
      case PropertyType::Source:
        return source(value);
      case PropertyType::LocalPaths:
        return local_paths(value);
    }
  }

 private:
  std::string key() const { return std::string(property_.name); }

  void wrong(std::string_view what, const Value& value) {
    auto shown = value.sensitive() ? std::nullopt : expr::display(value);
    bool plain = value.is_number() || value.kind() == ValueKind::Boolean;
    bool brief = shown && shown->size() < 60 && (plain || value.kind() == ValueKind::String);
    context_.diagnostics.report(DiagCode::PropertyValue, at_,
                                fmt::format("'{}' takes {}, not {}", property_.name, what,
                                            !brief  ? std::string(expr::kind_name(value.kind()))
                                            : plain ? *shown
                                                    : fmt::format("'{}'", *shown)));
  }

  bool may_be_unknown() const {
    switch (property_.type) {
      case PropertyType::String:
      case PropertyType::RemotePath:
      case PropertyType::Integer:
        return property_.one_of.empty();
      default:
        return false;
    }
  }

  // The value as it is; secrets by name.
  void put(const Value& value) {
    expr::Emitter emitter(&context_.secrets, fmt::format("{}.{}", context_.place, property_.name),
                          context_.nodes_of);
    into_[key()] = emitter.emit(value);
  }

  const std::string* known_text(const Value& value, std::string_view what) {
    if (value.kind() != ValueKind::String) {
      wrong(what, value);
      return nullptr;
    }
    if (value.sensitive()) {
      context_.diagnostics.report(
          DiagCode::SecretShown, at_,
          fmt::format("'{}' is shown in plans: it cannot be a secret", property_.name));
      return nullptr;
    }
    return &value.as_text();
  }

  void text(const Value& value) {
    if (!property_.one_of.empty()) return choice(value);
    if (value.is_text()) return put(value);
    // A number stands in a string as it was written: version = 3
    if (value.is_number()) return put(*expr::as_string(value));
    wrong("a string", value);
  }

  void choice(const Value& value) {
    std::string shown(value.kind() == ValueKind::Boolean ? (value.as_boolean() ? "yes" : "no") : "");
    const std::string* chosen = value.kind() == ValueKind::Boolean ? &shown : known_text(value, "a string");
    if (chosen == nullptr) return;
    std::vector<std::string> choices;
    for (std::string_view rest = property_.one_of; !rest.empty();) {
      size_t bar = std::min(rest.find('|'), rest.size());
      choices.emplace_back(rest.substr(0, bar));
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
    if (std::find(choices.begin(), choices.end(), *chosen) != choices.end()) {
      into_[key()] = *chosen;
      return;
    }
    auto& diagnostic = context_.diagnostics.report(
        DiagCode::PropertyValue, at_,
        fmt::format("'{}' is one of {}, not '{}'", property_.name, fmt::join(choices, ", "), *chosen));
    if (std::string near = nearest(*chosen, choices); !near.empty())
      diagnostic.with_help(fmt::format("did you mean '{}'?", near));
  }

  bool in_range(double value) {
    if (!(property_.min < property_.max) || (value >= property_.min && value <= property_.max)) return true;
    context_.diagnostics.report(
        DiagCode::PropertyValue, at_,
        fmt::format("'{}' is from {} to {}, not {}", property_.name, property_.min, property_.max, value));
    return false;
  }

  bool shown(const Value& value) {
    if (!value.sensitive()) return true;
    context_.diagnostics.report(DiagCode::SecretShown, at_,
                                fmt::format("'{}' is shown in plans: it cannot be a secret", property_.name));
    return false;
  }

  void number(const Value& value) {
    bool whole = property_.type == PropertyType::Integer;
    bool fits = value.is_number() && value.unit().empty() && (!whole || value.kind() == ValueKind::Integer);
    if (!fits) return wrong(whole ? "an integer" : "a number", value);
    if (!shown(value) || !in_range(value.as_real())) return;
    into_[key()] = whole ? ir::Json(value.as_integer()) : ir::Json(value.as_real());
  }

  void measured(const Value& value, std::optional<double> factor, std::string_view what) {
    if (!value.is_number() || !factor) return wrong(what, value);
    double base = value.as_real() * *factor;
    if (!shown(value) || !in_range(base)) return;
    into_[key()] = base == std::floor(base) && std::abs(base) < 9e15 ? ir::Json(static_cast<int64_t>(base))
                                                                     : ir::Json(base);
  }

  void boolean(const Value& value) {
    bool text = value.kind() == ValueKind::String;
    if ((text || value.kind() == ValueKind::Boolean) && !shown(value)) return;
    const std::string word = text ? value.as_text() : "";
    bool yes = text ? word == "yes" || word == "true" : value.as_boolean();
    bool known = value.kind() == ValueKind::Boolean || yes || word == "no" || word == "false";
    if (!known) return wrong("a boolean (yes or no)", value);
    into_[key()] = yes;
  }

  void mode(const Value& value) {
    const std::string* digits = known_text(value, "permissions as a string, such as '0644'");
    if (digits == nullptr) return;
    bool octal = (digits->size() == 3 || digits->size() == 4) &&
                 digits->find_first_not_of("01234567") == std::string::npos;
    if (!octal) return wrong("permissions as a string of octal digits, such as '0644'", value);
    into_[key()] = digits->size() == 3 ? "0" + *digits : *digits;
  }

  void output(const Value& value) {
    const std::string* place = known_text(value, "a folder of this computer, or 's3://BUCKET/PREFIX'");
    if (place == nullptr) return;
    if (place->find("://") != place->npos) return bucket(*place, value);
    into_[key()] = absolute_path(context_.folder_of(value.file()), *place);
  }

  void bucket(const std::string& text, const Value& value) {
    if (std::optional<std::string> place = bucket_place(text))
      into_[key()] = *place;
    else
      wrong(kBucketPlace, value);
  }

  struct LocalFile {
    std::string path, sha256;  // absolute; of its content
  };
  // nullopt: reported.
  std::optional<LocalFile> local_file(const Value& value, std::string_view wanted) {
    const std::string* path = known_text(value, wanted);
    if (path == nullptr) return std::nullopt;
    std::string absolute = absolute_path(context_.folder_of(value.file()), *path);
    auto digest = context_.files.digest(absolute);
    if (digest.ok()) return LocalFile{std::move(absolute), *std::move(digest)};
    context_.diagnostics.report(DiagCode::LocalFile, at_, digest.status().text());
    return std::nullopt;
  }

  void local_path(const Value& value) {
    const std::optional<LocalFile> found = local_file(value, "a path of this computer");
    if (!found) return;
    into_[key()] = found->path;
    into_[key() + "_sha256"] = found->sha256;
  }

  // What would be fetched is pinned: `git::URL@COMMIT`. No folder's digest could tell that a branch moved.
  void source(const Value& value) {
    const std::string* text = known_text(value, "a path of this computer, or 'git::URL@COMMIT'");
    if (text == nullptr) return;
    if (!text->starts_with("git::")) return local_path(value);
    const size_t at = text->rfind('@');
    const std::string url = at == text->npos ? "" : text->substr(5, at - 5);
    const std::string commit = at == text->npos ? "" : text->substr(at + 1);
    const bool whole = (commit.size() == 40 || commit.size() == 64) &&
                       commit.find_first_not_of("0123456789abcdef") == commit.npos;
    bool reached = false;
    for (std::string_view scheme : {"https://", "ssh://", "file:///", "/"})
      reached |= url.starts_with(scheme);
    const bool plain =
        std::none_of(text->begin(), text->end(), [](unsigned char c) { return c <= 32 || c == 127; });
    if (!whole || !reached || !plain || url.find('?') != url.npos)
      return wrong("'git::URL@COMMIT', with https://, ssh:// or file:/// and all 40 digits of the commit",
                   value);
    into_[key()] = *text;
  }

  // A list, so that a step's digest need not look into names.
  void local_paths(const Value& value) {
    if (value.kind() != ValueKind::Map) return wrong("a map from names to paths of this computer", value);
    ir::Json made = ir::Json::array();
    for (const auto& [name, inner] : value.entries()) {
      const bool plain =
          !name.empty() && name.front() != '.' &&
          name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
              name.npos;
      if (!plain) {
        context_.diagnostics.report(
            DiagCode::PropertyValue, at_,
            fmt::format("'{}': '{}' is no plain name: letters, digits, '.', '_' and '-'", property_.name,
                        name));
        return;
      }
      const std::optional<LocalFile> found = local_file(inner, "paths of this computer");
      if (!found) return;
      made.push_back({{"name", name}, {"path", found->path}, {"sha256", found->sha256}});
    }
    into_[key()] = std::move(made);
  }

  void list(const Value& value) {
    if (value.is_text() || value.kind() == ValueKind::Unknown) return put(Value::list({value}));
    if (value.kind() != ValueKind::List) return wrong("a list", value);
    for (const Value& item : value.items()) {
      if (!item.is_text() && !item.is_number() && item.kind() != ValueKind::Unknown)
        return wrong("a list of strings", item);
    }
    put(value);
  }

  void map(const Value& value) {
    if (value.kind() != ValueKind::Map) return wrong("a group: `contains ( NAME = 'value' )`", value);
    expr::Entries entries;
    for (const auto& [name, inner] : value.entries()) {
      bool fine = inner.is_text() || inner.kind() == ValueKind::Unknown || inner.is_number() ||
                  inner.kind() == ValueKind::Boolean;
      if (!fine) return wrong("a group of strings", inner);
      entries.emplace(
          name, inner.is_text() || inner.kind() == ValueKind::Unknown ? inner : *expr::as_string(inner));
    }
    put(Value::map(std::move(entries)));
  }

  void systems(const Value& value) {
    expr::Items items = value.kind() == ValueKind::List ? value.items() : expr::Items{value};
    ir::Json addresses = ir::Json::array();
    for (const Value& item : items) {
      if (!shown(item)) return;
      if (item.kind() == ValueKind::System) {
        for (std::string& address : context_.nodes_of(item.as_text()))
          addresses.push_back(std::move(address));
      } else if (item.kind() == ValueKind::Node) {
        addresses.push_back(*expr::display(item));
      } else {
        return wrong("a system or a list of systems", item);
      }
    }
    into_[key()] = std::move(addresses);
  }

  void size_stages(const Value& value) {
    const std::string_view what =
        "a list of pairs such as [[0.5, 0.3], [0.75, 0.6]]: share of the sides, until which share of the run";
    ir::Json stages = ir::Json::array();
    double before = 0;
    if (value.kind() != ValueKind::List) return wrong(what, value);
    for (const Value& pair : value.items()) {
      const bool two = pair.kind() == ValueKind::List && pair.items().size() == 2;
      if (!two || !pair.items()[0].is_number() || !pair.items()[1].is_number()) return wrong(what, pair);
      const double scale = pair.items()[0].as_real(), until = pair.items()[1].as_real();
      if (!shown(pair.items()[0]) || !shown(pair.items()[1])) return;
      if (!(scale > 0 && scale <= 1 && until > before && until <= 1)) {
        context_.diagnostics.report(
            DiagCode::PropertyValue, at_,
            fmt::format(
                "'{}': [{}, {}] is out of place: shares are above 0 and at most 1, and the second ones rise",
                property_.name, scale, until));
        return;
      }
      before = until;
      stages.push_back({{"scale", scale}, {"until", until}});
    }
    into_[key()] = std::move(stages);
  }

  void refuse(const Status& why) {
    auto& diagnostic = context_.diagnostics.report(
        why.code() == Code::Invalid ? DiagCode::PropertyValue : DiagCode::LocalFile, at_, why.message());
    if (!why.hint().empty()) diagnostic.with_help(why.hint());
  }

  // `name`: as written; a place becomes a location, and the engine finds out the format.
  void set_dataset(const Value& name, ir::Json& made) {
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

  void dataset_path(const Value& value) {
    const std::string* place = known_text(value, "a folder, archive, CSV file or URI");
    if (place == nullptr) return;
    Status set = set_dataset_location(context_.files, *place, context_.folder_of(value.file()), key(), into_);
    if (!set.ok()) refuse(set);
  }

  // 64, '48x64' or '48x64x1': height, width, channels.
  void image_size(const Value& value) {
    const std::string_view what = "the side in pixels, or 'HEIGHTxWIDTH' or 'HEIGHTxWIDTHxCHANNELS'";
    ir::Json sizes = ir::Json::array();
    if (value.kind() == ValueKind::Integer && value.unit().empty()) {
      if (!shown(value)) return;
      sizes = {value.as_integer(), value.as_integer()};
    } else {
      const std::string* text = known_text(value, what);
      if (text == nullptr) return;
      std::istringstream in(*text);
      for (std::string part; std::getline(in, part, 'x');) {
        if (part.empty() || part.size() > 5 || part.find_first_not_of("0123456789") != part.npos)
          return wrong(what, value);
        sizes.push_back(std::stoll(part));
      }
    }
    if (sizes.size() == 1) sizes.push_back(sizes[0]);
    if (sizes.size() == 2) sizes.push_back(3);
    const bool fits = sizes.size() == 3 && sizes[0] >= 1 && sizes[1] >= 1 && sizes[0] <= 4096 &&
                      sizes[1] <= 4096 && (sizes[2] == 1 || sizes[2] == 3);
    if (!fits) return wrong(what, value);
    into_[key()] = std::move(sizes);
  }

  void dataset(const Value& value) {
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

  const PropertyContext& context_;
  const ir::Property& property_;
  Span at_;
  ir::Json& into_;
};

}  // namespace

Result<std::string> LocalFiles::digest(const std::string& path) {
  auto found = known_.find(path);
  if (found == known_.end()) found = known_.emplace(path, path_digest(path)).first;
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
  Setter(context, property, at, into).run(value);
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
