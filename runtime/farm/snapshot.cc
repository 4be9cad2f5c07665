#include "runtime/farm/snapshot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include "common/crc32c.h"
#include "common/fd.h"
#include "common/files.h"
#include "runtime/farm/journal.h"

namespace radl::farm {
namespace {

constexpr std::string_view kSnapshotFormat = "radl farm snapshot 1";
constexpr size_t kCompared = size_t{1} << 16;  // bytes at both ends of the journal's part
constexpr size_t kLongRest = size_t{1} << 20;  // bytes of events after which a reader writes a new snapshot

// Both archives visit the same members: `each(member, ..)`.
class Saver {
 public:
  static constexpr bool kLoads = false;
  template <class... Values>
  void operator()(Values&... values) {
    (put(values), ...);
  }
  std::string bytes;

 private:
  void number(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
    bytes += static_cast<char>(value);
  }
  void text(std::string_view text) {
    number(text.size());
    bytes += text;
  }
  template <class T>
  void put(T& value) {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Plain, std::string>) {
      text(value);
    } else if constexpr (std::is_same_v<Plain, double>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (std::is_same_v<Plain, Json>) {
      text(value.is_null() ? "" : value.dump(-1, ' ', false, Json::error_handler_t::replace));
    } else if constexpr (std::is_same_v<Plain, Spec>) {
      text(value.text());
    } else if constexpr (std::is_same_v<Plain, std::optional<bool>>) {
      number(value ? 1 + *value : 0);
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      const auto wide = static_cast<int64_t>(value);
      number((static_cast<uint64_t>(wide) << 1) ^ static_cast<uint64_t>(wide >> 63));
    } else {
      value.archive(*this);
    }
  }
  template <class T>
  void put(std::vector<T>& list) {
    number(list.size());
    for (T& one : list) put(one);
  }
  template <class T>
  void put(std::set<T>& all) {
    number(all.size());
    for (const T& one : all) put(one);
  }
  template <class Key, class T>
  void put(std::map<Key, T>& all) {
    number(all.size());
    for (auto& [key, one] : all) {
      put(key);
      put(one);
    }
  }
};

class Loader {
 public:
  static constexpr bool kLoads = true;
  Loader(std::shared_ptr<const std::string> whole, std::string_view bytes)
      : whole_(std::move(whole)), left_(bytes) {}
  template <class... Values>
  void operator()(Values&... values) {
    (take(values), ...);
  }
  bool ok() const { return !short_ && left_.empty(); }

 private:
  std::string_view piece(size_t size) {
    if (size > left_.size()) short_ = true, size = 0;
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) return short_ = true, 0;
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) break;
    }
    return value;
  }
  // Each element takes a byte at least.
  size_t count() {
    const uint64_t value = number();
    if (value > left_.size()) return short_ = true, 0;
    return static_cast<size_t>(value);
  }
  void take(std::string& text) { text = piece(count()); }
  void take(double& value) {
    const std::string_view bytes = piece(sizeof value);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  }
  void take(Json& json) {
    const std::string_view text = piece(count());
    json = text.empty() ? Json() : Json::parse(text.begin(), text.end(), nullptr, false);
  }
  void take(Spec& spec) {
    const std::string_view text = piece(count());
    if (text != "{}") spec = Spec(whole_, text);
  }
  void take(std::optional<bool>& value) {
    const uint64_t code = number();
    value = code == 0 ? std::nullopt : std::optional(code == 2);
  }
  template <class T>
  void take(T& value) {
    if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      const uint64_t coded = number();
      value = static_cast<T>(static_cast<int64_t>(coded >> 1) ^ -static_cast<int64_t>(coded & 1));
    } else {
      value.archive(*this);
    }
  }
  template <class T>
  void take(std::vector<T>& list) {
    list.clear();
    list.resize(count());
    for (T& one : list) take(one);
  }
  template <class T>
  void take(std::set<T>& all) {
    all.clear();
    for (size_t left = count(); left > 0; --left) {
      T one{};
      take(one);
      all.insert(all.end(), std::move(one));
    }
  }
  template <class Key, class T>
  void take(std::map<Key, T>& all) {
    all.clear();
    for (size_t left = count(); left > 0; --left) {
      Key key{};
      take(key);
      take(all.emplace_hint(all.end(), std::move(key), T())->second);
    }
  }

  std::shared_ptr<const std::string> whole_;
  std::string_view left_;
  bool short_ = false;
};

