internal import CObjectRetain

/// Returns the object at an address, retained, unless it is being deinitialized.
/// - Parameter pointer: The address of an object whose memory cannot be freed during the call.
func tryRetained(_ pointer: UnsafeMutableRawPointer) -> AnyObject? {
    polystore_try_retain(pointer).map { Unmanaged<AnyObject>.fromOpaque($0).takeRetainedValue() }
}

/// Returns whether the object at an address is being deinitialized.
/// - Parameter pointer: The address of an object whose memory cannot be freed during the call.
func isDeallocating(_ pointer: UnsafeMutableRawPointer) -> Bool { polystore_is_deallocating(pointer) }
