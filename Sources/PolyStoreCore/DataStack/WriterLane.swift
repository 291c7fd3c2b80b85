import PolyStoreBackend

/// Lets one transaction run at a time, in the order in which they were asked for, whatever thread they run on.
final class WriterLane: Sendable {
    struct Ticket: Sendable {
        fileprivate let number: UInt64
    }

    private struct State {
        var next: UInt64 = 0
        var serving: UInt64 = 0
        var owner: UInt = 0
    }

    private let state = Protected(State())

    /// Takes a place in the line. Every ticket must be used.
    func ticket() -> Ticket {
        state.withLock { state in
            defer { state.next += 1 }
            return Ticket(number: state.next)
        }
    }

    /// Whether the calling thread is in a transaction of this lane: a wait would never end.
    var isHeldByCaller: Bool { state.withLock { $0.owner == currentThreadNumber() } }

    /// Waits for the ticket's turn, runs, and lets the next one go.
    func run<T>(_ ticket: Ticket, _ body: () throws -> T) rethrows -> T {
        state.wait(until: { $0.serving == ticket.number }, { $0.owner = currentThreadNumber() })
        defer {
            state.signal { state in
                state.owner = 0
                state.serving += 1
            }
        }
        return try body()
    }
}
