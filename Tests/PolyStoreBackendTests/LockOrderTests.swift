import PolyStoreBackend
import Testing

#if DEBUG
    /// The check of the order in which a thread takes locks.
    @Suite struct LockOrderTests {
        private func violations(_ body: () -> Void) -> [String] {
            var found: [String] = []
            LockOrder.reporting(to: { found.append($0) }, body)
            return found
        }

        @Test func locksInTheirOrderAreAccepted() {
            let (outer, inner, leaf) = (Lock(.sequencer), Protected(0, .table), Protected(0))
            #expect(violations { outer.withLock { inner.withLock { _ in leaf.withLock { $0 += 1 } } } } == [])
            // One after another, in any order.
            #expect(
                violations {
                    leaf.withLock { $0 += 1 }
                    outer.withLock { inner.withLock { $0 += 1 } }
                    outer.withLock {}
                } == [])
        }

        @Test func aViolationNamesBothLocks() throws {
            let (outer, inner) = (Lock(.sequencer, file: "Outer.swift", line: 1), Protected(0, .table, file: "Inner.swift", line: 2))
            let found = violations { inner.withLock { _ in outer.withLock {} } }
            let message = try #require(found.first)
            #expect(found.count == 1)
            for part in ["Outer.swift:1 (sequencer)", "Inner.swift:2 (table)", "docs/locks.md"] {
                #expect(message.contains(part), "\(message)")
            }
            // The thread holds nothing afterwards.
            #expect(violations { outer.withLock { inner.withLock { $0 += 1 } } } == [])
        }

        @Test func aLeafIsHeldAlone() {
            let (first, second, outer) = (Protected(0), Protected(0), Lock(.migration))
            #expect(violations { first.withLock { _ in second.withLock { $0 += 1 } } }.count == 1)
            #expect(violations { first.withLock { _ in outer.withLock {} } }.count == 1)
            #expect(violations { outer.withLock { Lock(.migration).withLock {} } }.count == 1)
        }

        @Test func anErrorReleasesTheLock() {
            struct Stop: Error {}
            let (outer, leaf) = (Lock(.table), Lock())
            #expect(
                violations {
                    do { try leaf.withLock { throw Stop() } } catch {}
                    outer.withLock {}
                } == [])
        }
    }
#endif
