import Foundation
import PolyStoreSearch
import Testing

/// Terms have the folded form of `[cd]`, which is Foundation's, up to canonical equivalence.
@Suite struct FoldingTests {
    /// The characters that Unicode 15.0 assigns, and that are no part of a script that Foundation folds otherwise on its own.
    static let scalars: [Unicode.Scalar] = (0..<0x110000).compactMap(Unicode.Scalar.init).filter {
        guard let age = $0.properties.age else { return false }
        return age.major < 15 || age.major == 15 && age.minor == 0
    }

    static func terms(_ text: String) -> [String] { SearchTokenizer().tokens(in: text).map { String(decoding: $0.term, as: UTF8.self) } }

    @Test func everyCharacterIsFoldedAsByComparisons() {
        var words = 0
        for scalar in Self.scalars {
            let text = String(Character(scalar))
            let terms = Self.terms(text)
            guard let term = terms.first else { continue }
            let folded = text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            // `==` compares texts up to canonical equivalence.
            #expect(terms.count == 1 && term == folded, "U+\(String(scalar.value, radix: 16)): \(terms)")
            words += 1
        }
        #expect(words > 130_000)
    }

    @Test func everyMarkAfterALetterIsFoldedAsByComparisons() {
        let marks = Self.scalars.filter { $0.properties.isGraphemeExtend && !$0.properties.isDefaultIgnorableCodePoint }
        #expect(marks.count > 1_500)
        for base in "aЖωsß5ابक漢かกA" {
            for mark in marks {
                var text = String(base)
                text.unicodeScalars.append(mark)
                let folded = text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
                #expect(Self.terms(text) == [folded], "\(base) U+\(String(mark.value, radix: 16))")
            }
        }
    }

    @Test func canonicallyEquivalentCharactersHaveOneTerm() {
        for scalar in Self.scalars {
            let text = String(Character(scalar))
            let forms = [text.decomposedStringWithCanonicalMapping, text.precomposedStringWithCanonicalMapping]
            for form in forms where !form.utf8.elementsEqual(text.utf8) {
                #expect(
                    Self.terms(form).map { Array($0.utf8) } == Self.terms(text).map { Array($0.utf8) },
                    "U+\(String(scalar.value, radix: 16))")
            }
        }
    }
}
