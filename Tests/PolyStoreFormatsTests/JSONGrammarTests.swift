import Foundation
import PolyStoreFormats
import Testing

/// The requirements of RFC 8259 on a parser, in the categories of the public JSON test suites: accepted, refused, and left to the implementation.
@Suite struct JSONGrammarTests {
    static let accepted: [(String, JSONValue)] = [
        ("[]", []), ("{}", [:]), (" [ ] ", []), ("[[] \n]", [[]]), ("\t\r\n null \n", nil), ("true", true), ("false", false), ("\"\"", ""),
        ("\" \"", " "),
        ("42", 42), ("-0.1", -0.1), ("[null, 1, \"1\", {}]", [nil, 1, "1", [:]]), ("[1,null,null,null,2]", [1, nil, nil, nil, 2]),
        ("[123e65]", [123e65]),
        ("[0e+1]", [0]), ("[0e1]", [0]), ("[ 4]", [4]), ("[-0]", [0]), ("[-1]", [-1]), ("[-123]", [-123]), ("[20e1]", [200]),
        ("[1E22]", [1e22]),
        ("[1E-2]", [0.01]), ("[1E+2]", [100]), ("[123.456e78]", [123.456e78]), ("[1e-2]", [0.01]), ("[123.456789]", [123.456789]),
        (#"{"asd":"sdf", "dfg":"fgh"}"#, ["asd": "sdf", "dfg": "fgh"]), (#"{"":0}"#, ["": 0]), (#"{"a":[]}"#, ["a": []]),
        (#"{"foo\u0000bar": 42}"#, ["foo\u{0}bar": 42]), (#"["\u0060\u012a\u12AB"]"#, ["\u{60}\u{12a}\u{12ab}"]),
        (#"["\uD801\udc37"]"#, ["\u{10437}"]),
        (#"["\ud83d\ude39\ud83d\udc8d"]"#, ["\u{1F639}\u{1F48D}"]), (#"["\"\\\/\b\f\n\r\t"]"#, ["\"\\/\u{8}\u{c}\n\r\t"]),
        (#"["\\u0000"]"#, ["\\u0000"]),
        (#"["\""]"#, ["\""]), (#"["a/*b*/c/*d//e"]"#, ["a/*b*/c/*d//e"]), (#"["\\a"]"#, ["\\a"]), (#"["\u0012"]"#, ["\u{12}"]),
        (#"["\uFFFF"]"#, ["\u{FFFF}"]),
        ("[\"\u{10FFFF}\"]", ["\u{10FFFF}"]), ("[\"\u{1BFFF}\"]", ["\u{1BFFF}"]), ("[\"\u{2028}\u{2029}\"]", ["\u{2028}\u{2029}"]),
        (#"["\u0000"]"#, ["\u{0}"]),
        (#"["\u002c"]"#, [","]), ("[\"π\"]", ["π"]), ("[\"asd \"]", ["asd "]), (#""\u0821""#, "\u{821}"), ("[\"⍂㈴⍂\"]", ["⍂㈴⍂"]),
        ("[\"\u{7f}\"]", ["\u{7f}"]),
        (#"["\u005C\u0022"]"#, ["\\\""]), (#"["\uDBFF\uDFFE"]"#, ["\u{10FFFE}"]),
        (#"["new\u000Aline"]"#, ["new\nline"]),
        (#"{"min": -1.0e+28, "max": 1.0e+28}"#, ["min": -1.0e+28, "max": 1.0e+28]), ("{\"a\":\"b\"}\n", ["a": "b"]), ("[true]\n", [true]),
        (" [] ", []),
    ]

    @Test(arguments: accepted) func valuesOfTheGrammarAreAccepted(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
        #expect(try JSONValue(parsing: value.description) == value)
    }

    static let refused: [String] = [
        "", " ", "[1 true]", "[a", "[\"\": 1]", "[\"\"],", "[,1]", "[1,,2]", "[\"x\",,]", "[\"x\"]]", "[\"\",]", "[\"x\"", "[x", "[3[4]]",
        "[1:2]", "[,]", "[-]",
        "[   , \"\"]", "[\"a\",\n4\n,1,", "[1,]", "[1,,]", "[\"\u{b}a\"\\f]", "[*]", "[\"\"", "[1,", "[1,\n1\n,1", "[{}", "[fals]", "[nul]",
        "[tru]", "[++1234]",
        "[+1]", "[+Inf]", "[-01]", "[-1.0.]", "[-2.]", "[-NaN]", "[.-1]", "[.2e-3]", "[0.1.2]", "[0.3e+]", "[0.3e]", "[0.e1]", "[0E+]",
        "[0E]", "[0e+]", "[0e]",
        "[1.0e+]", "[1.0e-]", "[1.0e]", "[1 000.0]", "[1eE2]", "[2.e+3]", "[2.e-3]", "[2.e3]", "[9.e+]", "[Inf]", "[NaN]", "[１]", "[1+2]",
        "[0x1]", "[0x42]",
        "[Infinity]", "[0e+-1]", "[-123.123foo]", "[-Infinity]", "[-foo]", "[- 1]", "[-012]", "[-.123]", "[-1x]", "[1ea]", "[1e]", "[1.]",
        "[.123]",
        "[1.2a-3]", "[1.8011670033376514H-308]", "[012]", "[\"x\", truth]", "{[: \"x\"}\n", "{\"x\", null}", "{\"x\"::\"b\"}", "{🇨🇭}",
        "{\"a\":\"a\" 123}",
        "{key: 'value'}", "{\"a\" b}", "{:\"b\"}", "{\"a\" \"b\"}", "{\"a\":", "{\"a\"", "{1:1}", "{9999E9999:1}", "{null:null,null:null}",
        "{\"id\":0,,,,,}",
        "{'a':0}", "{\"id\":0,}", "{\"a\":\"b\"}/**/", "{\"a\":\"b\"}//", "{\"a\":\"b\",,\"c\":\"d\"}", "{a: \"b\"}", "{\"a\":\"a",
        "{ \"foo\" : \"bar\", \"a\" }",
        "{\"a\":\"b\"}#", "[\"\\uD800\\\"]", "[\"\\uD800\\u\"]", "[\"\\uD800\\u1\"]", "[\"\\uD800\\u1x\"]", "[é]", "[\"\\\u{0}\"]",
        "[\"\\x00\"]", "[\"\\\\\\\"]",
        "[\"\\\t\"]", "[\"\\🌀\"]", "[\"\\\"]", "[\"\\u00A\"]", "[\"\\uD834\\uDd\"]", "[\"\\uD800\\uD800\\x\"]", "[\"\\a\"]",
        "[\"\\uqqqq\"]", "[\\u0020\"asd\"]",
        "[\\n]", "\"", "['single quote']", "abc", "[\"\\", "[\"a\u{0}a\"]", "[\"new\nline\"]", "[\"\t\"]", "\"\\UA66D\"", "\"\"x",
        "[\u{2060}]", "<.>", "[<null>]",
        "[1]x", "[1]]", "[\"asd]", "aå", "[True]", "1]", "{\"x\": true,", "[][]", "]", "{\"\":", "{}}", "{\"\":\"b\"", "[", "{",
        "{\"a\":/*comment*/\"b\"}", "{\"a\": true} \"x\"",
        "['", "[\"a", "[\"a\"", "{]", "{,", "{[", "{\"a", "{'a'", "[\"\\{[\"\\{", "*", "{\"a\":\"b\"}#{}", "[\\u000A\"\"]", "[1",
        "[ false, nul", "[ true, fals",
        "[ false, tru", "{\"asd\":\"asd\"", "å", "[\u{c}]", "[\u{a0}]", "\u{feff}\u{feff}1", "1 2", "nulltrue", "-", "--1", "00", "01",
        "1_000", "+", ".5", "truefalse",
    ]

    @Test(arguments: refused) func otherTextIsRefused(text: String) {
        let error = #expect(throws: RecordError.self) { try JSONValue(parsing: text) }
        #expect(error?.byteOffset.map { (0...Int64(text.utf8.count)).contains($0) } == true, "\(text)")
    }

    /// Invalid UTF-8 and escapes that do not denote a character are errors: replacing them would change data silently.
    static let badCharacters: [(String, [UInt8])] = [
        ("a lone continuation byte", [0x81]), ("0xff", [0xff]), ("overlong, two bytes", [0xc0, 0xaf]),
        ("overlong, six bytes", [0xfc, 0x83, 0xbf, 0xbf, 0xbf, 0xbf]),
        ("overlong NUL", [0xc0, 0x80]), ("a surrogate", [0xed, 0xa0, 0x80]), ("beyond Unicode", [0xf4, 0xbf, 0xbf, 0xbf]),
        ("cut off", [0xe0, 0xff]), ("Latin 1", [0xe9]),
        ("the first half of a pair", Array(#"\uD800"#.utf8)), ("the second half of a pair", Array(#"\uDFAA"#.utf8)),
        ("a pair inverted", Array(#"\uDd1e\uD834"#.utf8)),
        ("a half and a character", Array(#"\uD800\u0041"#.utf8)), ("a half and an escape", Array(#"\uD800\n"#.utf8)),
        ("a half and text", Array(#"\uDADAabc"#.utf8)),
    ]

    @Test(arguments: badCharacters) func charactersThatDoNotExistAreErrorsOfTheirField(name: String, bytes: [UInt8]) {
        let text = Array(#"{"x": {"names": ["ok", ""#.utf8) + bytes + Array(#""]}}"#.utf8)
        let error = #expect(throws: RecordError.self, "\(name)") { try JSONValue(parsing: text) }
        #expect(error?.code == .encoding)
        #expect(error?.field == "x.names[1]")
    }

    @Test func fieldsThatOccurTwiceAreErrors() {
        for text in [#"{"a":1,"a":2}"#, #"{"a":1,"b":2,"\u0061":2}"#, #"{"a":1,"a":1}"#] {
            let error = #expect(throws: RecordError.self) { try JSONValue(parsing: text) }
            #expect(error?.code == .duplicateField)
            #expect(error?.field == "a")
        }
    }

    static let limits: [(String, Int, Int)] = [("[", 512, 513), ("{\"a\":", 512, 513)]

    @Test func nestingIsLimited() throws {
        for depth in [1, 500, 512] {
            let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            #expect(try JSONValue(parsing: text).description == text)
        }
        for text in [
            String(repeating: "[", count: 513) + String(repeating: "]", count: 513), String(repeating: "[", count: 100_000),
            String(repeating: "[{\"\":", count: 50_000),
        ] {
            #expect(throws: RecordError.self) { try JSONValue(parsing: text) }
        }
    }

    /// Parsing, comparing, writing and discarding the deepest value needs little stack.
    @Test func theDeepestValueFitsASmallStack() async {
        let text = String(repeating: "[{\"a\":", count: 256) + "1" + String(repeating: "}]", count: 256)
        let isEqual = await withCheckedContinuation { continuation in
            let thread = Thread {
                let value = try? JSONValue(parsing: text)
                continuation.resume(returning: value?.description == text)
            }
            thread.stackSize = 256 << 10
            thread.start()
        }
        #expect(isEqual)
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        #expect(try JSONValue(parsing: [0xef, 0xbb, 0xbf] + Array("{}".utf8)) == [:])
    }
}
