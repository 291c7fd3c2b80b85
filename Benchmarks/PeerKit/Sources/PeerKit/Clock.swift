import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A point in time: the elapsed time, and the CPU seconds of this process, all threads, user and system.
public struct Stamp: Sendable {
    /// Seconds of the monotonic clock, and CPU seconds.
    public var wall: Double, cpu: Double

    /// Reads the clocks.
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

/// The memory of this process in KiB.
public struct Memory: Sendable {
    /// The peak resident memory, including mapped files.
    public var peak = 0
    /// The anonymous resident memory.
    public var anonymous = 0
    /// The resident memory.
    public var resident = 0

    /// Returns freed memory to the system, where the C library keeps it.
    public static func trim() {
        #if canImport(Glibc)
            typealias Trim = @convention(c) (Int) -> Int32
            guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "malloc_trim") else { return }
            _ = unsafeBitCast(symbol, to: Trim.self)(0)
        #endif
    }

    /// Reads the memory of this process.
    public init() {
        #if canImport(Darwin)
            var u = rusage()
            getrusage(RUSAGE_SELF, &u)
            peak = u.ru_maxrss / 1024
        #else
            // Not ru_maxrss: it begins with the value of the parent process before exec.
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
