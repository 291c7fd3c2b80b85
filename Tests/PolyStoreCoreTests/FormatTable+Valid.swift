/// Format strings and their expected results.
enum FormatTable {}

extension FormatTable {
    /// A format, an arrow, and the printed condition. ``variables`` are defined.
    static let valid: [(format: String, printed: String)] = text.split(separator: "\n").map { line in
        let parts = line.split(separator: " → ", maxSplits: 1)
        return (String(parts[0]), String(parts[1]))
    }

    private static let text = #"""
        shuffle(objectID, 42) > 0 → shuffle(objectID, 42) > 0
        SHUFFLE(SELF, -1) == modulus(shuffle(a.b, c), 10) → shuffle(SELF, -1) == modulus(shuffle(a.b, c), 10)
        shuffle == 5 AND a.shuffle > 1 → shuffle == 5 AND a.shuffle > 1
        year(born) == 2024 → year(born) == 2024
        YEAR:(born) == 2024 → year(born) == 2024
        hour(started, '+05:30') < 8 → hour(started, "+05:30") < 8
        month(a.born + 60, "Europe/Berlin") == quarter(SELF.b) → month(a.born + 60, "Europe/Berlin") == quarter(b)
        ln(a) + LOG:(b) > exp(c - 1) → ln(a) + log(b) > exp(c - 1)
        ln == log AND exp.ln > 1 → ln == log AND exp.ln > 1
        mode(friends.age) > 3 AND mode:(friends.name) == 'Jo' → friends.@mode.age > 3 AND friends.@mode.name == "Jo"
        weekday(now()) IN {6, 7} → weekday(now()) IN {6, 7}
        week(a, 'nowhere') > minute(b) - day(c) → week(a, "nowhere") > minute(b) - day(c)
        year == 5 AND hour.minute > day → year == 5 AND hour.minute > day
        SEARCH 'lazy dog' → SEARCH "lazy dog"
        search[notes] "a" → SEARCH[notes] "a"
        SEARCH ["two words"] 'a' AND b == 1 → SEARCH["two words"] "a" AND b == 1
        SEARCH['a]b'] 'c' → SEARCH["a]b"] "c"
        SELF SEARCH 'x' → SEARCH "x"
        author.team SEARCH 'x' → author.team SEARCH "x"
        ANY posts SEARCH[n] 'x' → ANY posts SEARCH[n] "x"
        NOT SEARCH 'x' OR SEARCH 'y' → NOT SEARCH "x" OR SEARCH "y"
        a NOT SEARCH 'x' → NOT a SEARCH "x"
        ANY a NOT SEARCH 'x' → NOT ALL a SEARCH "x"
        (SEARCH 'x') → SEARCH "x"
        SCORE('x') > 1 → SCORE(SEARCH "x") > 1
        SCORE(a.b SEARCH[n] 'x') > score(SEARCH 'y') * 2 → SCORE(a.b SEARCH[n] "x") > SCORE(SEARCH "y") * 2
        SUBQUERY(posts, $p, $p SEARCH 'x' AND SEARCH 'y').@count > 0 → SUBQUERY(posts, $p, $p SEARCH "x" AND SEARCH "y").@count > 0
        search == 5 AND a.search > 1 → search == 5 AND a.search > 1
        search[0].title == 'a' AND search.@count > 1 → search[0].title == "a" AND search.@count > 1
        search SEARCH 'x' AND score == 5 → search SEARCH "x" AND score == 5
        TRUEPREDICATE → TRUEPREDICATE
        FALSEPREDICATE → FALSEPREDICATE
        truepredicate → TRUEPREDICATE
        (TRUEPREDICATE) → TRUEPREDICATE
        age == 30 → age == 30
        age = 30 → age == 30
        age != 30 → age != 30
        age <> 30 → age != 30
        age < 30 → age < 30
        age <= 30 → age <= 30
        age =< 30 → age <= 30
        age > 30 → age > 30
        age >= 30 → age >= 30
        age => 30 → age >= 30
        age==30 → age == 30
          age  ==  30   → age == 30
        30 == age → 30 == age
        30 < age → 30 < age
        age == height → age == height
        a = b → a == b
        'Jo' == name → "Jo" == name
        name == "Jo" → name == "Jo"
        name == 'Jo' → name == "Jo"
        name == NULL → name == NULL
        name = nil → name == NULL
        name != Nil → name != NULL
        active == TRUE → active == TRUE
        active == yes → active == TRUE
        active == No → active == FALSE
        active == false → active == FALSE
        a == 1 AND b == 2 → a == 1 AND b == 2
        a == 1 and b == 2 → a == 1 AND b == 2
        a == 1 && b == 2 → a == 1 AND b == 2
        a == 1&&b == 2 → a == 1 AND b == 2
        a == 1 OR b == 2 → a == 1 OR b == 2
        a == 1 || b == 2 → a == 1 OR b == 2
        a == 1 oR b == 2 → a == 1 OR b == 2
        NOT a == 1 → NOT a == 1
        not a == 1 → NOT a == 1
        !a == 1 → NOT a == 1
        ! a == 1 → NOT a == 1
        !(a == 1) → NOT a == 1
        NOT (a == 1) → NOT a == 1
        NOT NOT a == 1 → NOT NOT a == 1
        !!a == 1 → NOT NOT a == 1
        a == 1 AND b == 2 AND c == 3 → a == 1 AND b == 2 AND c == 3
        a == 1 OR b == 2 OR c == 3 → a == 1 OR b == 2 OR c == 3
        a == 1 AND b == 2 OR c == 3 → a == 1 AND b == 2 OR c == 3
        a == 1 OR b == 2 AND c == 3 → a == 1 OR b == 2 AND c == 3
        a == 1 OR NOT b == 2 AND c == 3 → a == 1 OR NOT b == 2 AND c == 3
        NOT a == 1 AND b == 2 → NOT a == 1 AND b == 2
        NOT (a == 1 AND b == 2) → NOT (a == 1 AND b == 2)
        NOT (a == 1 OR b == 2) AND c == 3 → NOT (a == 1 OR b == 2) AND c == 3
        (a == 1 OR b == 2) AND (c == 3 OR d == 4) → (a == 1 OR b == 2) AND (c == 3 OR d == 4)
        (a == 1 AND b == 2) AND c == 3 → (a == 1 AND b == 2) AND c == 3
        a == 1 AND (b == 2 AND c == 3) → a == 1 AND (b == 2 AND c == 3)
        a == 1 OR (b == 2 OR c == 3) → a == 1 OR (b == 2 OR c == 3)
        (((a == 1))) → a == 1
        ((a)) == ((1)) → a == 1
        (a) == (1) AND ((b) == (2)) → a == 1 AND b == 2
        (a == 1) OR ((b == 2) AND TRUEPREDICATE) → a == 1 OR b == 2 AND TRUEPREDICATE
        ((a + 1)) * 2 > ((3)) → (a + 1) * 2 > 3
        (a) + 1 == 2 → a + 1 == 2
        (a + 1) == 2 AND (b == 1) → a + 1 == 2 AND b == 1
        age BETWEEN {1, 5} → age BETWEEN {1, 5}
        age between { 1 , 5 } → age BETWEEN {1, 5}
        age BETWEEN {low, high} → age BETWEEN {low, high}
        age BETWEEN {1 + 1, -5} → age BETWEEN {1 + 1, -5}
        age NOT BETWEEN {1, 5} → NOT age BETWEEN {1, 5}
        30 BETWEEN {low, high} → 30 BETWEEN {low, high}
        age BETWEEN $ages → age BETWEEN {1, 2}
        age BETWEEN bounds → age BETWEEN bounds
        age IN {1, 2, 3} → age IN {1, 2, 3}
        age in {} → age IN {}
        age IN friends.age → age IN friends.age
        age IN $ages → age IN {1, 2}
        age NOT IN {1, 2} → NOT age IN {1, 2}
        NOT age IN {1, 2} → NOT age IN {1, 2}
        age not in {1, 2} → NOT age IN {1, 2}
        name IN {'a', "b", NULL} → name IN {"a", "b", NULL}
        'x' IN tags → "x" IN tags
        {1, {2, a}, -b} == c → {1, {2, a}, 0 - b} == c
        a IN {(1 + 2) * 3} → a IN {(1 + 2) * 3}
        name CONTAINS 'x' → name CONTAINS "x"
        name CONTAINS[c] 'x' → name CONTAINS[c] "x"
        name CONTAINS[d] 'x' → name CONTAINS[d] "x"
        name CONTAINS[cd] 'x' → name CONTAINS[cd] "x"
        name CONTAINS[dc] 'x' → name CONTAINS[cd] "x"
        name CONTAINS[CD] 'x' → name CONTAINS[cd] "x"
        name CONTAINS [ cd ] 'x' → name CONTAINS[cd] "x"
        name CONTAINS[n] 'x' → name CONTAINS "x"
        name contains[c]'x' → name CONTAINS[c] "x"
        name BEGINSWITH 'x' → name BEGINSWITH "x"
        name beginswith[cd] 'x' → name BEGINSWITH[cd] "x"
        name ENDSWITH 'x' → name ENDSWITH "x"
        name LIKE 'x*' → name LIKE "x*"
        name LIKE[c] 'x?y*' → name LIKE[c] "x?y*"
        name LIKE '\\*' → name LIKE "\\*"
        name MATCHES '[a-z]+' → name MATCHES "[a-z]+"
        name NOT LIKE[c] 'x' → NOT name LIKE[c] "x"
        name NOT MATCHES 'x' → NOT name MATCHES "x"
        name NOT CONTAINS 'x' → NOT name CONTAINS "x"
        name NOT BEGINSWITH 'x' AND a == 1 → NOT name BEGINSWITH "x" AND a == 1
        name NOT ENDSWITH 'x' → NOT name ENDSWITH "x"
        name ==[c] 'x' → name ==[c] "x"
        name !=[cd] 'x' → name !=[cd] "x"
        name <[d] 'x' → name <[d] "x"
        name <=[c] 'x' → name <=[c] "x"
        name >[c] 'x' → name >[c] "x"
        name >=[c] 'x' → name >=[c] "x"
        name IN[cd] {'x', 'y'} → name IN[cd] {"x", "y"}
        name BETWEEN[c] {'a', 'c'} → name BETWEEN[c] {"a", "c"}
        'abc' CONTAINS name → "abc" CONTAINS name
        ANY friends.age > 30 → ANY friends.age > 30
        SOME friends.age > 30 → ANY friends.age > 30
        ALL friends.age > 30 → ALL friends.age > 30
        NONE friends.age > 30 → NONE friends.age > 30
        any friends.age > 30 → ANY friends.age > 30
        some friends.name like[c] 'J*' → ANY friends.name LIKE[c] "J*"
        NOT ANY friends.age > 30 → NOT ANY friends.age > 30
        ANY friends.age > 30 AND ALL friends.age < 60 → ANY friends.age > 30 AND ALL friends.age < 60
        ANY friends.age IN {1, 2} → ANY friends.age IN {1, 2}
        ANY friends.age NOT IN {1, 2} → NOT ALL friends.age IN {1, 2}
        ALL friends.age NOT IN {1, 2} → NONE friends.age IN {1, 2}
        NONE friends.age NOT IN {1, 2} → ALL friends.age IN {1, 2}
        SOME friends.name NOT CONTAINS[c] 'x' → NOT ALL friends.name CONTAINS[c] "x"
        ANY friends.age + 1 > 30 → ANY friends.age + 1 > 30
        ANY (friends.age) > 30 → ANY friends.age > 30
        ANY $ages == 1 → ANY {1, 2} == 1
        friend.name == 'Jo' → friend.name == "Jo"
        friend.friend.name == friend.name → friend.friend.name == friend.name
        friend . name == 'Jo' → friend.name == "Jo"
        SELF == friend → SELF == friend
        self == friend → SELF == friend
        SELF.name == 'Jo' → name == "Jo"
        SELF IN friends → SELF IN friends
        objectID == 5 → objectID == 5
        objectID IN {1, 2} → objectID IN {1, 2}
        friends.@count > 3 → friends.@count > 3
        friends.@avg.age > 30 → friends.@avg.age > 30
        friends.@sum.age > 30 → friends.@sum.age > 30
        friends.@min.age < friends.@max.age → friends.@min.age < friends.@max.age
        friends.@distinctUnionOfObjects.age.@count == 2 → friends.@distinctUnionOfObjects.age.@count == 2
        @count > 2 → @count > 2
        @sum.age > 2 → @sum.age > 2
        count(friends) > 3 → friends.@count > 3
        COUNT( friends ) > 3 → friends.@count > 3
        sum(friends.age) > 30 → friends.@sum.age > 30
        average(age) > 30 → @avg.age > 30
        avg(friend.friends.age) > 30 → friend.friends.@avg.age > 30
        min(age) < max(age) → @min.age < @max.age
        count == 5 → count == 5
        count == 5 AND sum == 6 → count == 5 AND sum == 6
        subquery == 5 → subquery == 5
        cast == function → cast == function
        first == last → first == last
        #any == 1 → #any == 1
        #in IN {1} → #in IN {1}
        #name == 1 → name == 1
        #SELF == 1 → #SELF == 1
        friend.any == friend.in → friend.any == friend.in
        friend.#any == 1 → friend.any == 1
        friend.self == 1 → friend.self == 1
        #"first name" == 'Jo' → #"first name" == "Jo"
        #'first name' == 'Jo' → #"first name" == "Jo"
        friend.#"a.b" == 1 → friend.#"a.b" == 1
        #"say \"x\"" == 1 → #"say \"x\"" == 1
        _private == 1 → _private == 1
        a1_b2 == 1 → a1_b2 == 1
        größe == 1 → größe == 1
        名前 == '太郎' → 名前 == "太郎"
        имя == 'Иван' AND عمر > 3 → имя == "Иван" AND عمر > 3
        n == 0 → n == 0
        n == 007 → n == 7
        n == 9223372036854775807 → n == 9223372036854775807
        n == -9223372036854775808 → n == -9223372036854775808
        n == 9223372036854775808 → n == 9223372036854775808
        n == 18446744073709551615 → n == 18446744073709551615
        n == 0xff → n == 255
        n == 0XFF → n == 255
        n == 0xFFFFFFFFFFFFFFFF → n == 18446744073709551615
        n == 0o17 → n == 15
        n == 0b101 → n == 5
        n == -0x10 → n == -16
        n == - 5 → n == -5
        n == --5 → n == 5
        n == -(-5) → n == 5
        n == -(5) → n == -5
        n == -(-9223372036854775808) → n == 9223372036854775808
        n == -m → n == 0 - m
        n == -friends.@count → n == 0 - friends.@count
        n == -(m + 1) → n == 0 - (m + 1)
        x == 1.5 → x == 1.5
        x == 1.0 → x == 1.0
        x == .5 → x == 0.5
        x == -1.5 → x == -1.5
        x == 1e3 → x == 1000.0
        x == 1E3 → x == 1000.0
        x == 1.5e-3 → x == 0.0015
        x == 1.5e+3 → x == 1500.0
        x == 1e308 → x == 1e+308
        x == 1e-999 → x == 0.0
        a + 1 == 2 → a + 1 == 2
        a+1 == 2 → a + 1 == 2
        a-1 == 2 → a - 1 == 2
        a -1 == 2 → a - 1 == 2
        a - -1 == 2 → a - -1 == 2
        a + b - c == d → a + b - c == d
        a - (b - c) == d → a - (b - c) == d
        a * b / c == d → a * b / c == d
        a / (b * c) == d → a / (b * c) == d
        a + b * c == d → a + b * c == d
        (a + b) * c == d → (a + b) * c == d
        a * (b + c) == d * -e → a * (b + c) == d * (0 - e)
        0xe-3 == a → 14 - 3 == a
        -a * b == c → (0 - a) * b == c
        -(a * b) == c → 0 - a * b == c
        1 + 2 == 3 → 1 + 2 == 3
        t == '' → t == ""
        t == "" → t == ""
        t == 'say "x"' → t == "say \"x\""
        t == "it's" → t == "it's"
        t == 'it\'s' → t == "it's"
        t == "\"x\"" → t == "\"x\""
        t == '\\' → t == "\\"
        t == '\n\t\r' → t == "\n\t\r"
        t == '\u00e9' → t == "é"
        t == '\ud83d\ude00' → t == "😀"
        t == '\x41\x7f\x00' → t == "A\x7f\x00"
        t == '😀 é' → t == "😀 é"
        t == '%@ %K %d %%' → t == "%@ %K %d %%"
        t == '$name' → t == "$name"
        t == 'a AND b' → t == "a AND b"
        name == $name → name == "Jo"
        name CONTAINS[c] $name AND a == 1 → name CONTAINS[c] "Jo" AND a == 1
        SUBQUERY(friends, $f, $f.age > 30).@count > 2 → SUBQUERY(friends, $f, $f.age > 30).@count > 2
        subquery(friends, $f, $f.age > 30).@COUNT > 2 → SUBQUERY(friends, $f, $f.age > 30).@count > 2
        SUBQUERY(friends, $f, $f.age > 30 AND $f.name == $name).@count == 0 → SUBQUERY(friends, $f, $f.age > 30 AND $f.name == "Jo").@count == 0
        SUBQUERY(friends, $f, ($f.age > 30)).@count == 0 → SUBQUERY(friends, $f, $f.age > 30).@count == 0
        SUBQUERY(friends, $f, $f == SELF).@count > 0 → SUBQUERY(friends, $f, $f == SELF).@count > 0
        SUBQUERY(friends, $f, $f.age > age).@count > 0 → SUBQUERY(friends, $f, $f.age > age).@count > 0
        SUBQUERY(a.b, $x, SUBQUERY($x.c, $y, $y.d == $x.e).@count > 1).@count > 1 → SUBQUERY(a.b, $x, SUBQUERY($x.c, $y, $y.d == $x.e).@count > 1).@count > 1
        SUBQUERY(friends, $name, $name.age > 3).@count > 1 AND name == $name → SUBQUERY(friends, $name, $name.age > 3).@count > 1 AND name == "Jo"
        SUBQUERY(friends, $f, ANY $f.friends.age > 30).@count + 1 > 2 → SUBQUERY(friends, $f, ANY $f.friends.age > 30).@count + 1 > 2
        2 < SUBQUERY(SELF.friends, $f, NOT $f.age IN {1}).@count → 2 < SUBQUERY(friends, $f, NOT $f.age IN {1}).@count
        """#
}
