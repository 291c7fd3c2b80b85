import PolyStoreBackend
import SeededRandom
import Testing

/// Text for engines that cannot hold NUL.
@Suite struct NULFreeTextTests {
    private static let samples: [String] = {
        var random = SplitMix64(seed: 7)
        let alphabet: [Unicode.Scalar] = ["\0", "\u{1}", "\u{2}", "\u{3}", "a", "é", "\u{FFFF}", "😀"]
        let texts = (0..<400).map { _ in
            var text = String.UnicodeScalarView()
            for _ in 0..<Int(random.next() % 6) { text.append(alphabet[Int(random.next() % 8)]) }
            return String(text)
        }
        return texts + ["", "\0", "\u{1}", "\0\0", "\u{1}\0", "\0\u{1}"]
    }()

    @Test func theEncodingIsReversibleAndHasNoNUL() {
        for text in Self.samples {
            let encoded = NULFreeText.encode(text)
            #expect(!encoded.utf8.contains(0))
            #expect(NULFreeText.decode(encoded).map { Array($0.utf8) } == Array(text.utf8))
        }
    }

    @Test func theOrderOfTheBytesAndPrefixesAreKept() {
        func precedes(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
        for left in Self.samples {
            for right in Self.samples {
                let (a, b) = (NULFreeText.encode(left), NULFreeText.encode(right))
                if precedes(left, right) != precedes(a, b) { Issue.record("\(left.debugDescription) and \(right.debugDescription)") }
                if right.utf8.starts(with: left.utf8) != b.utf8.starts(with: a.utf8) {
                    Issue.record("\(left.debugDescription) is a prefix")
                }
            }
        }
    }

    @Test func otherTextIsUnchangedAndInvalidTextIsDetected() {
        #expect(NULFreeText.encode("naïve\n") == "naïve\n")
        for invalid in ["\u{1}", "a\u{1}", "\u{1}\u{3}", "\u{1}a", "\0", "\u{1}\0"] { #expect(NULFreeText.decode(invalid) == nil) }
    }
}
