import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A moment: the clock on the wall, and the CPU seconds of this process, all threads, user and system.
public struct Stamp: Sendable {
    public var wall: Double, cpu: Double

    public init() {
        var t = timespec()
        var u = rusage()
        clock_gettime(CLOCK_MONOTONIC, &t)
        #if canImport(Darwin)
            getrusage(RUSAGE_SELF, &u)
        #else
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &u)
        #endif
        wall = Double(t.tv_sec) + Double(t.tv_nsec) * 1e-9
        cpu = Double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + Double(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6
    }
}

/// Memory of this process in KiB.
public struct Memory: Sendable {
    /// The most that was resident so far, mapped files included.
    public var peak = 0
    /// What is resident now and belongs to no file.
    public var anonymous = 0
    /// What is resident now.
    public var resident = 0

    public init() {
        #if canImport(Darwin)
            var u = rusage()
            getrusage(RUSAGE_SELF, &u)
            peak = u.ru_maxrss / 1024
        #else
            // Not ru_maxrss: it begins with what the parent process had before exec.
            guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return }
            for line in text.split(separator: "\n") {
                func value(_ name: String) -> Int? {
                    line.hasPrefix(name) ? Int(line.dropFirst(name.count).prefix { $0 != "k" }.filter(\.isNumber)) : nil
                }
                if let value = value("VmHWM:") { peak = value }
                if let value = value("VmRSS:") { resident = value }
                if let value = value("RssAnon:") { anonymous = value }
            }
        #endif
    }
}
