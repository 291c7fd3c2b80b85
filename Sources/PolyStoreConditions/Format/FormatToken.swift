import PolyStoreBackend

/// A token of a format string: its kind and its range in the source.
struct FormatToken {
    enum Kind: UInt8 {
        case end
        // Names and values.
        /// A word that is not reserved.
        case word
        /// `#any`: a reserved word used as a name.
        case escapedWord
        /// `#"first name"`: a name that is not an identifier.
        case quotedName
        /// `@count`
        case collectionOperator
        /// `$name`
        case variable
        /// `%@`, `%K`, `%ld`
        case argument
        case integer, real, text
        case `true`, `false`, null, itself
        // Punctuation.
        case leftParenthesis, rightParenthesis, leftBrace, rightBrace, leftBracket, rightBracket, comma, dot
        case plus, minus, times, divide, power
        // Comparisons.
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        case oneOf, between, contains, beginsWith, endsWith, like, matches
        // Logic.
        case and, or, not, any, all, none, truePredicate, falsePredicate
    }

    var kind: Kind
    /// The range of UTF-8 offsets in the format.
    var range: Range<Int>
}

extension FormatToken.Kind {
    var comparison: Comparison.Operator? {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        case .oneOf: .oneOf
        case .between: .between
        case .contains: .text(.contains)
        case .beginsWith: .text(.beginsWith)
        case .endsWith: .text(.endsWith)
        case .like: .text(.like)
        case .matches: .text(.matches)
        default: nil
        }
    }

    var modifier: Comparison.Modifier? {
        switch self {
        case .any: .any
        case .all: .all
        case .none: Comparison.Modifier.none
        default: nil
        }
    }

    var arithmetic: ArithmeticOperator? {
        switch self {
        case .plus: .add
        case .minus: .subtract
        case .times: .multiply
        case .divide: .divide
        default: nil
        }
    }
}

/// The reserved words, which are case-insensitive. Every other word is a name.
enum ReservedWord {
    static let all: [(spelling: String, kind: FormatToken.Kind)] = [
        ("AND", .and), ("OR", .or), ("NOT", .not), ("ANY", .any), ("SOME", .any), ("ALL", .all), ("NONE", .none),
        ("TRUEPREDICATE", .truePredicate), ("FALSEPREDICATE", .falsePredicate),
        ("IN", .oneOf), ("BETWEEN", .between), ("CONTAINS", .contains), ("BEGINSWITH", .beginsWith), ("ENDSWITH", .endsWith),
        ("LIKE", .like), ("MATCHES", .matches),
        ("TRUE", .true), ("YES", .true), ("FALSE", .false), ("NO", .false), ("NULL", .null), ("NIL", .null), ("SELF", .itself),
    ]

    /// Returns the kind of a reserved word, or nil if the word is a name.
    static func kind(of word: ArraySlice<UInt8>) -> FormatToken.Kind? {
        guard word.count < byLength.count else { return nil }
        let candidates = byLength[word.count]
        if candidates.isEmpty { return nil }
        let packed = pack(word)
        for candidate in candidates where candidate.packed == packed { return candidate.kind }
        return nil
    }

    /// The reserved words by length. The lookup runs for every word, so each candidate is compared as one integer.
    private static let byLength: [[(packed: UInt128, kind: FormatToken.Kind)]] = {
        let longest = all.map(\.spelling.utf8.count).max() ?? 0
        return (0...longest).map { length in
            all.filter { $0.spelling.utf8.count == length }.map { (pack($0.spelling.utf8), $0.kind) }
        }
    }()

    /// Packs up to 16 bytes into one integer and lowercases letters. The conversion cannot turn any other byte of a word into a letter.
    private static func pack(_ word: some Sequence<UInt8>) -> UInt128 {
        word.reduce(0) { $0 << 8 | UInt128($1 | 0x20) }
    }
}
