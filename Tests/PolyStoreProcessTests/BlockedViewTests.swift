import EngineTestSupport
import Testing

@Suite struct BlockedViewTests {
    #if os(Linux)
        /// Commits queue a bounded amount of memory for a blocked main actor. With one task per commit, 20,000 commits would take 29 MiB.
        @Test func commitsBesideABlockedMainActorTakeBoundedMemory() throws {
            let child = try Child(program: "kill-child", "block", "memory", "25000")
            let lines = child.lines()
            #expect(child.wait() == 0)
            let growth = try #require(lines.first?.split(separator: " ").first.flatMap { Int($0) })
            #expect(growth < 16)
            #expect(lines.last == "the counter is at 25000")
        }
    #endif
}
