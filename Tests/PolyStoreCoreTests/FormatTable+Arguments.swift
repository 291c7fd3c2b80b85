import PolyStoreBackend
import PolyStoreConditions
import PolyStoreCore

extension FormatTable {
    static let variables: [String: Operand] = ["name": text("Jo"), "ages": .list([integer(1), integer(2)])]

    static func integer(_ value: Int64, _ type: AttributeType = .int64) -> Operand { .constant(.integer(value), type) }
    static func real(_ value: Double, _ type: AttributeType = .double) -> Operand { .constant(.real(value), type) }
    static func text(_ value: String, _ type: AttributeType = .string) -> Operand { .constant(.text(value), type) }
    static func path(_ keys: String...) -> Operand { .path(PropertyPath(keys)) }
    static let yes = integer(1, .bool)
    static let date = real(694224000.5, .date)
    static let decimal = Operand.constant(.blob([1, 2, 3]), .decimal)
    static let jane = Operand.object(entity: "Person", id: 5)

    static let withArguments: [(format: String, arguments: [Operand], printed: String)] = [
        ("age > %d AND name BEGINSWITH[c] %@", [integer(30), text("Jo")], "age > 30 AND name BEGINSWITH[c] \"Jo\""),
        ("%K > %d", [text("age"), integer(30)], "age > 30"),
        ("%K == %K", [text("name"), text("location")], "name == location"),
        ("name like %@", [text("J*")], "name LIKE \"J*\""),
        ("name == %@ or name = %@", [text("Jo"), text("Jo sam")], "name == \"Jo\" OR name == \"Jo sam\""),
        ("not (name == %@ and age > %@)", [text("Jo"), integer(3)], "NOT (name == \"Jo\" AND age > 3)"),
        ("a == %@", [.null], "a == NULL"),
        ("a == %@", [yes], "a == TRUE"),
        ("a == %@", [real(1.5)], "a == 1.5"),
        ("a == %@", [real(.nan)], "a == <nan>"),
        ("a == %@", [real(-.infinity)], "a == <-inf>"),
        ("a == %@", [integer(-1, .uint64)], "a == 18446744073709551615"),
        ("a == %@", [integer(-5, .int8)], "a == -5"),
        ("a == %@", [date], "a == <date 2023-01-01 00:00:00.5 UTC>"),
        ("a == %@", [real(0, .date)], "a == <date 2001-01-01 00:00:00 UTC>"),
        ("a == %@", [real(-86400 * 307, .date)], "a == <date 2000-02-29 00:00:00 UTC>"),
        ("a == %@", [real(1e300, .date)], "a == <date 1e+300 s after 2001>"),
        ("a == %@", [decimal], "a == <decimal of 3 bytes>"),
        ("a == %@", [.constant(.blob([0]), .data)], "a == <data of 1 bytes>"),
        ("a == %@", [.constant(.blob(Array(0..<16)), .uuid)], "a == <uuid 00010203-0405-0607-0809-0A0B0C0D0E0F>"),
        ("a == %@", [jane], "a == <Person 5>"),
        ("a == %@", [text("x", .url)], "a == \"x\""),
        ("a == %@", [path("b", "c")], "a == b.c"),
        ("a == %@", [.arithmetic(.add, path("b"), integer(1))], "a == b + 1"),
        ("a * %@ == 2", [.arithmetic(.add, path("b"), integer(1))], "a * (b + 1) == 2"),
        ("a IN %@", [.list([integer(1), .null])], "a IN {1, NULL}"),
        ("a IN %@", [.list([])], "a IN {}"),
        ("a IN {%@, %d}", [text("x"), integer(1)], "a IN {\"x\", 1}"),
        ("a BETWEEN %@", [.list([integer(1), integer(5)])], "a BETWEEN {1, 5}"),
        ("a BETWEEN {%d, %d}", [integer(1), integer(5)], "a BETWEEN {1, 5}"),
        ("%@ IN %@", [jane, path("friends")], "<Person 5> IN friends"),
        ("ANY %K.age > %d", [text("friends"), integer(1)], "ANY friends.age > 1"),
        ("%K.@count > %d", [text("friends"), integer(1)], "friends.@count > 1"),
        ("friend.%K == %d", [text("best.age"), integer(1)], "friend.best.age == 1"),
        ("%K == 1", [text("a.b.@count")], "a.b.@count == 1"),
        ("%K == 1", [text("SELF")], "SELF == 1"),
        ("%K == 1", [text("self.age")], "age == 1"),
        ("%K == 1", [text("any")], "#any == 1"),
        ("%K == 1", [text("age == 5 OR 1")], "#\"age == 5 OR 1\" == 1"),
        ("%K == 1", [text("first name.x y")], "#\"first name\".#\"x y\" == 1"),
        ("%K == 1", [text("\" \\ %@")], "#\"\\\" \\\\ %@\" == 1"),
        ("count(%K) > 1", [text("friends")], "friends.@count > 1"),
        (
            "SUBQUERY(%K, $x, $x.%K == %@).@count == %d", [text("a"), text("b"), text("c"), integer(2)],
            "SUBQUERY(a, $x, $x.b == \"c\").@count == 2"
        ),
        ("a == %@", [text("x\" OR TRUEPREDICATE OR \"\" == \"")], "a == \"x\\\" OR TRUEPREDICATE OR \\\"\\\" == \\\"\""),
        ("a == %@", [text("%@ %d $name")], "a == \"%@ %d $name\""),
        ("a == %@", [text("\0\n\u{1b}\\'")], "a == \"\\x00\\n\\x1b\\\\'\""),
        ("a == '%@' AND b == %@", [integer(1)], "a == \"%@\" AND b == 1"),
        ("a == -%d", [integer(5)], "a == -5"),
        ("a == -%@", [integer(.min, .int32)], "a == 9223372036854775808"),
        ("a == -%@", [yes], "a == 0 - TRUE"),
        ("a == -%@", [date], "a == 0 - <date 2023-01-01 00:00:00.5 UTC>"),
        ("a == -%@", [text("x")], "a == 0 - \"x\""),
        ("a == -%f", [real(2.5, .float)], "a == -2.5"),
        ("a == %d - %d", [integer(5), integer(-6)], "a == 5 - -6"),
        ("a IN {%d, %D, %i, %u, %U, %x, %X, %o, %O}", (1...9).map { integer($0) }, "a IN {1, 2, 3, 4, 5, 6, 7, 8, 9}"),
        (
            "a IN {%hhd, %hd, %ld, %lld, %lu, %llu, %li, %qi, %qu, %zu, %td, %jd}", (1...12).map { integer($0) },
            "a IN {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}"
        ),
        (
            "a IN {%f, %lf, %Lf, %F, %e, %E, %g, %G, %a, %A}", (1...10).map { real(Double($0)) },
            "a IN {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0}"
        ),
        ("a == %f AND b == %f", [integer(1), decimal], "a == 1 AND b == <decimal of 3 bytes>"),
        ("a == %d", [yes], "a == TRUE"),
        ("a == %s AND b == %S", [text("x"), text("y", .json)], "a == \"x\" AND b == \"y\""),
        ("a == %c AND b == %C", [text("x"), text("👨‍👩‍👧")], "a == \"x\" AND b == \"👨‍👩‍👧\""),
    ]

