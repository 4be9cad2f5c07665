#include "runtime/steps/farm/share_board.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/files.h"
#include "common/json_values.h"
#include "runtime/farm/table.h"

namespace radl::farm {
namespace {

// Runs decide ten times a second.
constexpr std::chrono::seconds kTurnPatience{2};
constexpr const char *kBoardLock = ".lock", *kClaimSuffix = ".json";

Json json_of(const std::map<std::string, Resources>& nodes) {
  Json json = Json::object();
  for (const auto& [node, amounts] : nodes) json[node] = to_json(amounts);
  return json;
}

std::map<std::string, Resources> nodes_from(const Json& json) {
  std::map<std::string, Resources> nodes;
  if (!json.is_object()) return nodes;
  for (const auto& [node, amounts] : json.items()) nodes[node] = resources_from(amounts);
  return nodes;
}

std::string text_of(const Claim& claim) {
  Json wants = Json::array();
  for (const Resources& needs : claim.wants) wants.push_back(to_json(needs));
  const Json json = {{"farm", claim.farm},
                     {"user", claim.user},
                     {"weight", claim.weight},
                     {"nodes", json_of(claim.nodes)},
                     {"uses", json_of(claim.uses)},
                     {"wants", wants},
                     {"waits_since", claim.waits_since}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Claim> claim_from(const std::string& text) {
  const Json json = json::parse_json(text);
  if (!json.is_object()) return std::nullopt;
  Claim claim{json::text_of(json, "farm"),
              json::text_of(json, "user"),
              json::number_of(json, "weight", 1),
              nodes_from(json::member(json, "nodes")),
              nodes_from(json::member(json, "uses")),
              {},
              json::number_of(json, "waits_since")};
  for (const Json& needs : json::list_of(json, "wants")) claim.wants.push_back(resources_from(needs));
  return claim;
}

}  // namespace

ShareBoard::~ShareBoard() {
  if (own_.open()) (void)::unlink((folder_ + "/" + farm_ + kClaimSuffix).c_str());
}

Status ShareBoard::join(const std::string& folder, const std::string& farm) {
  folder_ = folder;
  farm_ = farm;
  if (Status made = make_directories(folder, 0700); !made.ok()) return made;
  // Others lock a claim for a moment, and remove it if its run has ended.
  Fd lock;
  take_lock_of_all(lock);
  const std::string path = folder + "/" + farm + kClaimSuffix;
  own_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (own_.open() && ::flock(own_.get(), LOCK_EX | LOCK_NB) == 0) return {};
  Status failed = errno_status(errno, path);
  own_.reset();  // it is another run's, which removes it
  return failed;
}

void ShareBoard::take_lock_of_all(Fd& lock) const {
  const std::string path = folder_ + "/" + kBoardLock;
  lock.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  while (lock.open() && ::flock(lock.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

bool ShareBoard::alone() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
    if (entry.path().extension() == kClaimSuffix && entry.path().stem() != farm_) return false;
  return true;
}

void ShareBoard::tell(const Claim& own) {
  if (text_of(own) == told_) return;
  Fd lock;
  take_lock_of_all(lock);
  write(own);
}

void ShareBoard::write(const Claim& own) {
  std::string text = text_of(own);
  if (text == told_) return;
  told_ = std::move(text);
  if (::ftruncate(own_.get(), 0) != 0 || ::lseek(own_.get(), 0, SEEK_SET) != 0) return;
  // Half a claim is none: the others then use what this one leaves.
  (void)write_all(own_.get(), told_, folder_);
}

std::vector<Claim> ShareBoard::others() {
  std::vector<Claim> claims;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::string path = entry.path();
    if (entry.path().extension() != kClaimSuffix || entry.path().stem() == farm_) continue;
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.open()) continue;
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) {  // its run has ended
      (void)::unlink(path.c_str());
      continue;
    }
    auto text = read_file(path);
    if (!text.ok()) continue;
    if (auto claim = claim_from(*text)) claims.push_back(std::move(*claim));
  }
  return claims;
}

std::vector<std::string> ShareBoard::passes(const std::vector<Claim>& others) {
  std::vector<std::string> passed;
  uses_.clear();
  for (const Claim& other : others) {
    uses_[other.farm] = other.uses;
    const auto held = held_up_by_.find(other.farm);
    if (held == held_up_by_.end()) continue;
    if (held->second.uses != other.uses)
      held_up_by_.erase(held);
    else if (SteadyClock::now() - held->second.since >= kTurnPatience)
      passed.push_back(other.farm);
  }
  return passed;
}

ShareBoard::Turn::Turn(ShareBoard& board, Claim own, double now, double reserve_after)
    : board_(board), farm_(own.farm) {
  board.take_lock_of_all(lock_);
  std::vector<Claim> claims = board.others();
  claims.push_back(std::move(own));
  shares_.emplace(std::move(claims), now, reserve_after);
}

Resources ShareBoard::Turn::taken_by_others(const std::string& node) const {
  return shares_->taken_by_others(farm_, node);
}

void ShareBoard::Turn::tell(const Claim& own) { board_.write(own); }

bool ShareBoard::Turn::may_start(const Resources& needs, const std::string& node) {
  const std::string first = shares_->goes_first(farm_, node, board_.passes(shares_->others(farm_)));
  if (!first.empty()) {
    board_.held_up_by_.try_emplace(first, Held{board_.uses_[first], SteadyClock::now()});
    return false;
  }
  shares_->take(farm_, needs, node);
  return true;
}

}  // namespace radl::farm
