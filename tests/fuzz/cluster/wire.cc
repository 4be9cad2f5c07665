// Any bytes as the header and payload of a message, and as the handshake of a stranger.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/cluster/message.h"
#include "engine/cluster/secure.h"

using namespace radl::engine::cluster;

namespace {

// The numbers of a message that was taken, as its receiver unpacks them.
void unpack(Numbers encoding, std::string_view packed) {
  const size_t bytes = encoding == Numbers::Fp16 && !packed.empty() ? packed.size() - 2 : packed.size();
  std::vector<float> values(bytes / (encoding == Numbers::Fp32 ? 4 : 2));
  if (bytes_of(encoding, values.size()) != packed.size()) __builtin_trap();
  unpack_numbers(encoding, packed.data(), values);
  if (!all_finite(values)) return;
  std::string again(packed.size(), '\0');
  pack_numbers(encoding, values, again.data());
}

void decode_all(const Message& m) {
  Hello hello;
  Welcome welcome;
  Refuse refuse;
  Init init;
  Fetch fetch;
  Push push;
  Update update;
  radl::engine::TrainingState snapshot;
  Report report;
  Stop stop;
  Block block;
  (void)decode(m, hello);
  (void)decode(m, welcome);
  (void)decode(m, refuse);
  (void)decode(m, init);
  (void)decode(m, fetch);
  if (decode(m, push).ok()) unpack(push.encoding, push.gradients);
  if (decode(m, update).ok()) unpack(update.encoding, update.weights);
  if (decode(m, block).ok()) unpack(block.encoding, block.numbers);
  (void)decode(m, snapshot);
  (void)decode(m, report);
  (void)decode(m, stop);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size >= kHeaderSize) {
    Message message;
    uint64_t length = 0;
    if (read_header(bytes.data(), size, message.type, length).ok()) {
      message.payload = bytes.substr(kHeaderSize);
      decode_all(message);
    }
  }
  for (const auto side : {SecureEnd::Side::Client, SecureEnd::Side::Server}) {
    const auto end = SecureEnd::make(side, std::string(32, 'k'), {Role::Server, 0});
    std::string out;
    if (side == SecureEnd::Side::Client) (void)end->shake({}, out);
    if (end->shake(bytes, out).ok()) __builtin_trap();  // nobody guesses the key
  }
  return 0;
}
