// What libdutiful.so exports: the names of these headers, and nothing else.
#pragma once

#define DUTIFUL_EXPORT __attribute__((visibility("default")))
#define DUTIFUL_HIDDEN __attribute__((visibility("hidden")))
