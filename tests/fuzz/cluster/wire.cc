// Any bytes as the header and payload of a message, as the handshake of a stranger, and as records of a link
// whose handshake is done.
#include <cstdint>
#include <string>
#include <utility>
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
  Piece piece;
  Norm norm;
  Border border;
  View view;
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
  (void)decode(m, piece);
  (void)decode(m, norm);
  (void)decode(m, border);
  (void)decode(m, view);
}

}  // namespace

// A meddler who writes to a link: nothing opens, and the end can still be used.
void meddle(std::string_view bytes) {
  const auto client = SecureEnd::client(std::string(32, 'k'), {Role::Worker, 0}, {Role::Server, 0}),
             server = SecureEnd::server(std::string(32, 'k'), {Role::Server, 0});
  std::string up, down;
  (void)client->shake({}, up);
  if (server->shake(up, down).ok()) __builtin_trap();
  up.clear();
  (void)client->shake(std::exchange(down, {}), up);
  if (!server->shake(up, down).ok()) __builtin_trap();
  if (!client->shake(down, up).ok()) __builtin_trap();
  for (SecureEnd* end : {client.get(), server.get()}) {
    char to[64];
    end->feed(bytes);
    const auto opened = end->open(to, sizeof to);
    if (opened.ok() && *opened > 0) __builtin_trap();  // nobody guesses the key
    std::string out;
    if (end->seal("answer", out).ok() != opened.ok()) __builtin_trap();
    if (out.empty() == opened.ok()) __builtin_trap();
  }
}

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
  const std::string key(32, 'k');
  std::string out;
  const auto client = SecureEnd::client(key, {Role::Worker, 0}, {Role::Server, 0}),
             server = SecureEnd::server(key, {Role::Server, 0});
  (void)client->shake({}, out);
  for (SecureEnd* end : {client.get(), server.get()})
    if (end->shake(bytes, out).ok()) __builtin_trap();  // nobody guesses the key
  meddle(bytes);
  return 0;
}
