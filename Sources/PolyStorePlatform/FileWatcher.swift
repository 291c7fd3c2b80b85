import Dispatch

#if canImport(Darwin)
    import Darwin

    /// Reports writes to files. Used only on its queue.
    package final class FileWatcher {
        private let queue: DispatchQueue
        private let changed: () -> Void
        private var sources: [String: any DispatchSourceFileSystemObject] = [:]

        package init?(_ queue: DispatchQueue, _ changed: @escaping () -> Void) {
            self.queue = queue
            self.changed = changed
        }

        /// Watches existing files that are not watched yet.
        package func watch(_ paths: [String]) {
            for path in paths where sources[path] == nil {
                let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
                guard descriptor >= 0 else { continue }
                let source = DispatchSource.makeFileSystemObjectSource(
                    fileDescriptor: descriptor, eventMask: [.write, .extend, .delete, .rename], queue: queue)
                source.setEventHandler { [weak self, weak source] in
                    guard let self, let source else { return }
                    if !source.data.isDisjoint(with: [.delete, .rename]) {
                        // The name may refer to another file now.
                        sources[path] = nil
                        source.cancel()
                    }
                    changed()
                }
                source.setCancelHandler { close(descriptor) }
                source.resume()
                sources[path] = source
            }
        }

        /// Events are merged until they are handled, so pausing is unnecessary.
        package func pause() {}
        package func goOn() {}

        package func stop() {
            for source in sources.values { source.cancel() }
            sources = [:]
        }
    }
#elseif canImport(Glibc)
    import Glibc

    /// Reports writes to files. Used only on its queue.
    package final class FileWatcher {
        private let descriptor: Int32
        private let source: any DispatchSourceRead
        private var isPaused = false

        /// - Returns: `nil` if the system limit of watches is reached.
        package init?(_ queue: DispatchQueue, _ changed: @escaping () -> Void) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            self.descriptor = descriptor
            source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler {
                Self.drain(descriptor)
                changed()
            }
            source.setCancelHandler { close(descriptor) }
            source.resume()
        }

        private static func drain(_ descriptor: Int32) {
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
            }
        }

        /// Watches existing files. Adding a watched file again has no effect.
        package func watch(_ paths: [String]) { for path in paths { _ = inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) } }

        /// Suspends events, which the system then merges.
        package func pause() {
            guard !isPaused else { return }
            isPaused = true
            source.suspend()
        }

        package func goOn() {
            guard isPaused else { return }
            isPaused = false
            source.resume()
        }

        package func stop() {
            // A suspended source must be resumed before it is released.
            goOn()
            source.cancel()
        }
    }
#else
    /// A watcher without events: external commits are found by periodic checks.
    package final class FileWatcher {
        package init?(_ queue: DispatchQueue, _ changed: @escaping () -> Void) { return nil }
        package func watch(_ paths: [String]) {}
        package func pause() {}
        package func goOn() {}
        package func stop() {}
    }
#endif