class JournalFile {
 public:
  Status open(const std::string& path) {
    path_ = path;
    file_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about {};
    if (!file_.open() || ::fstat(file_.get(), &about) != 0) return errno_status(errno, path);
    size_ = static_cast<size_t>(about.st_size);
    return {};
  }
  size_t size() const { return size_; }
  // Less, if the file has become shorter.
  Result<std::string> part(size_t from, size_t size) const {
    std::string bytes(size, '\0');
    size_t have = 0;
    while (have < size) {
      const ssize_t more =
          ::pread(file_.get(), bytes.data() + have, size - have, static_cast<off_t>(from + have));
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) return errno_status(errno, path_);
      if (more == 0) break;
      have += static_cast<size_t>(more);
    }
    bytes.resize(have);
    return bytes;
  }

 private:
  Fd file_;
  std::string path_;
  size_t size_ = 0;
};

// `size`: bytes of the journal that the snapshot replaces.
Result<std::string> header_of(const JournalFile& journal, size_t size, std::string_view body) {
  const size_t compared = std::min(kCompared, size);
  auto first = journal.part(0, compared);
  if (!first) return first;
  auto last = journal.part(size - compared, compared);
  if (!last) return last;
  if (!last->ends_with('\n')) return Status(Code::Corrupt, "the journal does not end there");
  return fmt::format("{} {} {:08x} {:08x} {} {:08x}\n", kSnapshotFormat, size, crc32c(*first), crc32c(*last),
                     body.size(), crc32c(body));
}

// How many bytes of the journal the snapshot in the folder replaces; 0: it is of no use.
size_t load_snapshot(const std::string& folder, const JournalFile& journal, Farm& farm) {
  auto read = read_file(folder + kSnapshotFile);
  if (!read.ok()) return 0;
  const auto whole = std::make_shared<const std::string>(std::move(*read));
  const size_t line = whole->find('\n');
  if (!whole->starts_with(kSnapshotFormat) || line == whole->npos) return 0;
  const size_t size = std::strtoull(whole->c_str() + kSnapshotFormat.size(), nullptr, 10);
  const std::string_view body = std::string_view(*whole).substr(line + 1);
  if (size == 0 || size > journal.size()) return 0;
  const auto header = header_of(journal, size, body);
  if (!header.ok() || !whole->starts_with(*header)) return 0;
  Loader loader(whole, body);
  Farm loaded(farm.policy());
  loaded.archive(loader);
  if (!loader.ok()) return 0;
  farm = std::move(loaded);
  return size;
}

}  // namespace

template <class Archive>
void Table::archive(Archive& each) {
  each(rules_.tries, settings_, approval_, closed_, tasks_, nodes_);
  if constexpr (!Archive::kLoads) return;
  for (size_t& count : counts_) count = 0;
  for (const TaskRecord& task : tasks_) ++counts_[static_cast<size_t>(task.state)];
  names_ = TaskNames();
  if (tasks_.empty()) return;
  names_.add_others(tasks_);
  names_.add_last(tasks_);
}

template <class Archive>
void Farm::archive(Archive& each) {
  each(table_, hosts_, since_, running_, finished_, seconds_, predicted_, actual_);
  if constexpr (!Archive::kLoads) return;
  alike_.clear();
  on_.clear();
  for (size_t i = 0; i < table_.tasks().size(); ++i) {
    const TaskRecord& task = table_.tasks()[i];
    if (task.state == State::Running) on_[task.node].insert(i);
    if (task.state != State::Waiting) continue;
    std::set<size_t>& places = alike_[task.task.needs];
    places.insert(places.end(), i);
  }
}

std::string bytes_of(Farm& farm) {
  Saver saver;
  farm.archive(saver);
  return std::move(saver.bytes);
}

Status save_snapshot(const std::string& folder, Farm& farm, size_t size) {
  JournalFile journal;
  if (Status opened = journal.open(folder + kJournalFile); !opened.ok()) return opened;
  const std::string body = bytes_of(farm);
  auto header = header_of(journal, size, body);
  if (!header.ok()) return std::move(header).status();
  return write_file_atomic(folder + kSnapshotFile, *header + body, 0600);
}

Result<Farm> load_farm(const std::string& folder, const Policy& policy) {
  const std::string path = folder + kJournalFile;
  JournalFile journal;
  if (Status opened = journal.open(path); !opened.ok()) return opened;
  Farm farm(policy);
  size_t known = load_snapshot(folder, journal, farm);
  for (;;) {
    auto rest = journal.part(known, journal.size() - known);
    if (!rest.ok()) return std::move(rest).status();
    auto whole = replay_lines(path, *rest, [&](const Event& event) { return farm.apply(event); });
    if (whole.ok()) {
      // Who may not write there, or has no room, reads the same the next time.
      if (*whole > kLongRest) (void)save_snapshot(folder, farm, known + *whole);
      return farm;
    }
    if (known == 0) return std::move(whole).status();
    known = 0;  // the message names a line of the whole journal
    farm = Farm(policy);
  }
}

}  // namespace radl::farm
