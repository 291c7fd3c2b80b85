#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The process that opened a store.
///
/// A child that `fork` makes inherits the memory, the descriptors and the maps of its parent, but neither its threads nor its file locks. An engine
/// that is used there damages the store under the parent, and so does closing it: whoever holds an engine asks first, and leaves it alone in a child.
package struct OwningProcess: Sendable {
    private let generation = forks.pointee

    package init() {}

    /// False in a child that was forked after this was made. Costs a load.
    package var isCurrent: Bool { generation == forks.pointee }

    /// - Throws: `misuse` in a child.
    package func check(_ place: String) throws {
        if isCurrent { return }
        throw StoreError(
            .misuse,
            "\(place) was opened before this process was forked, and cannot be used in the child. Start another program in the child (exec, "
                + "posix_spawn), or fork before any store is opened.", url: place)
    }
}

/// How many forks lie between the start of the program and this process. It lives as long as the process.
private nonisolated(unsafe) let forks: UnsafeMutablePointer<UInt> = {  // written only in a new child, which has one thread
    let count = UnsafeMutablePointer<UInt>.allocate(capacity: 1)
    count.initialize(to: 0)
    pthread_atfork(nil, nil) { forks.pointee &+= 1 }
    return count
}()
