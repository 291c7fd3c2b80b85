/// The Porter 2 algorithm (https://snowballstem.org/algorithms/english/stemmer.html), as of version 3.0 of Snowball.
///
/// Without the steps for apostrophes, which divide words before. Works on small letters of ASCII in place. Every step shortens the word or replaces letters, so it never becomes longer.
struct EnglishStemmer {
    private let word: UnsafeMutablePointer<UInt8>
    private var count: Int
    /// Where the regions R1 and R2 begin, which the page of the algorithm defines.
    private var region1 = 0
    private var region2 = 0

    /// Replaces a word by its stem. Returns the number of bytes of the stem.
    static func stem(_ word: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        guard count > 2 else { return count }
        var stemmer = EnglishStemmer(word: word, count: count)
        if stemmer.replaceException() { return stemmer.count }
        let hasConsonantY = stemmer.markConsonantY()
        stemmer.findRegions()
        stemmer.removePlural()
        stemmer.removePast()
        stemmer.replaceY()
        stemmer.replaceLongSuffix()
        stemmer.replaceDerivation()
        stemmer.removeSuffix()
        stemmer.removeEnd()
        if hasConsonantY {
            for index in 0..<stemmer.count where word[index] == UInt8(ascii: "Y") { word[index] = UInt8(ascii: "y") }
        }
        return stemmer.count
    }

    private init(word: UnsafeMutablePointer<UInt8>, count: Int) {
        self.word = word
        self.count = count
    }

    // MARK: Letters

