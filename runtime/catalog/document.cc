#include "runtime/catalog/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "common/shorten.h"
#include "common/text.h"
#include "common/user_text.h"

namespace radl::catalog {
namespace {

constexpr std::string_view kFirstLine = "radl-catalog 2";
constexpr double kMiB = 1048576, kGB = 1e9, kMbit = 1e6;
constexpr size_t kTypeFields = 10;

// `at` is somewhere in the document's text.
Status fault(const Document& document, std::string_view at, const std::string& what) {
  const auto line = 1 + std::count(document.text.data(), at.data(), '\n');
  return invalid(fmt::format("{}:{}: {}", document.name, line, what));
}

// Words of a line, one after the other.
struct Words {
  std::string_view rest;
  std::string_view next() {
    size_t from = rest.find_first_not_of(' ');
    if (from == std::string_view::npos) return rest = {};
    rest.remove_prefix(from);
    std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    return word;
  }
};

// Calls take(line) for each line that says something, until it returns an error.
template <class Take>
Status each_line(std::string_view text, Take&& take) {
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    if (Status taken = take(line); !taken.ok()) return taken;
  }
  return {};
}

bool read_number(std::string_view text, double& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value >= 0;
}

bool read_pair(std::string_view text, char separator, double& first, double& second) {
  size_t at = text.find(separator);
  return at != std::string_view::npos && read_number(text.substr(0, at), first) &&
         read_number(text.substr(at + 1), second);
}

// "2x900nvme,1x75ssd", or "-".
bool read_disks(std::string_view text, std::vector<LocalDisks>& disks) {
  if (text == "-") return true;
  for (std::string_view part : split(text, ',')) {
    size_t kind = part.find_first_not_of("0123456789x.");
    double count = 0, gigabytes = 0;
    if (kind == std::string_view::npos || !read_pair(part.substr(0, kind), 'x', count, gigabytes))
      return false;
    if (count < 1 || count > 1000) return false;
    disks.push_back({static_cast<int>(count), gigabytes * kGB, std::string(part.substr(kind))});
  }
  return true;
}

// "NVIDIA_Tesla_V100", or "-".
void read_gpu(std::string_view text, InstanceType& type) {
  if (text == "-") return;
  size_t space = text.find('_');
  type.gpu_vendor = text.substr(0, space);
  if (space == std::string_view::npos) return;
  type.gpu_model = text.substr(space + 1);
  for (char& c : type.gpu_model)
    if (c == '_') c = ' ';
}

// The field that is wrong, or "".
std::string read_type(Words words, InstanceType& type) {
  double memory = 0, gpu_memory = 0;
  if (!read_number(words.next(), type.cpu)) return "cpu";
  if (!read_number(words.next(), memory)) return "memory";
  if (!read_number(words.next(), type.gpu)) return "gpu";
  read_gpu(words.next(), type);
  if (!read_number(words.next(), gpu_memory)) return "gpu memory";
  if (!read_pair(words.next(), '/', type.network_sustained, type.network_peak)) return "network";
  if (!read_disks(words.next(), type.disks)) return "disks";
  type.architectures = words.next();
  if (type.architectures.empty()) return "architecture";
  if (!read_number(words.next(), type.ecu)) return "ECU";
  if (!words.next().empty()) return fmt::format("number of fields, which is {},", kTypeFields);
  type.memory_bytes = memory * kMiB;
  type.gpu_memory_bytes = gpu_memory * kMiB;
  type.network_sustained *= kMbit;
  type.network_peak *= kMbit;
  return "";
}

Status read_head(Document& document, std::string_view line) {
  size_t space = line.find(' ');
  std::string_view key = line.substr(0, space);
  std::string value(space == std::string_view::npos ? "" : trim(line.substr(space)));
  if (value.empty()) return fault(document, line, fmt::format("'{}' has no value", key));
  if (key == "cloud") {
    document.cloud = value;
  } else if (key == "currency") {
    document.currency = value;
  } else if (key == "source") {
    document.sources.push_back(value);
  } else {
    return fault(document, line, fmt::format("unknown field '{}'", key));
  }
  return {};
}

Status read_section_head(Document& document, std::string_view line, Section& section) {
  if (line.back() != ']') return fault(document, line, "a section's head ends in ']'");
  Words words{line.substr(1, line.size() - 2)};
  std::string_view kind = words.next();
  section.types = kind == "types";
  if (!section.types) {
    if (kind != "spot" && kind != "on-demand") {
      return fault(document, line,
                   fmt::format("unknown section '{}'; sections are types, on-demand and spot", kind));
    }
    if (kind == "spot") section.market = Market::Spot;
    section.region = words.next();
    section.as_of = words.next();
    if (section.region.empty() || !is_date(section.as_of)) {
      return fault(document, line,
                   "a section of prices has a region and a date: [on-demand eu-west-1 2025-11-03]");
    }
  }
  if (!words.next().empty()) return fault(document, line, "too many words in a section's head");
  return {};
}

}  // namespace

