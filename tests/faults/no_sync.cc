// The judge opens thousands of states and nothing it writes must survive it, so it does not wait
// for the disk.

#include <unistd.h>

extern "C" int fsync(int /*descriptor*/) {
  return 0;
}
extern "C" int fdatasync(int /*descriptor*/) {
  return 0;
}
