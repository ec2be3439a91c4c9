// The command that the daemons run: appends the instant of its start to a file and ends. It is
// linked statically to take as little time as possible.
//
//   stamp FILE: eight bytes, nanoseconds since 1970

#include <cstdint>
#include <ctime>

#include <fcntl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (argc != 2) return 2;
  const std::int64_t stamp = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  const int file = open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC);
  return file >= 0 && write(file, &stamp, sizeof stamp) == sizeof stamp ? 0 : 1;
}
