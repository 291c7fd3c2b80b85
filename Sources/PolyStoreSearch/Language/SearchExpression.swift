/// The syntax tree of a query, before the fields and options of an index are known.
indirect enum SearchExpression {
    case phrase(SearchOperand)
    case near([SearchOperand], distance: Int)
    /// A condition on one field. `text` is the whole word, such as `title:word`, if the condition is a part of a word.
    case field(name: Range<Int>, SearchExpression, text: SearchOperand?)
    case not(SearchExpression)
    case all([SearchExpression])
    case any([SearchExpression])
}

/// Text of a query that is searched as one phrase.
struct SearchOperand {
    /// The bytes in the query.
    var range: Range<Int>
    var isPrefix = false
}
