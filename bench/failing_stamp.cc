// The command of tasks that are retried: appends its number and the instant of its start to a file,
// and fails. It is linked statically to take as little time as possible.
//
//   failing_stamp FILE NUMBER: twice eight bytes, the number and nanoseconds since 1970

#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (argc != 3) return 2;
  const std::int64_t stamp[] = {std::strtol(argv[2], nullptr, 10),
                                std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec};
  const int file = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  return file >= 0 && write(file, stamp, sizeof stamp) == sizeof stamp ? 1 : 3;
}
