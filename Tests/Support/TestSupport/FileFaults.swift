internal import CFileFaults
internal import Foundation

/// System calls of this process that fail, on the files below a folder.
package final class FileFaults {
    /// The calls to count.
    package enum Calls: Sendable {
        case reads
        /// Those that need space on the disk.
        case space

        fileprivate var value: Int32 { Int32(self == .reads ? POLYSTORE_FAULT_READS : POLYSTORE_FAULT_SPACE) }
    }

    /// A Boolean value that indicates whether calls can fail on this system.
    package static var areAvailable: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    private let plan: Int32
    private var observer: Observer?

    private final class Observer {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// - Parameters:
    ///   - at: The number of the call that fails, from 1.
    ///   - lasts: Whether all later calls fail too.
    package init(_ calls: Calls, below folder: Folder, at: Int, error: Int32, lasts: Bool = false) {
        plan = polystore_file_faults_begin(Self.path(folder), calls.value, UInt64(at), error, lasts ? 1 : 0)
    }

    /// Calls a closure before a call, on its thread.
    package init(observing calls: Calls, below folder: Folder, at: Int, _ body: @escaping () -> Void) {
        plan = polystore_file_faults_begin(Self.path(folder), calls.value, UInt64(at), 0, 0)
        let observer = Observer(body)
        self.observer = observer
        polystore_file_faults_observe(
            plan, { Unmanaged<Observer>.fromOpaque($0!).takeUnretainedValue().body() }, Unmanaged.passUnretained(observer).toOpaque())
    }

    private static func path(_ folder: Folder) -> String { URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path }

    /// The number of calls so far.
    package var count: Int { Int(polystore_file_faults_count(plan)) }
    /// The number of failed calls so far.
    package var failed: Int { Int(polystore_file_faults_failed(plan)) }

    package func end() { polystore_file_faults_end(plan) }
}
