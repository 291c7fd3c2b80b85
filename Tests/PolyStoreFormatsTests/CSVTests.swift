import Foundation
import PolyStoreFormats
import Testing

/// RFC 4180 and the cases of public CSV test suites, restated.
@Suite struct CSVTests {
    struct Case: Sendable {
        var name: String
        var text: String
        var options = CSVOptions(emptyField: .text)
        var expected: [JSONObject]
    }

    static let cases: [Case] = [
        Case(name: "simple", text: "a,b,c\n1,2,3\n", expected: [["a": "1", "b": "2", "c": "3"]]),
        Case(name: "CR LF", text: "a,b,c\r\n1,2,3\r\n", expected: [["a": "1", "b": "2", "c": "3"]]),
        Case(name: "CR", text: "a,b,c\r1,2,3\r", expected: [["a": "1", "b": "2", "c": "3"]]),
        Case(name: "mixed line ends", text: "a\n1\r\n2\r3\n", expected: [["a": "1"], ["a": "2"], ["a": "3"]]),
        Case(name: "no line end at the end", text: "a,b\n1,2", expected: [["a": "1", "b": "2"]]),
        Case(
            name: "empty fields", text: "a,b,c\n1,\"\",\"\"\n2,3,\n",
            expected: [["a": "1", "b": "", "c": ""], ["a": "2", "b": "3", "c": ""]]),
        Case(
            name: "comma in quotes", text: "name,address\nJo,\"5 High St, Oxford\"\n",
            expected: [["name": "Jo", "address": "5 High St, Oxford"]]),
        Case(name: "doubled quotes", text: "a,b\n1,\"ha \"\"ha\"\" ha\"\n", expected: [["a": "1", "b": "ha \"ha\" ha"]]),
        Case(name: "only quotes", text: "a,b\n\"\"\"\",\"\"\"\"\"\"\n", expected: [["a": "\"", "b": "\"\""]]),
        Case(
            name: "line ends in quotes", text: "a,b\n\"once\nupon\r\na\rtime\",2\n", expected: [["a": "once\nupon\r\na\rtime", "b": "2"]]),
        Case(name: "quotes and line ends", text: "a,b\n1,\"ha\n\"\"ha\"\"\nha\"\n", expected: [["a": "1", "b": "ha\n\"ha\"\nha"]]),
        Case(
            name: "JSON", text: "k,j\n1,\"{\"\"t\"\": \"\"p\"\", \"\"c\"\": [1, 2.5]}\"\n",
            expected: [["k": "1", "j": "{\"t\": \"p\", \"c\": [1, 2.5]}"]]),
        Case(name: "UTF-8", text: "a,b\n1,ʤ\n4,\u{1F600}\n", expected: [["a": "1", "b": "ʤ"], ["a": "4", "b": "\u{1F600}"]]),
        Case(name: "byte order mark", text: "\u{FEFF}a,b\n1,2\n", expected: [["a": "1", "b": "2"]]),
        Case(name: "byte order mark and quotes", text: "\u{FEFF}\"a\",b\n1,2\n", expected: [["a": "1", "b": "2"]]),
        Case(name: "quotes in the middle", text: "a,b\nx\"y,5\" pipe\n", expected: [["a": "x\"y", "b": "5\" pipe"]]),
        Case(name: "spaces are kept", text: "a,b\n 1 ,\t2\n", expected: [["a": " 1 ", "b": "\t2"]]),
        Case(name: "blank lines", text: "\n\na,b\n\n1,2\n\r\n\n3,4\n\n", expected: [["a": "1", "b": "2"], ["a": "3", "b": "4"]]),
        Case(name: "NUL", text: "a,b\n\u{0},x\u{0}y\n", expected: [["a": "\u{0}", "b": "x\u{0}y"]]),
        Case(name: "all quoted", text: "\"a\",\"b\"\r\n\"1\",\"2\"\r\n", expected: [["a": "1", "b": "2"]]),
        Case(name: "one column", text: "a\n1\n\"\"\n", expected: [["a": "1"], ["a": ""]]),
        Case(name: "header in quotes with a comma", text: "\"a,b\",c\n1,2\n", expected: [["a,b": "1", "c": "2"]]),
        Case(name: "header only", text: "a,b\n", expected: []),
        Case(name: "empty", text: "", expected: []),
        Case(name: "only a line end", text: "\r\n", expected: []),
        Case(name: "only a byte order mark", text: "\u{FEFF}", expected: []),
        Case(name: "an empty name", text: "a,\n1,2\n", expected: [["a": "1", "": "2"]]),
        Case(name: "semicolon", text: "a;b\n1,5;2\n", options: CSVOptions(delimiter: ";"), expected: [["a": "1,5", "b": "2"]]),
        Case(
            name: "pipe and apostrophe", text: "a|b\n'x|y'|'it''s'\n", options: CSVOptions(delimiter: "|", quote: "'"),
            expected: [["a": "x|y", "b": "it's"]]),
        Case(name: "no quotes", text: "a,b\n\"x,y\"\n", options: CSVOptions(quote: nil), expected: [["a": "\"x", "b": "y\""]]),
        Case(
            name: "trimmed", text: " a ,\tb\n 1 , \" x \" \n , \n", options: CSVOptions(trimsSpaces: true),
            expected: [["a": "1", "b": " x "], ["a": nil, "b": nil]]),
        Case(
            name: "comments", text: "#c\na,b\n#1,2\n3,#4\n\"#5\",6\n#7", options: CSVOptions(commentPrefix: "#"),
            expected: [["a": "3", "b": "#4"], ["a": "#5", "b": "6"]]),
        Case(name: "null and empty text", text: "a,b,c\n,\"\",x\n", options: CSVOptions(), expected: [["a": nil, "b": "", "c": "x"]]),
        Case(name: "empty is null", text: "a,b\n,\"\"\n", options: CSVOptions(emptyField: .null), expected: [["a": nil, "b": nil]]),
        Case(name: "given names", text: "1,2\n", options: CSVOptions(header: .names(["x", "y"])), expected: [["x": "1", "y": "2"]]),
        Case(
            name: "replaced names", text: "a,b,c\n1,2\n", options: CSVOptions(header: .names(["x", "y"], replacingFirstRow: true)),
            expected: [["x": "1", "y": "2"]]),
        Case(
            name: "no header", text: "1,2\n3,4\n", options: CSVOptions(header: .none),
            expected: [["column1": "1", "column2": "2"], ["column1": "3", "column2": "4"]]),
        Case(
            name: "padded", text: "a,b,c\n1\n1,2\n1,2,3,,\n", options: CSVOptions(raggedRow: .pad),
            expected: [["a": "1", "b": nil, "c": nil], ["a": "1", "b": "2", "c": nil], ["a": "1", "b": "2", "c": "3"]]),
    ]

