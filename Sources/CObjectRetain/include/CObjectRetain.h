#ifndef POLYSTORE_OBJECT_RETAIN_H
#define POLYSTORE_OBJECT_RETAIN_H

#include <stdbool.h>

// Swift offers no way to retain an object of which only the address is known and whose last reference another thread may be releasing, except a weak reference,
// which costs an allocation for each object. These are the functions of the runtime that weak references are made of: part of its stable binary interface.
void *swift_tryRetain(void *object);
bool swift_isDeallocating(void *object);

/// Retains an object, unless it is being deinitialized.
static inline void *polystore_try_retain(void *object) { return swift_tryRetain(object); }

/// Returns whether an object is being deinitialized.
static inline bool polystore_is_deallocating(void *object) { return swift_isDeallocating(object); }

#endif