    static let withWrongArguments: [(format: String, arguments: [Operand], message: String)] = [
        ("a == %@", [], "Argument 1, for %@, is missing: there are none. (at 1:6)\na == %@\n     ^~"),
        (
            "a == %@ OR b == %d", [integer(1)],
            "Argument 2, for %d, is missing: there are only 1. (at 1:17)\na == %@ OR b == %d\n                ^~"
        ),
        ("a == 1", [integer(5)], "Argument 1, the integer 5, is left over: the format has no place for any. (at 1:7)\na == 1\n      ^"),
        (
            "a == %d", [integer(5), text("x")],
            "Argument 2, the text \"x\", is left over: the format has places for 1 only. (at 1:8)\na == %d\n       ^"
        ),
        (
            "a == '%@'", [integer(5)],
            "Argument 1, the integer 5, is left over: the format has no place for any. (Between quotes, %@ is text: write it without quotes.) (at 1:10)\na == '%@'\n         ^"
        ),
        ("a == %d", [text("x")], "Argument 1 is the text \"x\", but %d takes an integer. (at 1:6)\na == %d\n     ^~"),
        ("a == %ld", [real(1)], "Argument 1 is the real number 1.0, but %ld takes an integer. (at 1:6)\na == %ld\n     ^~~"),
        ("a == %d", [.null], "Argument 1 is NULL, but %d takes an integer."),
        ("a == %d", [date], "Argument 1 is <date 2023-01-01 00:00:00.5 UTC>, but %d takes an integer."),
        ("a == %d", [jane], "Argument 1 is <Person 5>, but %d takes an integer."),
        ("a == %d", [.list([integer(1)])], "Argument 1 is the list {1}, but %d takes an integer."),
        ("a == %d", [path("b")], "Argument 1 is the key path b, but %d takes an integer."),
        ("a == %d", [.arithmetic(.add, integer(1), integer(2))], "Argument 1 is the expression 1 + 2, but %d takes an integer."),
        ("a == %f", [text("1.5")], "Argument 1 is the text \"1.5\", but %f takes a number."),
        ("a == %f", [date], "Argument 1 is <date 2023-01-01 00:00:00.5 UTC>, but %f takes a number."),
        ("a == %lf", [.null], "Argument 1 is NULL, but %lf takes a number."),
        ("a == %s", [integer(1)], "Argument 1 is the integer 1, but %s takes a text."),
        ("a == %s", [yes], "Argument 1 is the truth value TRUE, but %s takes a text."),
        ("a == %c", [text("xy")], "Argument 1 is the text \"xy\", but %c takes a text of one character."),
        ("a == %c", [text("")], "Argument 1 is the text \"\", but %c takes a text of one character."),
        ("%K == 1", [integer(1)], "Argument 1 is the integer 1, but %K takes a text with the name of a property. (at 1:1)\n%K == 1\n^~"),
        ("%K == 1", [path("a")], "Argument 1 is the key path a, but %K takes a text with the name of a property."),
        ("%K == 1", [text("")], "Argument 1 is \"\": a key cannot be empty. (at 1:1)\n%K == 1\n^~"),
        ("a.%K == 1", [text("b..c")], "Argument 1 is \"b..c\": there is an empty key beside a dot. (at 1:3)\na.%K == 1\n  ^~"),
        ("%K == 1", [text(".a")], "Argument 1 is \".a\": there is an empty key beside a dot."),
        ("%K == 1", [text("a.")], "Argument 1 is \"a.\": there is an empty key beside a dot."),
        ("a == %d", [text(String(repeating: "x", count: 1000))], "Argument 1 is the text \"\(String(repeating: "x", count: 39))…, but %d"),
        ("a BETWEEN %@", [.list([integer(1)])], "BETWEEN takes two bounds, not 1: BETWEEN {1, 5}. (at 1:11)\na BETWEEN %@\n          ^~"),
        ("%@ == 1 %@", [text("a"), integer(1)], "Expected AND, OR or the end after the number 1, found \"%@\"."),
    ]
}
