/// The smallest thing with a meaning in a format string: what it is, and which bytes of the source it takes.
struct FormatToken {
    enum Kind: UInt8 {
        case end
        // Names and values.
        /// A word that is not reserved.
        case word
        /// `#any`: a reserved word that is meant as a name.
        case escapedWord
        /// `#"first name"`: a name that is no word.
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
        case plus, minus, times, divide
        // Comparisons.
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        case oneOf, between, contains, beginsWith, endsWith, like, matches
        // Logic.
        case and, or, not, any, all, none, truePredicate, falsePredicate
    }

    var kind: Kind
    /// Offsets in the UTF-8 of the format.
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
        case .contains: .contains
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .like: .like
        case .matches: .matches
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

/// The words that mean something by themselves, in any case. Every other word is a name.
enum ReservedWord {
    static let all: [(spelling: String, kind: FormatToken.Kind)] = [
        ("AND", .and), ("OR", .or), ("NOT", .not), ("ANY", .any), ("SOME", .any), ("ALL", .all), ("NONE", .none),
        ("TRUEPREDICATE", .truePredicate), ("FALSEPREDICATE", .falsePredicate),
        ("IN", .oneOf), ("BETWEEN", .between), ("CONTAINS", .contains), ("BEGINSWITH", .beginsWith), ("ENDSWITH", .endsWith),
        ("LIKE", .like), ("MATCHES", .matches),
        ("TRUE", .true), ("YES", .true), ("FALSE", .false), ("NO", .false), ("NULL", .null), ("NIL", .null), ("SELF", .itself),
    ]

    /// The meaning of a word, or nil if it is a name.
    static func kind(of word: ArraySlice<UInt8>) -> FormatToken.Kind? {
        guard word.count < byLength.count else { return nil }
        let candidates = byLength[word.count]
        if candidates.isEmpty { return nil }
        let packed = pack(word)
        for candidate in candidates where candidate.packed == packed { return candidate.kind }
        return nil
    }

    /// Looked up for every word of every format: few candidates, each one integer.
    private static let byLength: [[(packed: UInt128, kind: FormatToken.Kind)]] = {
        let longest = all.map(\.spelling.utf8.count).max() ?? 0
        return (0...longest).map { length in
            all.filter { $0.spelling.utf8.count == length }.map { (pack($0.spelling.utf8), $0.kind) }
        }
    }()

    /// Up to 16 bytes as one integer, capital letters as small ones. No other byte of a word becomes a letter by that.
    private static func pack(_ word: some Sequence<UInt8>) -> UInt128 {
        word.reduce(0) { $0 << 8 | UInt128($1 | 0x20) }
    }
}
