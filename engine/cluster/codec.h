// How the members of a ring (ring.h) encode the numbers of a sum: exact, rounded, or only the most important
// part.
//
// A codec adds what it omits from a sum to the same member's next sum (error feedback: Karimireddy et al.,
// ICML 2019). All members use the same codec and options, and get the same bits. A codec belongs to one
// member and outlives the rings of its views.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"
#include "engine/cluster/contribution.h"
#include "engine/cluster/message.h"
#include "engine/optim/optimizer.h"

namespace radl::engine::cluster {

struct CodecOptions {
  enum class Kind {
    Rounded,  // all numbers, in the encoding `numbers`
    // The largest numbers of each tensor, after momentum (deep gradient compression: Lin et al., ICLR 2018):
    // u = momentum u + g; v = v + u. Sends the largest v and sets u and v to 0 there. The optimizer must not
    // have momentum of its own.
    TopK,
    // Each matrix as the product of two of rank `rank` (Vogels et al., NeurIPS 2019). Tensors that would not
    // shrink are sent unchanged.
    PowerSgd
  };
  Kind kind = Kind::Rounded;
  Numbers numbers = Numbers::Fp32;
  std::vector<ParameterInfo> layout = {};  // TopK, PowerSgd: layout of a sum's numbers
  double density = 0.001;                  // TopK: final share of a tensor's numbers that is sent
  float momentum = 0;
  bool nesterov = false;
  int rank = 2;  // PowerSgd
};

// The collective as seen by a codec. All members make the same calls, with spans of equal sizes.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // Replaces the numbers and statistics by their sums over all members; numbers are sent in `encoding`.
  // `residue`: empty, or what this member has omitted so far from each number; updated by the call.
  virtual Status add(Numbers encoding, Contribution& own, std::span<float> residue) = 0;
  // The bytes of all members, ordered by rank.
  virtual Result<std::vector<std::string>> gather(std::string_view own) = 0;
};

class Codec {
 public:
  static std::unique_ptr<Codec> make(const CodecOptions& options);
  virtual ~Codec() = default;

  // Collective::sum(). If it fails, this member's omitted part is unchanged.
  Status sum(Exchange& exchange, Contribution& own) {
    Status done = add(exchange, own);
    if ((undoable_ = done.ok())) swap();
    return done;
  }
  // Reverts the last sum, because nobody uses it.
  void undo() {
    if (std::exchange(undoable_, false)) swap();
  }
  // Sets the time of the next sum, in epochs of the run.
  virtual void at(double epoch) { (void)epoch; }
  // The state needed to resume, as vectors with the length of the numbers: what this member has omitted, then
  // what all members share. Empty before the first sum.
  virtual std::vector<std::vector<float>> state() const { return {}; }
  // Restores a state(). If not `own`, restores only the shared part, and nothing is omitted. Ignores the
  // state of another codec.
  void restore(std::span<const std::vector<float>> state, bool own) {
    undoable_ = false;
    take(state, own);
  }
  // Discards the omitted part, because the next sums are over other numbers.
  void drop() { restore({}, false); }

 protected:
  // Computes a sum and stores the new state beside the current one.
  virtual Status add(Exchange& exchange, Contribution& own) = 0;
  // Swaps the new and the current state.
  virtual void swap() = 0;
  virtual void take(std::span<const std::vector<float>> state, bool own) = 0;

 private:
  bool undoable_ = false;
};

// For codec_*.cc.
std::unique_ptr<Codec> make_top_k(const CodecOptions& options);
std::unique_ptr<Codec> make_power_sgd(const CodecOptions& options);

}  // namespace radl::engine::cluster
