// How the numbers of a sum travel between the members of a ring (ring.h): exact, rounded, or as the small
// part of them that matters most.
//
// What a codec leaves out of a sum, it adds to the same member's next one (error feedback: Karimireddy et
// al., ICML 2019). All members use the same codec with the same options, and get the same bits. A codec
// belongs to one member and outlives the rings of its views.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"
#include "engine/cluster/message.h"
#include "engine/optim/optimizer.h"

namespace radl::engine::cluster {

struct CodecOptions {
  enum class Kind {
    Rounded,  // every number, as `numbers` says
    // The largest numbers of each tensor, after momentum (deep gradient compression: Lin et al., ICLR 2018):
    // u = momentum u + g; v = v + u; the largest v are sent, and u and v become 0 there. The optimizer must
    // have no momentum of its own.
    TopK,
    // Each matrix as the product of two of rank `rank` (Vogels et al., NeurIPS 2019); tensors that would not
    // become smaller travel as they are.
    PowerSgd
  };
  Kind kind = Kind::Rounded;
  Numbers numbers = Numbers::Fp32;
  std::vector<ParameterInfo> layout = {};  // TopK, PowerSgd: of the numbers of a sum
  double density = 0.001;                  // TopK: share of a tensor's numbers that is sent in the end
  float momentum = 0;
  bool nesterov = false;
  int rank = 2;  // PowerSgd
};

// A ring as a codec sees it. All members make the same calls, with spans of equal sizes.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // Replaces both spans by their sums over all members; the numbers travel in `encoding`. `residue`: empty,
  // or what this member has left out of each number so far, which is brought up to date.
  virtual Status add(Numbers encoding, std::span<float> numbers, std::span<float> statistics,
                     std::span<float> residue) = 0;
  // Everybody's bytes, in the order of ranks.
  virtual Result<std::vector<std::string>> gather(std::string_view own) = 0;
};

class Codec {
 public:
  static std::unique_ptr<Codec> make(const CodecOptions& options);
  virtual ~Codec() = default;

  // Ring::sum(). If it fails, this member has still left out what it had before.
  Status sum(Exchange& ring, std::span<float> numbers, std::span<float> statistics) {
    Status done = exchange(ring, numbers, statistics);
    if ((undoable_ = done.ok())) swap();
    return done;
  }
  // Nobody uses the last sum: as if it had not been.
  void undo() {
    if (std::exchange(undoable_, false)) swap();
  }
  // The next sum belongs to this time of the run, in epochs.
  virtual void at(double epoch) { (void)epoch; }
  // What a run needs to resume, as vectors of the length of the numbers: what this member has left out, then
  // what all members share. None before the first sum.
  virtual std::vector<std::vector<float>> state() const { return {}; }
  // Takes a state(). `own`: it is this member's; otherwise only the shared part is taken, and nothing is left
  // out. A state of another codec counts as none.
  void restore(std::span<const std::vector<float>> state, bool own) {
    undoable_ = false;
    take(state, own);
  }
  // Discards what was left out, since the next sums are over other numbers.
  void drop() { restore({}, false); }

 protected:
  // A sum, which leaves its new state beside the present one.
  virtual Status exchange(Exchange& ring, std::span<float> numbers, std::span<float> statistics) = 0;
  // The new state becomes the present one, and the other way around.
  virtual void swap() = 0;
  virtual void take(std::span<const std::vector<float>> state, bool own) = 0;

 private:
  bool undoable_ = false;
};

// For codec_*.cc.
std::unique_ptr<Codec> make_top_k(const CodecOptions& options);
std::unique_ptr<Codec> make_power_sgd(const CodecOptions& options);

}  // namespace radl::engine::cluster
