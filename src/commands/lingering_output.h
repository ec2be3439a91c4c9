// What is still written when its command has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include <dutiful/run.h>

#include "commands/output_reader.h"
#include "posix/descriptor.h"

namespace dutiful {

// The pipes of commands that have ended and left processes behind, as a script does that starts a
// server. They are read on, because whoever writes to a pipe that nobody reads is killed by
// SIGPIPE. For one thread.
class LingeringOutput {
 public:
  using OnEnd = std::function<void(const RunInfo&)>;

  // Tells `on_end` when the last of a run's output was read. The reader must outlive this.
  LingeringOutput(OutputReader& reader, std::size_t pipes_max, OnEnd on_end);

  // If there are too many, closes the one that has been silent for longest: a task that leaves a
  // silent process at each run does not cost a server its voice. If memory runs out, this one.
  void keep(std::uint64_t serial, Descriptor pipe, const RunInfo& run) noexcept;

  // Reads some of what is there. Ignores a serial that is not kept.
  void read_some(std::uint64_t serial);

 private:
  struct Pipe {
    RunInfo run;
    std::uint64_t heard;  // when, by hearings_
    Descriptor output{};
  };
  using Pipes = std::unordered_map<std::uint64_t, Pipe>;

  void close(Pipes::iterator pipe) noexcept;

  OutputReader& reader_;
  const std::size_t pipes_max_;
  const OnEnd on_end_;
  std::uint64_t hearings_ = 0;
  Pipes pipes_;
};

// How many such pipes a process can afford: 256, or a quarter of its descriptors.
[[nodiscard]] std::size_t lingering_pipes_max();

}  // namespace dutiful
