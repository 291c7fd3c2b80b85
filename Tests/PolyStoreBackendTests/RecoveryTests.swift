import PolyStoreBackend
import PolyStoreRuns
import Testing

/// What a caller can do after an error.
@Suite struct RecoveryTests {
    @Test func theCodeDeterminesTheRecovery() {
        #expect(StoreError(.busy, "").recovery == .timedOut)
        #expect(StoreError(.cancelled, "").recovery == .cancelled)
        for code in [StoreError.Code.constraint, .conflict, .io, .full, .corrupt, .closed, .misuse, StoreError.Code("other")] {
            #expect(StoreError(code, "").recovery == .permanent, "\(code)")
        }
    }

    @Test(arguments: StoreError.Recovery.allCases)
    func aBackendAssignsTheRecovery(_ recovery: StoreError.Recovery) {
        var error = StoreError(.busy, "", recovery: recovery)
        #expect(error.recovery == recovery)
        error.code = .io
        #expect(error.recovery == (recovery == .timedOut ? .permanent : recovery))
    }

    @Test func errorsWithEqualRecoveriesAreEqual() {
        #expect(StoreError(.io, "", recovery: .permanent) == StoreError(.io, ""))
        #expect(StoreError(.io, "", recovery: .connectionLost) != StoreError(.io, ""))
    }

    @Test func aFailedGroupMakesErrorsThatPassRetryable() {
        let recoveries = StoreError.Recovery.allCases.map { StoreError(.io, "", recovery: $0).inGroup.recovery }
        #expect(recoveries == [.permanent, .retryable, .retryable, .commitOutcomeUnknown, .retryable, .cancelled])
    }

    @Test func pausesGrowWithinBounds() {
        let backOff = BackOff()
        let longest = (1...BackOff.limit).map { backOff.pause(before: $0, jitter: 1) }
        #expect(longest == [10, 20, 40, 80, 160].map { .milliseconds($0) })
        #expect(longest.reduce(.zero, +) == .milliseconds(310))
        for number in 1...BackOff.limit {
            let pause = backOff.pause(before: number)
            #expect(pause >= longest[number - 1] / 2 && pause <= longest[number - 1])
        }
        #expect(BackOff(first: .zero).pause(before: 3) == .zero)
        #expect(backOff.pause(before: .max, jitter: 1) == .milliseconds(160))
    }
}
