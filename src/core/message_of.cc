#include "core/message_of.h"

#include <new>

namespace dutiful {

std::string message_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
    return "";
  } catch (const std::bad_alloc&) {
    return "memory is exhausted";
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace dutiful
