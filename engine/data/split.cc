#include "engine/data/split.h"

#include <algorithm>
#include <numeric>

#include "engine/data/random.h"

namespace radl::engine::data {
namespace {

class Selection : public Dataset {
 public:
  Selection(DatasetPtr base, std::vector<uint32_t> indices)
      : base_(std::move(base)), indices_(std::move(indices)) {}
  size_t size() const override { return indices_.size(); }
  InputShape shape() const override { return base_->shape(); }
  int classes() const override { return base_->classes(); }
  const std::vector<std::string>& class_names() const override { return base_->class_names(); }
  int32_t label(size_t i) const override { return base_->label(indices_[i]); }
  Status read(size_t i, std::span<uint8_t> out) const override { return base_->read(indices_[i], out); }
  const uint8_t* pixels(size_t i) const override { return base_->pixels(indices_[i]); }
  std::string origin(size_t i) const override { return base_->origin(indices_[i]); }
  const ReadReport& report() const override { return base_->report(); }

 private:
  DatasetPtr base_;
  std::vector<uint32_t> indices_;
};

// How many of each class: proportional, the missing ones to the largest remainders (ties: the lower class).
std::vector<size_t> quotas(const std::vector<std::vector<uint32_t>>& members, size_t count, bool leave_one) {
  size_t all = 0;
  for (const auto& m : members) all += m.size();
  std::vector<size_t> quota(members.size()), order(members.size());
  std::vector<uint64_t> remainder(members.size());
  const auto most = [&](size_t c) {
    return leave_one && !members[c].empty() ? members[c].size() - 1 : members[c].size();
  };
  size_t given = 0;
  for (size_t c = 0; c < members.size(); ++c) {
    const uint64_t product = uint64_t(members[c].size()) * count;
    quota[c] = std::min(size_t(product / std::max<size_t>(all, 1)), most(c));
    remainder[c] = product % std::max<size_t>(all, 1);
    given += quota[c];
  }
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return remainder[a] > remainder[b]; });
  for (bool moved = true; given < count && moved;) {
    moved = false;
    for (size_t c : order) {
      if (given == count) break;
      if (quota[c] >= most(c)) continue;
      ++quota[c], ++given;
      moved = true;
    }
  }
  return quota;
}

}  // namespace

DatasetPtr select(DatasetPtr base, std::vector<uint32_t> indices) {
  return std::make_shared<Selection>(std::move(base), std::move(indices));
}

Split stratified_split(const DatasetPtr& base, size_t count, uint64_t seed, bool leave_one) {
  std::vector<std::vector<uint32_t>> members(size_t(base->classes()));
  for (size_t i = 0; i < base->size(); ++i) members[size_t(base->label(i))].push_back(uint32_t(i));
  const std::vector<size_t> quota = quotas(members, count, leave_one);
  std::vector<uint32_t> taken, rest;
  for (size_t c = 0; c < members.size(); ++c) {
    auto& m = members[c];
    KeyedRandom random(seed, c, 0x73706c69745f5f5full);
    for (size_t i = 0; i < quota[c]; ++i) std::swap(m[i], m[i + random.below(uint32_t(m.size() - i))]);
    taken.insert(taken.end(), m.begin(), m.begin() + long(quota[c]));
    rest.insert(rest.end(), m.begin() + long(quota[c]), m.end());
  }
  std::sort(taken.begin(), taken.end());
  std::sort(rest.begin(), rest.end());
  return {select(base, std::move(taken)), select(base, std::move(rest))};
}

}  // namespace radl::engine::data
