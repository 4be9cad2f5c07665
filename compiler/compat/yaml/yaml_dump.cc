// Values to text by libyaml's emitter, which PyYAML's equals but for strings in double quotes.
#include <yaml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compiler/compat/yaml/yaml_quotes.h"
#include "compiler/compat/yaml/yaml_value.h"
#include "compiler/eval/quantity.h"

namespace radl::ec3 {
namespace {

using Kind = Yaml::Kind;

std::string real_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  std::string text = sema::float_text(value);
  size_t e = text.find('e');  // 1e-05 is a string in YAML 1.1
  return e != text.npos && text.find('.') == text.npos ? text.insert(e, ".0") : text;
}

bool mentions(const Yaml& value, const std::string& word, std::set<const Yaml*>& seen) {
  if (value.text.find(word) != std::string::npos) return true;
  if (!seen.insert(&value).second) return false;
  for (const YamlPtr& item : value.items)
    if (mentions(*item, word, seen)) return true;
  for (const auto& [key, each] : value.entries)
    if (mentions(*key, word, seen) || mentions(*each, word, seen)) return true;
  return false;
}

class Dumper {
 public:
  Dumper(std::string& out, QuotedStrings& quoted) : quoted_(quoted) {
    yaml_emitter_initialize(&emitter_);
    yaml_emitter_set_output(
        &emitter_,
        [](void* to, unsigned char* bytes, size_t size) {
          static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
          return 1;
        },
        &out);
    yaml_emitter_set_unicode(&emitter_, 0);
  }
  ~Dumper() { yaml_emitter_delete(&emitter_); }
  Dumper(const Dumper&) = delete;
  Dumper& operator=(const Dumper&) = delete;

  void run(const Yaml& value) {
    count(value);
    yaml_event_t event;
    emit(yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), event);
    emit(yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1), event);
    put(value);
    emit(yaml_document_end_event_initialize(&event, 1), event);
    emit(yaml_stream_end_event_initialize(&event), event);
  }

 private:
  static bool is_collection(const Yaml& value) { return value.is(Kind::List) || value.is(Kind::Map); }

  // Numbers the collections that occur more than once, in order of discovery.
  void count(const Yaml& value) {
    if (!is_collection(value)) return;
    int& times = times_[&value];
    if (++times == 2) {
      char name[16];
      std::snprintf(name, sizeof name, "id%03zu", anchors_.size() + 1);
      anchors_[&value] = name;
    }
    if (times > 1) return;
    for (const YamlPtr& item : value.items) count(*item);
    for (const auto& entry : sorted(value)) count(*entry.second);
  }

  // Sorts strings by code point. Python cannot sort mixed key types and keeps their order.
  static std::vector<std::pair<YamlPtr, YamlPtr>> sorted(const Yaml& map) {
    auto entries = map.entries;
    auto all = [&](Kind kind) {
      return std::all_of(entries.begin(), entries.end(),
                         [&](const auto& each) { return each.first->is(kind); });
    };
    if (all(Kind::String))
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto& a, const auto& b) { return a.first->text < b.first->text; });
    else if (all(Kind::Integer))
      std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return std::strtod(a.first->text.c_str(), nullptr) < std::strtod(b.first->text.c_str(), nullptr);
      });
    return entries;
  }

  void put(const Yaml& value, bool key = false) {
    yaml_event_t event;
    auto known = anchors_.find(&value);
    const char* anchor = known == anchors_.end() ? nullptr : known->second.c_str();
    if (anchor != nullptr && !begun_.emplace(&value, true).second) {
      emit(yaml_alias_event_initialize(&event, text(anchor)), event);
      return;
    }
    const char* tag = value.tag.empty() ? nullptr : value.tag.c_str();
    if (value.is(Kind::List)) {
      emit(yaml_sequence_start_event_initialize(&event, text(anchor), text(tag), tag == nullptr,
                                                YAML_BLOCK_SEQUENCE_STYLE),
           event);
      ++depth_;
      for (const YamlPtr& item : value.items) put(*item);
      --depth_;
      emit(yaml_sequence_end_event_initialize(&event), event);
    } else if (value.is(Kind::Map)) {
      emit(yaml_mapping_start_event_initialize(&event, text(anchor), text(tag), tag == nullptr,
                                               YAML_BLOCK_MAPPING_STYLE),
           event);
      ++depth_;
      for (const auto& [key, each] : sorted(value)) {
        put(*key, true);
        put(*each);
      }
      --depth_;
      emit(yaml_mapping_end_event_initialize(&event), event);
    } else {
      scalar(value, tag, key);
    }
  }

  void scalar(const Yaml& value, const char* tag, bool key) {
    std::string shown = value.is(Kind::Null)    ? "null"
                        : value.is(Kind::Bool)  ? (value.boolean ? "true" : "false")
                        : value.is(Kind::Float) ? real_text(value.real)
                                                : value.text;
    bool quotes = value.is(Kind::String);
    if (quotes && !key && depth_ > 0 && needs_double_quotes(shown)) shown = quoted_.stand_in(shown);
    bool plain = tag == nullptr && (!quotes || plain_kind(shown) == Kind::String);
    yaml_event_t event;
    emit(yaml_scalar_event_initialize(&event, nullptr, text(tag),
                                      reinterpret_cast<const yaml_char_t*>(shown.data()),
                                      static_cast<int>(shown.size()), plain, quotes, YAML_ANY_SCALAR_STYLE),
         event);
  }

  static yaml_char_t* text(const char* from) {
    return reinterpret_cast<yaml_char_t*>(const_cast<char*>(from));
  }

  void emit(int made, yaml_event_t& event) {
    if (made) yaml_emitter_emit(&emitter_, &event);
  }

  QuotedStrings& quoted_;
  int depth_ = 0;  // of the collection being written
  yaml_emitter_t emitter_{};
  std::map<const Yaml*, int> times_;
  std::map<const Yaml*, std::string> anchors_;
  std::map<const Yaml*, bool> begun_;
};

}  // namespace

std::string dump_yaml(const Yaml& value) {
  std::string out;
  std::set<const Yaml*> seen;
  std::string marker = "quoted";
  while (mentions(value, marker, seen)) {
    marker += "-";
    seen.clear();
  }
  QuotedStrings quoted(marker);
  Dumper(out, quoted).run(value);
  return quoted.put_back(out);
}

}  // namespace radl::ec3
