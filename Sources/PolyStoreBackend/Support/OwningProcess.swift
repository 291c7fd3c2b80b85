import PolyStorePlatform

/// The process that opened a store.
///
/// A child process created by `fork` inherits the memory, descriptors and maps of its parent, but neither its threads nor its file locks. Using or closing an
/// engine in the child damages the parent's store. The owner of an engine therefore checks this value first and leaves the engine untouched in a child.
@usableFromInline
package struct OwningProcess: @unchecked Sendable {  // the counter changes only in a new child, which has one thread
    @usableFromInline let counter = forks
    @usableFromInline let generation = forks.pointee

    package init() {}

    /// A Boolean value that indicates whether the current process created this value; `false` in a forked child. Costs one load.
    @inlinable
    package var isCurrent: Bool { generation == counter.pointee }

    /// Checks that the current process created this value.
    /// - Throws: `misuse` in a forked child.
    @inlinable @inline(__always)
    package func check(_ location: @autoclosure () -> String) throws { if !isCurrent { throw Self.wrongProcess(location()) } }

    @usableFromInline @inline(never)
    static func wrongProcess(_ location: String) -> StoreError {
        StoreError(
            .misuse,
            "\(location) was opened before this process was forked, and cannot be used in the child. Start another program in the child (exec, "
                + "posix_spawn), or fork before any store is opened.", location: location)
    }
}

/// The number of forks between the program's first process and this one. Never deallocated.
private nonisolated(unsafe) let forks: UnsafeMutablePointer<UInt> = {  // written only in a new child, which has one thread
    let count = UnsafeMutablePointer<UInt>.allocate(capacity: 1)
    count.initialize(to: 0)
    pthread_atfork(nil, nil) { forks.pointee &+= 1 }
    return count
}()