    @Test(arguments: cases.indices, [[1], [3, 2], [1 << 20]]) func rowsAreRead(index: Int, chunks: [Int]) throws {
        let expected = Self.cases[index]
        #expect(try records(expected.text, .csv(expected.options), chunks: chunks) == expected.expected, "\(expected.name)")
    }

    @Test func errorsNameTheRowAndTheFieldAndReadingContinues() throws {
        let text = "name,population\nParis,1\n\"a\nb\"\nRome,2\n\"x\"y,3\nOslo,4,5\nBern,6\n"
        let found = outcomes(Array(text.utf8), .csv)
        let names = found.compactMap { if case .record(let record) = $0 { record["name"]?.string } else { nil } }
        #expect(names == ["Paris", "Rome", "Bern"])
        #expect(
            errors(text, .csv).map(\.description) == [
                "test, record 2 (line 3): the row has 1 fields, and there are 2 columns",
                "test, record 4 (line 6), field name: expected the end of the field after its closing quote, found 'y'",
                "test, record 5 (line 7): the row has 3 fields, and there are 2 columns",
            ])
    }

    @Test func invalidUTF8IsAnErrorOfItsField() throws {
        let bytes = Array("a,b\n1,x".utf8) + [0xff] + Array("\n\"".utf8) + [0xc3] + Array("\",y\n3,z\n".utf8)
        let found = outcomes(bytes, .csv)
        #expect(found.count == 3)
        guard case .error(let first) = found[0], case .error(let second) = found[1], case .record(let record) = found[2] else {
            Issue.record("\(found)")
            return
        }
        #expect(first.field == "b" && first.column == 2 && first.byteOffset == 7)
        #expect(second.field == "a" && second.code == .encoding)
        #expect(record.position.record == 3)
    }

    @Test func aQuoteWithoutEndEndsTheReading() {
        let found = errors("a,b\n1,2\n3,\"x\n4,5\n", .csv)
        #expect(found.map(\.code) == [.syntax])
        #expect(found.first?.isRecoverable == false)
        #expect(found.first?.position?.line == 3)
        #expect(found.first?.field == "b")
    }

    static let refused: [(String, String, CSVOptions)] = [
        ("a name twice", "a,b,a\n1,2,3\n", CSVOptions()),
        ("no UTF-8 in the header", "a,\u{0}", CSVOptions(header: .names(["a", "a"]))),
        ("the delimiter is the quote", "a", CSVOptions(delimiter: "\"")),
        ("the delimiter is not ASCII", "a", CSVOptions(delimiter: "§")),
        ("an empty comment prefix", "a", CSVOptions(commentPrefix: "")),
        ("no names", "a", CSVOptions(header: .names([]))),
        ("a tab is trimmed", "a", CSVOptions(delimiter: "\t", trimsSpaces: true)),
        ("the header has no end", "a,\"b\n1,2\n", CSVOptions()),
    ]

    @Test(arguments: refused.indices) func headersAndOptionsThatCannotBeUsedAreErrors(index: Int) {
        let (name, text, options) = Self.refused[index]
        #expect(throws: RecordError.self, "\(name)") { try RecordSource.text(text, format: .csv(options)).makeReader().next() }
    }

    @Test func limitsApplyToFieldsAndRows() {
        var options = CSVOptions()
        options.longestField = 5
        options.longestRecord = 12
        let text = "a,b\n12345,6\n123456,7\n8,\"1234567890123\"\n9,0\n"
        for chunks in [[1], [100]] {
            let found = outcomes(Array(text.utf8), .csv(options), chunks: chunks)
            #expect(found.count == 4)
            #expect(codes(found) == [nil, .limit, .limit, nil])
        }
    }
}
