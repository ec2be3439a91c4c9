// Output that arrives after its command has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include <dutiful/run.h>

#include "commands/output_reader.h"
#include "posix/descriptor.h"

namespace dutiful {

// The pipes of commands that have ended and left processes behind, such as a script that starts a
// server. They are still read: closing one would kill its writers with SIGPIPE. For one thread.
class LingeringOutput {
 public:
  using OnEnd = std::function<void(const RunInfo&)>;

  // Calls `on_end` after the last of a run's output is read. The reader must outlive this.
  LingeringOutput(OutputReader& reader, std::size_t pipes_max, OnEnd on_end);

  // If there are too many, closes the one that has been silent for the longest time, so that a task
  // that leaves a silent process at each run does not cut off a server. If memory runs out, closes
  // this one.
  void keep(std::uint64_t serial, Descriptor pipe, const RunInfo& run) noexcept;

  // Reads some of the output. Ignores a serial that is not kept.
  void read_some(std::uint64_t serial);

 private:
  struct Pipe {
    RunInfo run;
    std::uint64_t last_read;  // counted by reads_
    Descriptor output{};
  };
  using Pipes = std::unordered_map<std::uint64_t, Pipe>;

  void close(Pipes::iterator pipe) noexcept;

  OutputReader& reader_;
  const std::size_t pipes_max_;
  const OnEnd on_end_;
  std::uint64_t reads_ = 0;
  Pipes pipes_;
};

// How many such pipes a process may keep: 256, but at most a quarter of its descriptors.
[[nodiscard]] std::size_t lingering_pipes_max();

}  // namespace dutiful
