extension FormatTable {
    /// A format and the complete text of its error. ``variables`` are defined.
    static let invalid: [(format: String, message: String)] = {
        let lines = text.split(separator: "\n").map(String.init)
        return stride(from: 0, to: lines.count - 1, by: 2).map { at in
            let indent = lines[at + 1].prefix { $0 == " " }
            let caret = lines[at + 1].dropFirst(indent.count).prefix { $0 == "^" || $0 == "~" }
            let message = lines[at + 1].dropFirst(indent.count + caret.count + 1)
            return (lines[at], "\(message) (at 1:\(indent.count + 1))\n\(lines[at])\n\(indent)\(caret)")
        }
    }()

    /// Each format is followed by its error as users see it: a mark under the offset, and the message.
    private static let text = #"""
        age
           ^ Expected an operator such as == after "age", found the end. (To ask whether it is true write age == TRUE.)
        age ==
              ^ Expected a value or a property after "==", found the end.
        == 5
        ^~ Expected a value or a property, found "==".
        age == == 5
               ^~ Expected a value or a property after "==", found "==".
        age = = 5
              ^ Expected a value or a property after "=", found "=".
        age === 5
            ^~~ "===" is not an operator. Write ==.
        age !== 5
            ^~~ "!==" is not an operator. Write !=.
        age =~ 'x'
            ^~ "=~" is not an operator. For regular expressions write MATCHES.
        age & b
            ^ A single "&" means nothing. Write && or AND.
        age | b
            ^ A single "|" means nothing. Write || or OR.
        a == 1 & b == 2
               ^ A single "&" means nothing. Write && or AND.
        a == 1 | b == 2
               ^ A single "|" means nothing. Write || or OR.
        a == 1 AND
                  ^ Expected a value or a property after "AND", found the end.
        a == 1 AND AND b == 2
                   ^~~ Expected a value or a property after "AND", found "AND". (For a property of that name write #AND.)
        AND b == 2
        ^~~ Expected a value or a property, found "AND". (For a property of that name write #AND.)
        a == 1 b == 2
               ^ Expected AND, OR or the end after the number 1, found "b".
        a == 1 OR
                 ^ Expected a value or a property after "OR", found the end.
        NOT
           ^ Expected a value or a property after "NOT", found the end.
        NOT a
             ^ Expected an operator such as == after "a", found the end. (To ask whether it is true write a == TRUE.)
        !
         ^ Expected a value or a property after "!", found the end.
        a NOT == 5
              ^~ Expected IN, BETWEEN, CONTAINS, BEGINSWITH, ENDSWITH, LIKE, MATCHES or SEARCH after "NOT", found "==".
        a NOT 5
              ^ Expected IN, BETWEEN, CONTAINS, BEGINSWITH, ENDSWITH, LIKE, MATCHES or SEARCH after "NOT", found the number 5.
        a NOT
             ^ Expected IN, BETWEEN, CONTAINS, BEGINSWITH, ENDSWITH, LIKE, MATCHES or SEARCH after "NOT", found the end.
        a !IN {1}
          ^ "!" stands before a condition: !(a IN {…}). Before an operator write NOT.
        isActive AND b == 1
                 ^~~ Expected an operator such as == after "isActive", found "AND". (To ask whether it is true write isActive == TRUE.)
        b == 1 AND isActive
                           ^ Expected an operator such as == after "isActive", found the end. (To ask whether it is true write isActive == TRUE.)
        TRUE
            ^ Expected an operator such as == after "TRUE", found the end. (What is always true is TRUEPREDICATE.)
        NO AND a == 1
           ^~~ Expected an operator such as == after "NO", found "AND". (What is always false is FALSEPREDICATE.)
        TRUPREDICATE
                    ^ Expected an operator such as == after "TRUPREDICATE", found the end. Did you mean TRUEPREDICATE?
        FALSPREDICATE
                     ^ Expected an operator such as == after "FALSPREDICATE", found the end. Did you mean FALSEPREDICATE?
        TRUEPREDICATE == 1
                      ^~ What stands before "==" is a condition already. Comparisons are joined: a < b AND b < c.
        a == TRUEPREDICATE
             ^~~~~~~~~~~~~ Expected a value or a property after "==", found "TRUEPREDICATE". (For a property of that name write #TRUEPREDICATE.)
        5
         ^ Expected an operator such as == after "5", found the end.
        'x'
           ^ Expected an operator such as == after "'x'", found the end.
        {1}
           ^ Expected an operator such as == after "{1}", found the end.
        (a == 1
               ^ Expected ")" for "(" at 1:1, found the end.
        ((a == 1)
                 ^ Expected ")" for "(" at 1:1, found the end.
        (a == 1))
                ^ There is no "(" for this ")".
        a == 1)
              ^ There is no "(" for this ")".
        )
        ^ Expected a value or a property, found ")".
        (
         ^ Expected a value or a property after "(", found the end.
        ()
         ^ Expected a value or a property after "(", found ")".
        a == ()
              ^ Expected a value or a property after "(", found ")".
        (a
          ^ Expected ")" for "(" at 1:1, found the end.
        a == (b
               ^ Expected ")" for "(" at 1:6, found the end.
        a == (b == 5)
                ^~ Expected ")" for "(" at 1:6, found "==". (Here only a value or a property can stand.)
        a == (b AND c)
                ^~~ Expected ")" for "(" at 1:6, found "AND". (Here only a value or a property can stand.)
        (a == 1) + 2 == 3
                 ^ What stands before "+" is a condition, and no number.
        (a == 1) == 2
                 ^~ What stands before "==" is a condition already. Comparisons are joined: a < b AND b < c.
        a < b < c
              ^ What stands before "<" is a condition already. Comparisons are joined: a < b AND b < c.
        a == NOT b
             ^~~ Expected a value or a property after "==", found "NOT". (For a property of that name write #NOT.)
        a == ANY b
             ^~~ Expected a value or a property after "==", found "ANY". (For a property of that name write #ANY.)
        ANY a
             ^ Expected an operator such as == after "a", found the end. (To ask whether it is true write a == TRUE.)
        ANY
           ^ Expected a value or a property after "ANY", found the end.
        ANY ALL a == 1
            ^~~ Expected a value or a property after "ANY", found "ALL". (For a property of that name write #ALL.)
        ANY (a == 5)
               ^~ Expected ")" for "(" at 1:5, found "==". (Here only a value or a property can stand.)
        age contans 'x'
            ^~~~~~~ "contans" is not an operator. Did you mean CONTAINS?
        age CONTAIN 'x'
            ^~~~~~~ "CONTAIN" is not an operator. Did you mean CONTAINS?
        age BEGINWITH 'x'
            ^~~~~~~~~ "BEGINWITH" is not an operator. Did you mean BEGINSWITH?
        age ENDWITH 'x'
            ^~~~~~~ "ENDWITH" is not an operator. Did you mean ENDSWITH?
        age BETWEN {1, 2}
            ^~~~~~ "BETWEN" is not an operator. Did you mean BETWEEN?
        age INN {1}
            ^~~ "INN" is not an operator. Did you mean IN?
        age LIEK 'x'
            ^~~~ "LIEK" is not an operator. Did you mean LIKE?
        age MATCH 'x'
            ^~~~~ "MATCH" is not an operator. Did you mean MATCHES?
        age startswith 'x'
            ^~~~~~~~~~ "startswith" is not an operator. Did you mean BEGINSWITH?
        age begins with 'x'
            ^~~~~~ "begins" is not an operator. Did you mean BEGINSWITH?
        age hasPrefix 'x'
            ^~~~~~~~~ "hasPrefix" is not an operator. Did you mean BEGINSWITH?
        age is NULL
            ^~ "is" is not an operator. Did you mean ==?
        age ILIKE 'x'
            ^~~~~ "ILIKE" is not an operator. Did you mean LIKE[c]?
        age regexp 'x'
            ^~~~~~ "regexp" is not an operator. Did you mean MATCHES?
        age somethingelse 'x'
            ^~~~~~~~~~~~~ Expected an operator such as == after "age", found "somethingelse". (To ask whether it is true write age == TRUE.)
        a == 1 ADN b == 2
               ^~~ "ADN" is not an operator. Did you mean AND?
        a == 1 ORR b == 2
               ^~~ "ORR" is not an operator. Did you mean OR?
        a == 1 XOR b == 2
               ^~~ "XOR" is not an operator. Did you mean OR?
        (a == 1 ADN b == 2)
                ^~~ "ADN" is not an operator. Did you mean AND?
        (age contans 'x')
             ^~~~~~~ "contans" is not an operator. Did you mean CONTAINS?
        age 5
            ^ Expected an operator such as == after "age", found the number 5. (To ask whether it is true write age == TRUE.)
        age 'x'
            ^~~ Expected an operator such as == after "age", found the text 'x'. (To ask whether it is true write age == TRUE.)
        name = 'abc
               ^ The text that begins here has no closing '.
        name = "abc
               ^ The text that begins here has no closing ".
        name = 'abc\'
               ^ The text that begins here has no closing '.
        name = 'abc" AND b == 1
               ^ The text that begins here has no closing '.
        name = '\q'
                ^~ "\q" is not an escape; known are \\ \" \' \n \r \t \uXXXX \xXX. Write \\ for a backslash.
        name = '\u12'
                ^~~~ \u needs 4 hexadecimal digits.
        name = '\u12G4'
                ^~~~ \u needs 4 hexadecimal digits.
        name = '\x4'
                ^~~ \x needs 2 hexadecimal digits.
        name = '\ud83d'
                ^~~~~~ \ud83d is half a surrogate pair; the other half is not beside it.
        name = '\ud83d\u0041'
                ^~~~~~ \ud83d is half a surrogate pair; the other half is not beside it.
        name = '\ude00'
                ^~~~~~ \ude00 is half a surrogate pair; the other half is not beside it.
        name = '\é'
                ^~ "\é" is not an escape; known are \\ \" \' \n \r \t \uXXXX \xXX. Write \\ for a backslash.
        name = “abc”
               ^ "“" (U+201C) means nothing here. Write texts between straight quotes, ' or ".
        name = ‘abc’
               ^ "‘" (U+2018) means nothing here. Write texts between straight quotes, ' or ".
        name = abc'
                  ^ The text that begins here has no closing '.
        a ? b
          ^ "?" means nothing here.
        a := 5
          ^ ":" means nothing here.
        a ~ b
          ^ "~" means nothing here.
        a == 5;
              ^ ";" means nothing here.
        a == `b`
             ^ "`" means nothing here.
        a \ b
          ^ "\" means nothing here.
        age == 5abc
               ^~~~ "5abc" is not a number.
        age == 1.2.3
               ^~~~~ "1.2.3" is not a number.
        age == 1..2
               ^~~~ "1..2" is not a number.
        age == 5.
               ^~ "5." is not a number.
        age == 1e
               ^~ "1e" is not a number.
        age == 1e+
               ^~~ "1e+" is not a number.
        age == 0x
               ^~ "0x" has no digits.
        age == 0xfg
               ^~~~ "0xfg" is not a number in base 16.
        age == 0b12
               ^~~~ "0b12" is not a number in base 2.
        age == 0o8
               ^~~ "0o8" is not a number in base 8.
        age == 1_000
               ^~~~~ "1_000" is not a number.
        age == 18446744073709551616
               ^~~~~~~~~~~~~~~~~~~~ The number is too great: integers have 64 bits, and 18446744073709551615 is the greatest.
        age == -9223372036854775809
               ^~~~~~~~~~~~~~~~~~~~ The number is too small: integers have 64 bits, and -9223372036854775808 is the least.
        age == 99999999999999999999999999
               ^~~~~~~~~~~~~~~~~~~~~~~~~~ The number is too great: integers have 64 bits, and 18446744073709551615 is the greatest.
        age == 1e999
               ^~~~~ The number is too great: 1.7976931348623157e+308 is the greatest real.
        age == 0x10000000000000000
               ^~~~~~~~~~~~~~~~~~~ The number is too great: integers have 64 bits, and 18446744073709551615 is the greatest.
        age == +5
               ^ Expected a value or a property after "==", found "+".
        a ** == 4
             ^~ Expected a value or a property after "**", found "==".
        a + == 4
            ^~ Expected a value or a property after "+", found "==".
        a * / b == 4
            ^ Expected a value or a property after "*", found "/".
        a -
           ^ Expected a value or a property after "-", found the end.
        a.
          ^ Expected a name after ".", found the end.
        a..b == 1
          ^ Expected a name after ".", found ".".
        a. == 1
           ^~ Expected a name after ".", found "==".
        .a == 1
        ^ Expected a value or a property, found ".".
        a.5 == 1
         ^~ Expected an operator such as == after "a", found the number .5. (To ask whether it is true write a == TRUE.)
        a.'b' == 1
          ^~~ Expected a name after ".", found the text 'b'.
        @
        ^ Expected a collection operator such as @count after "@".
        @ count > 1
        ^ Expected a collection operator such as @count after "@".
        @"x" == a
        ^ Objective-C's text literals are not supported. Write "…" without the @.
        a.@ == 1
          ^ Expected a collection operator such as @count after "@".
        # == 1
        ^ Expected a name after "#", as in #any.
        #"" == 1
        ^~~ A name cannot be empty.
        #"abc == 1
         ^ The text that begins here has no closing ".
        $ == 1
        ^ Expected the name of a variable after "$".
        a == $unknown
             ^~~~~~~~ There is no value for $unknown; known are $ages, $name.
        a == $name.length
             ^~~~~ $name is a value; only the variable of a SUBQUERY has properties.
        $f.age == 5
        ^~ There is no value for $f; known are $ages, $name.
        SUBQUERY(friends, $f, $f.age > $g).@count > 1
                                       ^~ There is no value for $g; known are $f, $ages, $name.
        SUBQUERY(friends, $f, $f.age > 1).@count > $f
                                                   ^~ There is no value for $f; known are $ages, $name.
        SUBQUERY(friends, $f, $f.age > 30) > 2
                                           ^ SUBQUERY(…) is a collection: ask for one value of it, such as .@count for its number of objects, or .@max.age.
        SUBQUERY(friends, $f, $f.age > 30).count > 2
                                          ^ SUBQUERY(…) is a collection: ask for one value of it, such as .@count for its number of objects, or .@max.age.
        SUBQUERY(friends, $f, $f.age).@count > 2
                                    ^ Expected an operator such as == after "$f.age", found ")". (To ask whether it is true write $f.age == TRUE.)
        SUBQUERY(friends, $f).@count > 2
                            ^ Expected "," as in SUBQUERY(friends, $x, $x.age > 30), found ")".
        SUBQUERY(friends, f, f.age > 1).@count > 2
                          ^ Expected a variable as in SUBQUERY(friends, $x, $x.age > 30), found "f".
        SUBQUERY(friends).@count > 2
                        ^ Expected "," as in SUBQUERY(friends, $x, $x.age > 30), found ")".
        SUBQUERY(1, $f, $f.age > 1).@count > 2
                 ^ Expected a key path as in SUBQUERY(friends, $x, $x.age > 30).
        SUBQUERY(friends, $f, $f.age > 1 .@count > 2
                                         ^ Expected ")" for "(" at 1:9, found ".".
        SUBQUERY() > 2
                 ^ Expected a value or a property after "(", found ")".
        count() > 1
              ^ Expected a value or a property after "(", found ")".
        count(1) > 1
              ^ Expected a key path as in count(friends).
        count(friends > 1
                      ^ Expected ")" for "(" at 1:6, found ">". (Here only a value or a property can stand.)
        count(friends, pets) > 1
                     ^ Expected ")" for "(" at 1:6, found ",". (Lists are written in braces: {1, 2}.)
        length(name, 2) > 5
        ^~~~~~ length(…) takes one value, not 2.
        shuffle(objectID) == 1
        ^~~~~~~ shuffle(…) takes 2 values, not 1.
        random() == 1
        ^~~~~~ random(…) is not supported: write shuffle(objectID, 42), which a seed determines, or pass a number as an argument. Supported are SUBQUERY, TERNARY, CAST, SCORE, now, abs, ceiling, floor, trunc, sqrt, ln, log, exp, modulus:by:, raise:toPower:, shuffle, length, uppercase, lowercase, year, quarter, month, week, day, weekday, hour, minute, count, countDistinct, sum, average, min, max, stddev, median and mode.
        year() == 1
        ^~~~ year(…) takes 1 or 2 values, not 0.
        hour(a, 'UTC', 1) == 1
        ^~~~ hour(…) takes 1 or 2 values, not 3.
        hour(a, 2) == 1
        ^~~~ hour(…) takes a text with a time zone, such as '+05:30' or 'Europe/Berlin', as its second value, not the integer 2.
        hour(a, b) == 1
        ^~~~ hour(…) takes a text with a time zone, such as '+05:30' or 'Europe/Berlin', as its second value, not the key path b.
        log(2, a) > 5
        ^~~ log(…) takes one value, not 2.
        FUNCTION(name, 'length') > 5
        ^~~~~~~~ FUNCTION(…) is not supported: write the function itself, as in length(name). Supported are SUBQUERY, TERNARY, CAST, SCORE, now, abs, ceiling, floor, trunc, sqrt, ln, log, exp, modulus:by:, raise:toPower:, shuffle, length, uppercase, lowercase, year, quarter, month, week, day, weekday, hour, minute, count, countDistinct, sum, average, min, max, stddev, median and mode.
        CAST(5, 'NSObject') == a
                ^~~~~~~~~~ Expected 'NSDate', 'NSNumber', 'NSDecimalNumber', 'NSString' or 'NSUUID', found the text 'NSObject'.
        TERNARY(a == 1, 2) == 2
                         ^ Expected "," as in TERNARY(age > 17, fee, 0), found ")".
        modulus:by: 5
        ^~~~~~~~~~~ Expected "(" after "modulus:by:".
        absolute(age) > 5
        ^~~~~~~~ absolute(…) is not supported. Supported are SUBQUERY, TERNARY, CAST, SCORE, now, abs, ceiling, floor, trunc, sqrt, ln, log, exp, modulus:by:, raise:toPower:, shuffle, length, uppercase, lowercase, year, quarter, month, week, day, weekday, hour, minute, count, countDistinct, sum, average, min, max, stddev, median and mode.
        name() == 1
        ^~~~ name(…) is not supported. Supported are SUBQUERY, TERNARY, CAST, SCORE, now, abs, ceiling, floor, trunc, sqrt, ln, log, exp, modulus:by:, raise:toPower:, shuffle, length, uppercase, lowercase, year, quarter, month, week, day, weekday, hour, minute, count, countDistinct, sum, average, min, max, stddev, median and mode.
        a[x] == 5
          ^ Expected a position from 0 on, FIRST, LAST or SIZE after "[", found "x".
        a[0 == 5
            ^~ Expected "]" for "[" at 1:2, found "==".
        a ==[l] 'x'
             ^ Expected an option, found "l". Known are [c] (case does not count), [d] (accents do not count), [cd], and [n] alone (every byte counts).
        a ==[x] 'x'
             ^ Expected an option, found "x". Known are [c] (case does not count), [d] (accents do not count), [cd], and [n] alone (every byte counts).
        a ==[cn] 'x'
             ^~ Expected an option, found "cn". Known are [c] (case does not count), [d] (accents do not count), [cd], and [n] alone (every byte counts).
        a ==[] 'x'
             ^ Expected an option, found "]". Known are [c] (case does not count), [d] (accents do not count), [cd], and [n] alone (every byte counts).
        a ==[c 'x'
               ^~~ Expected "]" after the option "c", found the text 'x'.
        a ==[5] 'x'
             ^ Expected an option, found the number 5. Known are [c] (case does not count), [d] (accents do not count), [cd], and [n] alone (every byte counts).
        a ==['c'] 'x'
             ^~~ Expected an option, found the text 'c'. Known are [c] (case does not count), [d] (accents do not count), [cd], and [n] alone (every byte counts).
        a [c]== 'x'
           ^ Expected a position from 0 on, FIRST, LAST or SIZE after "[", found "c". (Options of a comparison follow its operator: ==[c].)
        a BETWEEN 1 AND 5
                  ^ BETWEEN takes its bounds in braces: BETWEEN {1, 5}.
        a BETWEEN {1}
                  ^~~ BETWEEN takes two bounds, not 1: BETWEEN {1, 5}.
        a BETWEEN {1, 2, 3}
                  ^~~~~~~~~ BETWEEN takes two bounds, not 3: BETWEEN {1, 5}.
        a BETWEEN {}
                  ^~ BETWEEN takes two bounds, not 0: BETWEEN {1, 5}.
        a BETWEEN
                 ^ Expected a value or a property after "BETWEEN", found the end.
        a BETWEEN $name
                  ^~~~~ BETWEEN takes its bounds in braces: BETWEEN {1, 5}.
        a IN (1, 2)
               ^ Expected ")" for "(" at 1:6, found ",". (Lists are written in braces: {1, 2}.)
        a IN [1, 2]
              ^ Expected an option, found the number 1. Known are [c] (case does not count), [d] (accents do not count), [cd], and [n] alone (every byte counts).
        a IN {1, 2
                  ^ Expected "," or "}" for "{" at 1:6, found the end.
        a IN {1 2}
                ^ Expected "," or "}" for "{" at 1:6, found the number 2.
        a IN {1, }
                 ^ Expected a value or a property after ",", found "}".
        a IN {,}
              ^ Expected a value or a property after "{", found ",".
        a IN {a == 1}
                ^~ Expected "," or "}" for "{" at 1:6, found "==".
        a IN
            ^ Expected a value or a property after "IN", found the end.
        in == 5
        ^~ Expected a value or a property, found "in". (For a property of that name write #in.)
        any == 5
            ^~ Expected a value or a property after "any", found "==". (For a property of that name write #any.)
        a == between
             ^~~~~~~ Expected a value or a property after "==", found "between". (For a property of that name write #between.)
        a == AND
             ^~~ Expected a value or a property after "==", found "AND". (For a property of that name write #AND.)
        a == %@
             ^~ Argument 1, for %@, is missing: there are none.
        %K == 5
        ^~ Argument 1, for %K, is missing: there are none.
        a == %d AND b == 2
             ^~ Argument 1, for %d, is missing: there are none.
        a == %
             ^ Expected an argument's place after "%": %@ for a value, %K for a key, or %d, %ld, %u, %x, %f, %g, %s, %c and the like.
        a == %%
             ^~ "%%" means nothing here. Write a percent sign in a text: '%'.
        a == 5 % 2
               ^ Expected an argument's place after "%": %@ for a value, %K for a key, or %d, %ld, %u, %x, %f, %g, %s, %c and the like.
        a == %5d
             ^~ Widths, precisions and positions of arguments are not supported: values are taken as they are, in order. Write %@, %K, %d…
        a == %.2f
             ^~ Widths, precisions and positions of arguments are not supported: values are taken as they are, in order. Write %@, %K, %d…
        a == %1$@
             ^~ Widths, precisions and positions of arguments are not supported: values are taken as they are, in order. Write %@, %K, %d…
        a == %-d
             ^~ Widths, precisions and positions of arguments are not supported: values are taken as they are, in order. Write %@, %K, %d…
        a == %lK
             ^~ Expected an argument's place after "%": %@ for a value, %K for a key, or %d, %ld, %u, %x, %f, %g, %s, %c and the like.
        a == %y
             ^ Expected an argument's place after "%": %@ for a value, %K for a key, or %d, %ld, %u, %x, %f, %g, %s, %c and the like.
        a == %l
             ^~ Expected an argument's place after "%": %@ for a value, %K for a key, or %d, %ld, %u, %x, %f, %g, %s, %c and the like.
        a, b
         ^ Expected an operator such as == after "a", found ",". (To ask whether it is true write a == TRUE.)
        {1, 2} IN
                 ^ Expected a value or a property after "IN", found the end.
        """#
}
