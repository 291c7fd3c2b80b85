#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Names the calling thread, to find out a thread that would wait for itself.
func currentThreadNumber() -> UInt {
    #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
    #else
        UInt(pthread_self())
    #endif
}

/// Waits a little for something that another thread is about to do: longer each time, so that a thread of lower priority gets to do it.
func pauseThread(attempt: Int) {
    if attempt < 32 { return }
    if attempt < 64 {
        sched_yield()
    } else {
        usleep(UInt32(min(attempt, 1000)))
    }
}
