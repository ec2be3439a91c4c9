#include "cluster/database.h"

namespace dutiful::cluster {
namespace {

// FNV-1a. Stored and compared by members of other versions, so never changed.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      value_ = (value_ ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
    }
    value_ = (value_ ^ 0xffU) * 1'099'511'628'211U;  // ends the text: no UTF-8 contains this byte
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14'695'981'039'346'656'037U;
};

}  // namespace

ShardId shard_of(std::string_view task, std::size_t shards) {
  Hash hash;
  hash.add(task);
  return static_cast<ShardId>(hash.value() % shards);
}

ListPrint print_of(const std::vector<TaskConfig>& list,
                   ListVersion version,
                   std::string_view settings) {
  Hash hash;
  hash.add(std::to_string(version));
  hash.add(settings);
  for (const TaskConfig& config : list) {
    hash.add(config.name);
    hash.add(config.cron);
    hash.add(std::to_string(config.retry_delay.count()));
  }
  return hash.value();
}

}  // namespace dutiful::cluster