bool is_date(std::string_view text) {
  int year = 0, month = 0, day = 0;
  auto number = [&](size_t from, size_t size, int& value) {
    const char* end = text.data() + from + size;
    return std::from_chars(text.data() + from, end, value).ptr == end;
  };
  return text.size() == 10 && text[4] == '-' && text[7] == '-' && number(0, 4, year) && number(5, 2, month) &&
         number(8, 2, day) && month > 0 && day > 0 &&
         (std::chrono::year(year) / static_cast<unsigned>(month) / static_cast<unsigned>(day)).ok();
}

Result<Document> read_document(std::string_view text, const std::string& name) {
  Document document;
  document.name = name;
  text = without_mark(text);
  document.text = text;
  std::string_view first = trim(text.substr(0, text.find('\n')));
  if (first != kFirstLine) {
    const std::string found = shorten(first, 40);
    return fault(document, text,
                 found.starts_with("radl-catalog ")
                     ? fmt::format("it has version {}; this radlc reads 2", found.substr(13))
                     : fmt::format("no catalogue: its first line is not '{}'", kFirstLine));
  }
  // Heads of sections stand at the start of a line; what is between them is left for later.
  size_t head = text.find("\n[");
  Status read = each_line(text.substr(first.size(), std::min(head, text.size()) - first.size()),
                          [&](std::string_view line) { return read_head(document, line); });
  if (!read.ok()) return read;
  while (head != std::string_view::npos) {
    const size_t end = std::min(text.find('\n', head + 1), text.size()), next = text.find("\n[", end);
    Section section;
    read = read_section_head(document, trim(text.substr(head + 1, end - head - 1)), section);
    if (!read.ok()) return read;
    section.body = text.substr(end, std::min(next, text.size()) - end);
    document.sections.push_back(section);
    head = next;
  }
  if (document.cloud.empty() || document.currency.empty())
    return fault(document, text, "it names no cloud or no currency");
  return document;
}

Status read_types(const Document& document, const Section& section,
                  const std::function<bool(std::string_view)>& wanted,
                  const std::function<void(InstanceType&&)>& take) {
  return each_line(section.body, [&](std::string_view line) -> Status {
    Words words{line};
    std::string_view name = words.next();
    if (!wanted(name)) return {};
    InstanceType type;
    type.cloud = document.cloud;
    type.name = name;
    std::string wrong = read_type(words, type);
    if (!wrong.empty()) return fault(document, line, fmt::format("{}: the {} is wrong", name, wrong));
    take(std::move(type));
    return {};
  });
}

namespace {

// "m5" and "large": "m5.large"; "n2-standard-*" and "8": "n2-standard-8".
std::string type_of(std::string_view family, std::string_view size) {
  if (family == "-") return std::string(size);
  std::string type(family);
  if (const size_t star = family.find('*'); star != family.npos) return type.replace(star, 1, size);
  return type.append(1, '.').append(size);
}

}  // namespace

Status read_prices(const Document& document, const Section& section,
                   const std::function<void(std::string&&, int64_t)>& take) {
  return each_line(section.body, [&](std::string_view line) -> Status {
    Words words{line};
    std::string_view family = words.next();
    for (std::string_view size = words.next(); !size.empty(); size = words.next()) {
      std::string_view price = words.next();
      double units = 0;
      int64_t micros = -1;
      if (price != "-" && (!read_number(price, units) || !Money::parse(units, micros)))
        return fault(document, line, fmt::format("the price of {} is '{}'", type_of(family, size), price));
      take(type_of(family, size), micros);
    }
    return {};
  });
}

}  // namespace radl::catalog
