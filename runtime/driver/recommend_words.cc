// Texts of `radlc recommend`'s options as numbers.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "common/text.h"
#include "runtime/driver/recommend_question.h"

namespace radl::driver {
namespace {

constexpr int kMostSize = 4096, kUsualSizes = 16;
constexpr double kLongest = 100 * 365.25 * 86400;  // of a deadline

bool read_number(std::string_view text, double& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

bool read_count(std::string_view text, int& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<double> parse_duration(const std::string& text) {
  const std::string_view trimmed = trim(text);
  double factor = 1, value = 0;
  std::string_view figure = trimmed;
  if (!figure.empty()) {
    const char unit = figure.back();
    const std::map<char, double> units = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    if (auto found = units.find(unit); found != units.end()) factor = found->second, figure.remove_suffix(1);
  }
  if (!read_number(figure, value) || !(value > 0) || !(value * factor <= kLongest))
    return invalid("'" + text + "' is not a duration; write seconds, or 45m, 3h, 2d");
  return value * factor;
}

Result<Amount> parse_amount(const std::string& text, bool per_hour) {
  std::string_view figure = trim(text);
  if (figure.ends_with("/h")) {
    if (!per_hour)
      return invalid("'" + text +
                     "' is an hourly amount; write the cost of the whole run, such as 20 or '20 USD'");
    figure = trim(figure.substr(0, figure.size() - 2));
  }
  Amount amount;
  amount.any_currency = true;
  if (const size_t space = figure.rfind(' '); space != std::string_view::npos) {
    amount.money.currency = std::string(trim(figure.substr(space + 1)));
    amount.any_currency = false;
    figure = trim(figure.substr(0, space));
  }
  double value = 0;
  const bool currency =
      amount.any_currency || (amount.money.currency.size() == 3 &&
                              std::all_of(amount.money.currency.begin(), amount.money.currency.end(),
                                          [](char c) { return c >= 'A' && c <= 'Z'; }));
  if (!currency || !read_number(figure, value) || !(value > 0) || !Money::parse(value, amount.money.micros) ||
      amount.money.micros <= 0)
    return invalid("'" + text + "' is not an amount above 0; write " +
                   (per_hour ? "2, 2/h, '2 EUR/h'" : "20, '20 EUR'"));
  return amount;
}

Result<foresight::Objective> parse_objective(const std::string& text) {
  if (text == "time") return foresight::Objective{1, 0};
  if (text == "cost") return foresight::Objective{0, 1};
  foresight::Objective objective;
  if (text.starts_with("weights:")) {
    const auto parts = split(std::string_view(text).substr(8), ',');
    if (parts.size() == 2 && read_number(trim(parts[0]), objective.time) &&
        read_number(trim(parts[1]), objective.money) && objective.time >= 0 && objective.money >= 0 &&
        objective.time + objective.money > 0)
      return objective;
  }
  return invalid(
      "'" + text +
      "' is not an objective; write time, cost, or weights:A,B (the value of an hour and of one unit of "
      "money; at least 0, not both 0)");
}

Result<Exchanges> parse_exchanges(const std::string& text) {
  using foresight::Exchange;
  const std::pair<std::string_view, Exchange> known[] = {{"ring", Exchange::Ring},
                                                         {"sync-server", Exchange::SyncServer},
                                                         {"async-server", Exchange::AsyncServer}};
  Exchanges taken;
  taken.alone = text.empty();
  for (const auto& [name, exchange] : known)
    if (text.empty()) taken.exchanges.push_back(exchange);
  if (text.empty()) return taken;
  for (std::string_view piece : split(text, ',')) {
    const auto found = std::find_if(std::begin(known), std::end(known),
                                    [&](const auto& one) { return one.first == trim(piece); });
    if (found != std::end(known))
      taken.exchanges.push_back(found->second);
    else if (trim(piece) == "alone")
      taken.alone = true;
    else
      return invalid("'" + std::string(trim(piece)) + "': not one of alone, ring, sync-server, async-server");
  }
  return taken;
}

Result<std::vector<int>> parse_sizes(const std::string& text, std::optional<int> most) {
  if (most && (*most < 1 || *most > kMostSize))
    return invalid(fmt::format("at most {} workers: from 1 to {}", *most, kMostSize));
  std::vector<int> sizes;
  const int last = most.value_or(kUsualSizes);
  const std::string_view given = trim(text);
  if (const size_t dots = given.find(".."); dots != std::string_view::npos) {
    int from = 0, to = 0;
    if (!read_count(given.substr(0, dots), from) || !read_count(given.substr(dots + 2), to) || from < 1 ||
        to < from || to > kMostSize)
      return invalid("'" + text + "' is not a range of workers; write 1..16");
    for (int size = from; size <= to; ++size) sizes.push_back(size);
  } else if (given.empty()) {
    for (int size = 1; size <= last; ++size) sizes.push_back(size);
  } else {
    for (std::string_view piece : split(given, ',')) {
      int size = 0;
      if (!read_count(trim(piece), size) || size < 1 || size > kMostSize)
        return invalid("'" + text + "' is not a list of workers; write 1..16 or 2,4,8");
      sizes.push_back(size);
    }
  }
  if (most) std::erase_if(sizes, [&](int size) { return size > *most; });
  if (sizes.empty())
    return invalid(fmt::format("'{}' leaves no number of workers of at most {}", text, last));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace radl::driver
