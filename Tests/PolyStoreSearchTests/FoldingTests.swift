import Foundation
import PolyStoreSearch
import Testing

/// Terms have the folded form of `[cd]`, which is Foundation's, up to canonical equivalence.
@Suite struct FoldingTests {
    /// The characters that Unicode 15.0 assigns.
    static let scalars: [Unicode.Scalar] = (0..<0x110000).compactMap(Unicode.Scalar.init).filter {
        guard let age = $0.properties.age else { return false }
        return age.major < 15 || age.major == 15 && age.minor == 0
    }

    static func terms(_ text: String) -> [String] { SearchTokenizer().tokens(in: text).map { String(decoding: $0.term, as: UTF8.self) } }

    @Test func lettersAndNumbersAreWordsAndOtherCharactersAreNot() {
        for scalar in Self.scalars {
            let count = SearchTokenizer().tokens(in: String(Character(scalar))).count
            let isIgnored = scalar.properties.isDefaultIgnorableCodePoint
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
                .otherNumber:
                // Half-width voiced marks of Katakana are letters that extend the one before.
                let isMark = scalar.properties.isGraphemeExtend
                if count != (isIgnored || isMark ? 0 : 1) { Issue.record("U+\(String(scalar.value, radix: 16)): \(count)") }
            case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation,
                .otherPunctuation, .currencySymbol, .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format, .surrogate,
                .privateUse,
                .unassigned, .nonspacingMark, .spacingMark, .enclosingMark:
                if count != 0 && !scalar.properties.isAlphabetic { Issue.record("U+\(String(scalar.value, radix: 16)): \(count)") }
            default:
                // Some mathematical and other symbols are emoji, or letters in circles.
                if count != 0, !scalar.properties.isEmoji, !scalar.properties.isAlphabetic, scalar.value < 0x1f000,
                    !(0x2300..<0x3300).contains(scalar.value),
                    scalar.properties.generalCategory != .modifierSymbol
                {
                    Issue.record("U+\(String(scalar.value, radix: 16)): \(count)")
                }
            }
        }
    }

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
        // Signs that decompose into marks are folded as these, which comparisons do only if they are decomposed.
        let marks = Self.scalars.filter {
            $0.properties.isGraphemeExtend && !$0.properties.isDefaultIgnorableCodePoint
                && String(Character($0)).decomposedStringWithCanonicalMapping.unicodeScalars.count == 1
        }
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