    @inline(__always)
    private func isVowel(_ index: Int) -> Bool {
        switch word[index] {
        case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "i"), UInt8(ascii: "o"), UInt8(ascii: "u"), UInt8(ascii: "y"): true
        default: false
        }
    }

    /// Returns whether the letters before an index end with a suffix.
    @inline(__always)
    private func has(_ suffix: StaticString, before end: Int) -> Bool {
        let length = suffix.utf8CodeUnitCount
        guard end >= length else { return false }
        for index in 0..<length where word[end - length + index] != suffix.utf8Start[index] { return false }
        return true
    }

    @inline(__always) private func ends(_ suffix: StaticString) -> Bool { has(suffix, before: count) }
    private func isAll(_ text: StaticString) -> Bool { count == text.utf8CodeUnitCount && ends(text) }

    private func hasVowel(before end: Int) -> Bool {
        var index = end - 1
        while index >= 0 {
            if isVowel(index) { return true }
            index -= 1
        }
        return false
    }

    /// Returns whether the letters before an index end with a short syllable.
    private func isShort(before end: Int) -> Bool {
        if end >= 3, !isVowel(end - 1), isVowel(end - 2), !isVowel(end - 3) {
            switch word[end - 1] {
            case UInt8(ascii: "w"), UInt8(ascii: "x"), UInt8(ascii: "Y"): break
            default: return true
            }
        }
        return end == 2 && isVowel(0) && !isVowel(1) || has("past", before: end)
    }

    /// Replaces the last letters of the word.
    private mutating func replaceLast(_ length: Int, by suffix: StaticString) {
        count -= length
        for index in 0..<suffix.utf8CodeUnitCount { word[count + index] = suffix.utf8Start[index] }
        count += suffix.utf8CodeUnitCount
    }

    // MARK: Preparation

    /// Returns whether the word is an exception, which is replaced.
    private mutating func replaceException() -> Bool {
        switch word[0] {
        case UInt8(ascii: "a"): return isAll("andes") || isAll("atlas")
        case UInt8(ascii: "b"): return isAll("bias")
        case UInt8(ascii: "c"): return isAll("cosmos")
        case UInt8(ascii: "e"): return replace("early", by: "earli")
        case UInt8(ascii: "g"): return replace("gently", by: "gentl")
        case UInt8(ascii: "h"): return isAll("howe")
        case UInt8(ascii: "i"): return replace("idly", by: "idl")
        case UInt8(ascii: "n"): return isAll("news")
        case UInt8(ascii: "o"): return replace("only", by: "onli")
        case UInt8(ascii: "s"): return isAll("sky") || replace("skies", by: "sky") || replace("singly", by: "singl")
        case UInt8(ascii: "u"): return replace("ugly", by: "ugli")
        default: return false
        }
    }

    private mutating func replace(_ text: StaticString, by stem: StaticString) -> Bool {
        guard isAll(text) else { return false }
        replaceLast(count, by: stem)
        return true
    }

    /// Writes `Y` for a y at the start or after a vowel. Returns whether there is one.
    private mutating func markConsonantY() -> Bool {
        var isFound = false
        for index in 0..<count where word[index] == UInt8(ascii: "y") && (index == 0 || isVowel(index - 1)) {
            word[index] = UInt8(ascii: "Y")
            isFound = true
        }
        return isFound
    }

    private mutating func findRegions() {
        region1 = count
        region2 = count
        guard let first = exceptionalRegion() ?? regionEnd(from: 0) else { return }
        region1 = first
        region2 = regionEnd(from: first) ?? count
    }

    private func exceptionalRegion() -> Int? {
        switch word[0] {
        case UInt8(ascii: "a"): starts("arsen")
        case UInt8(ascii: "c"): starts("commun")
        case UInt8(ascii: "e"): starts("emerg")
        case UInt8(ascii: "g"): starts("gener")
        case UInt8(ascii: "l"): starts("later")
        case UInt8(ascii: "o"): starts("organ")
        case UInt8(ascii: "p"): starts("past")
        case UInt8(ascii: "u"): starts("univers")
        default: nil
        }
    }

    private func starts(_ text: StaticString) -> Int? {
        let length = text.utf8CodeUnitCount
        return count >= length && has(text, before: length) ? length : nil
    }

    /// Returns the index after the first consonant that follows a vowel.
    private func regionEnd(from start: Int) -> Int? {
        var index = start
        while index < count, !isVowel(index) { index += 1 }
        while index < count, isVowel(index) { index += 1 }
        return index < count ? index + 1 : nil
    }

    // MARK: Steps 1

    private mutating func removePlural() {
        if ends("sses") {
            count -= 2
        } else if ends("ies") || ends("ied") {
            count -= count > 4 ? 2 : 1
        } else if ends("s"), !ends("ss"), !ends("us"), hasVowel(before: count - 2) {
            count -= 1
        }
    }

    private mutating func removePast() {
        guard count > 2 else { return }
        let length: Int
        switch word[count - 1] {
        case UInt8(ascii: "d"): length = ends("eed") ? 3 : ends("ed") ? 2 : 0
        case UInt8(ascii: "g"): length = ends("ing") ? 3 : 0
        case UInt8(ascii: "y"): length = ends("eedly") ? 5 : ends("ingly") ? 5 : ends("edly") ? 4 : 0
        default: length = 0
        }
        guard length > 0 else { return }
        let end = count - length
        if ends("eed") || ends("eedly") {
            let isException = end == 4 && (has("succ", before: end) || has("proc", before: end)) || end == 3 && has("exc", before: end)
            if !isException, end >= region1 { replaceLast(length, by: "ee") }
            return
        }
        if ends("ing"), replaceIng(end) { return }
        if hasVowel(before: end) {
            count = end
            repairStem()
        }
    }

    /// Returns whether a word that ends with "ing" is an exception, which is replaced or kept.
    private mutating func replaceIng(_ end: Int) -> Bool {
        if end == 2, word[1] == UInt8(ascii: "y"), !isVowel(0) {
            replaceLast(4, by: "ie")
            return true
        }
        switch end {
        case 3: return has("inn", before: end) || has("out", before: end)
        case 4: return has("even", before: end) || has("cann", before: end) || has("earr", before: end) || has("herr", before: end)
        default: return false
        }
    }

    /// Adds an e to a stem that lost it, or removes the second of two equal letters.
    private mutating func repairStem() {
        if ends("at") || ends("bl") || ends("iz") { return replaceLast(0, by: "e") }
        if count >= 2, word[count - 1] == word[count - 2] {
            switch word[count - 1] {
            case UInt8(ascii: "b"), UInt8(ascii: "d"), UInt8(ascii: "f"), UInt8(ascii: "g"), UInt8(ascii: "m"), UInt8(ascii: "n"),
                UInt8(ascii: "p"),
                UInt8(ascii: "r"), UInt8(ascii: "t"):
                let isShortWord =
                    count == 3 && (word[0] == UInt8(ascii: "a") || word[0] == UInt8(ascii: "e") || word[0] == UInt8(ascii: "o"))
                if !isShortWord { count -= 1 }
                return
            default: break
            }
        }
        if count == region1, isShort(before: count) { replaceLast(0, by: "e") }
    }

    private mutating func replaceY() {
        guard count > 2, word[count - 1] == UInt8(ascii: "y") || word[count - 1] == UInt8(ascii: "Y"), !isVowel(count - 2) else { return }
        word[count - 1] = UInt8(ascii: "i")
    }

    // MARK: Steps 2 to 5

    /// Replaces a suffix in the region R1. Returns whether the word has it, in the region or not.
    @inline(__always)
    private mutating func replaceSuffix(_ suffix: StaticString, _ replacement: StaticString) -> Bool {
        guard ends(suffix) else { return false }
        if count - suffix.utf8CodeUnitCount >= region1 { replaceLast(suffix.utf8CodeUnitCount, by: replacement) }
        return true
    }

    private mutating func replaceLongSuffix() {
        guard count > 2 else { return }
        switch word[count - 2] {
        case UInt8(ascii: "a"):
            _ = replaceSuffix("ational", "ate") || replaceSuffix("tional", "tion")
        case UInt8(ascii: "c"):
            _ = replaceSuffix("enci", "ence") || replaceSuffix("anci", "ance")
        case UInt8(ascii: "e"):
            _ = replaceSuffix("izer", "ize")
        case UInt8(ascii: "g"):
            if ends("logi"), count - 3 >= region1 { count -= 1 }
        case UInt8(ascii: "l"):
            replaceLi()
        case UInt8(ascii: "o"):
            _ = replaceSuffix("ization", "ize") || replaceSuffix("ation", "ate") || replaceSuffix("ator", "ate")
        case UInt8(ascii: "s"):
            _ =
                replaceSuffix("fulness", "ful") || replaceSuffix("ousness", "ous") || replaceSuffix("iveness", "ive")
                || replaceSuffix("alism", "al")
                || replaceSuffix("ogist", "og")
        case UInt8(ascii: "t"):
            _ = replaceSuffix("biliti", "ble") || replaceSuffix("aliti", "al") || replaceSuffix("iviti", "ive")
        default: break
        }
    }

    private mutating func replaceLi() {
        let isReplaced =
            replaceSuffix("lessli", "less") || replaceSuffix("fulli", "ful") || replaceSuffix("ousli", "ous")
            || replaceSuffix("entli", "ent")
            || replaceSuffix("abli", "able") || replaceSuffix("alli", "al") || replaceSuffix("bli", "ble")
        guard !isReplaced, ends("li"), count - 2 >= region1, count > 2 else { return }
        switch word[count - 3] {
        case UInt8(ascii: "c"), UInt8(ascii: "d"), UInt8(ascii: "e"), UInt8(ascii: "g"), UInt8(ascii: "h"), UInt8(ascii: "k"),
            UInt8(ascii: "m"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            count -= 2
        default: break
        }
    }

    private mutating func replaceDerivation() {
        guard count > 2 else { return }
        switch word[count - 1] {
        case UInt8(ascii: "e"):
            if ends("ative") {
                if count - 5 >= region2 { count -= 5 }
            } else {
                _ = replaceSuffix("icate", "ic") || replaceSuffix("alize", "al")
            }
        case UInt8(ascii: "i"): _ = replaceSuffix("iciti", "ic")
        case UInt8(ascii: "l"):
            _ =
                replaceSuffix("ational", "ate") || replaceSuffix("tional", "tion") || replaceSuffix("ical", "ic")
                || replaceSuffix("ful", "")
        case UInt8(ascii: "s"): _ = replaceSuffix("ness", "")
        default: break
        }
    }

    private mutating func removeSuffix() {
        guard count > 2 else { return }
        let length: Int
        switch word[count - 2] {
        case UInt8(ascii: "a"): length = ends("al") ? 2 : 0
        case UInt8(ascii: "c"): length = ends("ance") || ends("ence") ? 4 : 0
        case UInt8(ascii: "e"): length = ends("er") ? 2 : 0
        case UInt8(ascii: "i"): length = ends("ic") ? 2 : 0
        case UInt8(ascii: "l"): length = ends("able") || ends("ible") ? 4 : 0
        case UInt8(ascii: "n"): length = ends("ement") ? 5 : ends("ment") ? 4 : ends("ent") || ends("ant") ? 3 : 0
        case UInt8(ascii: "o"): length = ends("sion") || ends("tion") ? 3 : 0
        case UInt8(ascii: "s"): length = ends("ism") ? 3 : 0
        case UInt8(ascii: "t"): length = ends("ate") || ends("iti") ? 3 : 0
        case UInt8(ascii: "u"): length = ends("ous") ? 3 : 0
        case UInt8(ascii: "v"): length = ends("ive") ? 3 : 0
        case UInt8(ascii: "z"): length = ends("ize") ? 3 : 0
        default: length = 0
        }
        if length > 0, count - length >= region2 { count -= length }
    }

    private mutating func removeEnd() {
        let end = count - 1
        guard end >= 0 else { return }
        if word[end] == UInt8(ascii: "e") {
            if end >= region2 || end >= region1 && !isShort(before: end) { count = end }
        } else if ends("ll"), end >= region2 {
            count = end
        }
    }
}
