import PolyStoreBackend

/// The functions of a store's schema, for what PostgreSQL's own functions compute in another way. They never fail, so that a condition of one row does not end a request.
///
/// Indexes contain their results: what they return for given arguments must not change.
enum ServerFunctions {
    /// The names and the types of the arguments.
    private static let signatures =
        [
            "json(text, text[])"
        ]
        + readings.flatMap {
            ["json_\($0.name)(text, text[])", "element_\($0.name)(text)", "contains_\($0.name)(text, text[], \($0.type))"]
        }
        + [
            "integer(numeric, text, numeric)",
            "real(double precision, text, double precision)", "date_part(double precision, text, integer)",
        ]

    /// The names of the functions.
    static let names = signatures.map { "polystore_" + $0.prefix { $0 != "(" } }

    /// Returns the statements that remove the functions.
    static func removal(from namespace: String) -> [String] {
        signatures.reversed().map { "DROP FUNCTION IF EXISTS \(namespace).polystore_\($0) CASCADE" }
    }

    /// Returns the statements that give the functions an owner.
    /// - Parameter owner: The name of the owner, quoted where needed.
    static func owning(in namespace: String, by owner: String) -> [String] {
        signatures.map { "ALTER FUNCTION \(namespace).polystore_\($0) OWNER TO \(owner)" }
    }

    /// Returns the statements that let a user call the functions, and let others call them.
    /// - Parameter user: The name of the user, quoted where needed.
    static func granting(in namespace: String, to user: String) -> [String] {
        signatures.map { "GRANT EXECUTE ON FUNCTION \(namespace).polystore_\($0) TO \(user) WITH GRANT OPTION" }
    }

    /// Returns the statements that create the functions.
    static func creation(in namespace: String) -> [String] {
        [
            function(namespace, "json(document text, keys text[])", "text", member)
        ]
            + readings.flatMap { reading in
                [
                    function(
                        namespace, "json_\(reading.name)(document text, keys text[])", reading.type,
                        reading.body("\(namespace).polystore_json(document, keys)")),
                    function(namespace, "element_\(reading.name)(element text)", reading.type, reading.body("element")),
                    function(
                        namespace, "contains_\(reading.name)(document text, keys text[], wanted \(reading.type))", "boolean",
                        contains(namespace, reading.name)),
                ]
            } + [
                function(namespace, "integer(a numeric, op text, b numeric)", "bigint", integerArithmetic),
                function(namespace, "real(a double precision, op text, b double precision)", "double precision", realArithmetic),
                function(namespace, "date_part(seconds double precision, part text, zone integer)", "bigint", datePart),
            ]
    }

    private static func function(_ namespace: String, _ signature: String, _ type: String, _ body: String) -> String {
        "CREATE OR REPLACE FUNCTION \(namespace).polystore_\(signature) RETURNS \(type) LANGUAGE plpgsql IMMUTABLE STRICT AS \(SQLNames.literal(body))"
    }

    // MARK: JSON

    /// A form in which a value within JSON is read.
    private struct Reading {
        let name: String
        /// The type on the server.
        let type: String
        /// Returns the body of a function that reads a text of JSON, from an expression of the text.
        let body: @Sendable (String) -> String
    }

    private static let readings = [
        Reading(name: "text", type: "text", body: text), Reading(name: "boolean", type: "boolean", body: boolean),
        Reading(name: "integer", type: "bigint", body: integer), Reading(name: "real", type: "double precision", body: real),
        Reading(name: "uuid", type: "uuid", body: uuid),
    ]

    /// Whether an array at a path of keys has an element with a value. Null without an array.
    private static func contains(_ namespace: String, _ name: String) -> String {
        #"""
        DECLARE
            member text := \#(namespace).polystore_json(document, keys);
            element text;
        BEGIN
            IF member IS NULL OR left(member, 1) <> '[' THEN
                RETURN NULL;
            END IF;
            FOR element IN SELECT parts.part::text FROM json_array_elements(member::json) AS parts(part) LOOP
                IF \#(namespace).polystore_element_\#(name)(element) = wanted THEN
                    RETURN true;
                END IF;
            END LOOP;
            RETURN false;
        END
        """#
    }

    /// The text of the member of a JSON document at a path of keys. Of equal keys, the first one counts. Null for an invalid document and for one with more than
    /// 512 nested levels.
    ///
    /// Escaped characters that columns encode are replaced by their encoding, and halves of surrogate pairs by U+0001 U+0003, which no encoded text contains.
    private static let member = #"""
        DECLARE
            plain text := document;
            value json;
            wanted text;
            brackets text;
            bracket text;
            depth integer := 0;
        BEGIN
            IF strpos(plain, '\u') > 0 THEN
                plain := replace(plain, '\\', '\u005c');
                plain := replace(replace(plain, '\u0001', '\u0001\u0002'), '\u0000', '\u0001\u0001');
                plain := regexp_replace(plain, '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}', '\\u0001\\u0003', 'g');
                plain := regexp_replace(plain, '\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})', '\\u0001\\u0003', 'g');
            END IF;
            IF length(plain) - length(translate(plain, '[{', '')) > 512 THEN
                brackets := regexp_replace(regexp_replace(plain, '"(?:[^"\\]|\\.)*"', '', 'g'), '[^][{}]', '', 'g');
                FOREACH bracket IN ARRAY string_to_array(brackets, NULL) LOOP
                    depth := depth + CASE WHEN bracket IN ('[', '{') THEN 1 ELSE -1 END;
                    IF depth > 512 THEN
                        RETURN NULL;
                    END IF;
                END LOOP;
            END IF;
            value := plain::json;
            FOREACH wanted IN ARRAY keys LOOP
                IF json_typeof(value) <> 'object' THEN
                    RETURN NULL;
                END IF;
                SELECT members.part INTO value FROM json_each(value) WITH ORDINALITY AS members(name, part, place)
                    WHERE members.name = wanted COLLATE "C" ORDER BY members.place LIMIT 1;
                IF NOT FOUND THEN
                    RETURN NULL;
                END IF;
            END LOOP;
            RETURN btrim(value::text, E' \t\n\r');
        EXCEPTION WHEN data_exception OR statement_too_complex THEN
            RETURN NULL;
        END
        """#

    @Sendable private static func text(_ source: String) -> String {
        #"""
        DECLARE
            member text := \#(source);
        BEGIN
            IF left(member, 1) <> '"' THEN
                RETURN NULL;
            END IF;
            member := member::json #>> '{}';
            IF strpos(replace(member, chr(1) || chr(1), ''), chr(1) || chr(3)) > 0 THEN
                RETURN NULL;
            END IF;
            RETURN member;
        END
        """#
    }

    @Sendable private static func boolean(_ source: String) -> String {
        #"""
        DECLARE
            member text := \#(source);
        BEGIN
            RETURN CASE member WHEN 'true' THEN true WHEN 'false' THEN false END;
        END
        """#
    }

    /// The integer of a number, however it is written.
    @Sendable private static func integer(_ source: String) -> String {
        #"""
        DECLARE
            member text := \#(source);
            parts text[];
            digits text;
            power numeric;
            number numeric;
        BEGIN
            IF member ~ '^-?[0-9]{1,18}$' THEN
                RETURN member::bigint;
            END IF;
            parts := regexp_match(member, '^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?)0*([0-9]*))?$');
            IF parts IS NULL THEN
                RETURN NULL;
            END IF;
            digits := ltrim(parts[2] || coalesce(parts[3], ''), '0');
            IF digits = '' THEN
                RETURN 0;
            END IF;
            IF length(parts[5]) > 15 THEN
                RETURN NULL;
            END IF;
            power := coalesce(nullif(parts[5], ''), '0')::numeric;
            IF parts[4] = '-' THEN
                power := -power;
            END IF;
            power := power - length(coalesce(parts[3], '')) + length(digits) - length(rtrim(digits, '0'));
            digits := rtrim(digits, '0');
            IF power < 0 OR length(digits) + power > 19 THEN
                RETURN NULL;
            END IF;
            number := (parts[1] || digits || repeat('0', power::integer))::numeric;
            IF number BETWEEN -9223372036854775808 AND 9223372036854775807 THEN
                RETURN number::bigint;
            END IF;
            RETURN NULL;
        END
        """#
    }

    /// The nearest real of a number; null if it is too large, 0 if it is too small.
    @Sendable private static func real(_ source: String) -> String {
        #"""
        DECLARE
            member text := \#(source);
            parts text[];
            power numeric;
        BEGIN
            IF left(member, 1) NOT IN ('-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9') THEN
                RETURN NULL;
            END IF;
            BEGIN
                RETURN member::double precision + 0;
            EXCEPTION WHEN numeric_value_out_of_range THEN
                parts := regexp_match(member, '^-?0*([0-9]*)(?:\.(0*)[0-9]*)?(?:[eE]([-+]?)0*([0-9]*))?$');
                IF length(parts[4]) > 15 THEN
                    RETURN CASE parts[3] WHEN '-' THEN 0 END;
                END IF;
                power := coalesce(nullif(parts[4], ''), '0')::numeric;
                IF parts[3] = '-' THEN
                    power := -power;
                END IF;
                power := power + CASE parts[1] WHEN '' THEN -length(coalesce(parts[2], '')) ELSE length(parts[1]) END;
                RETURN CASE WHEN power < 0 THEN 0 END;
            END;
        END
        """#
    }

    @Sendable private static func uuid(_ source: String) -> String {
        #"""
        DECLARE
            member text := \#(source);
        BEGIN
            IF left(member, 1) <> '"' THEN
                RETURN NULL;
            END IF;
            member := member::json #>> '{}';
            IF member ~ '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$' THEN
                RETURN member::uuid;
            END IF;
            RETURN NULL;
        END
        """#
    }

    // MARK: Arithmetic

    /// An operation on integers, computed exactly; null for a division by zero and for a result that does not fit 64 bits with a sign.
    private static let integerArithmetic = #"""
        DECLARE
            result numeric;
        BEGIN
            IF b = 0 AND op IN ('/', '%') THEN
                RETURN NULL;
            END IF;
            result := CASE op WHEN '+' THEN a + b WHEN '-' THEN a - b WHEN '*' THEN a * b WHEN '/' THEN div(a, b) WHEN '%' THEN mod(a, b) END;
            IF result BETWEEN -9223372036854775808 AND 9223372036854775807 THEN
                RETURN result::bigint;
            END IF;
            RETURN NULL;
        END
        """#

    /// An operation on reals; null for a division by zero. A result that is too large is infinite, one that is too small is 0.
    private static let realArithmetic = #"""
        BEGIN
            IF b = 0 AND op = '/' THEN
                RETURN NULL;
            END IF;
            BEGIN
                RETURN CASE op WHEN '+' THEN a + b WHEN '-' THEN a - b WHEN '*' THEN a * b WHEN '/' THEN a / b END + 0;
            EXCEPTION WHEN numeric_value_out_of_range THEN
                IF op IN ('+', '-') THEN
                    RETURN CASE WHEN a > 0 THEN 'Infinity' ELSE '-Infinity' END;
                END IF;
                IF op = '*' AND ln(abs(a)) + ln(abs(b)) < 0 OR op = '/' AND ln(abs(a)) < ln(abs(b)) THEN
                    RETURN 0;
                END IF;
                RETURN CASE WHEN (a > 0) = (b > 0) THEN 'Infinity' ELSE '-Infinity' END;
            END;
        END
        """#
}

extension ServerFunctions {
    /// A part of a date in the proleptic Gregorian calendar, from the seconds since 2001-01-01 00:00 UTC and the offset of a time zone in seconds. Null for a date of more than 2^53 seconds before or
    /// after 2001.
    ///
    /// The days are counted from March, so that a leap day is the last day of its year. PostgreSQL's own dates end in the year 5874897, and its times are rounded to microseconds.
    private static let datePart = #"""
        DECLARE
            whole bigint;
            clock bigint;
            days bigint;
            weekday bigint;
            era bigint;
            age bigint;
            years bigint;
            number bigint;
            month bigint;
            year bigint;
        BEGIN
            IF NOT abs(seconds) <= 9007199254740992 THEN
                RETURN NULL;
            END IF;
            whole := floor(seconds)::bigint + zone;
            clock := (whole % 86400 + 86400) % 86400;
            IF part = 'hour' THEN
                RETURN clock / 3600;
            ELSIF part = 'minute' THEN
                RETURN clock / 60 % 60;
            END IF;
            days := (whole - clock) / 86400;
            weekday := (days % 7 + 7) % 7 + 1;
            IF part = 'weekday' THEN
                RETURN weekday;
            ELSIF part = 'week' THEN
                days := days + 4 - weekday;
            END IF;
            days := days + 730791;
            age := (days % 146097 + 146097) % 146097;
            era := (days - age) / 146097;
            years := (age - age / 1460 + age / 36524 - age / 146096) / 365;
            number := age - (365 * years + years / 4 - years / 100);
            month := (5 * number + 2) / 153;
            IF part = 'day' THEN
                RETURN number - (153 * month + 2) / 5 + 1;
            END IF;
            month := CASE WHEN month < 10 THEN month + 3 ELSE month - 9 END;
            year := years + era * 400 + CASE WHEN month <= 2 THEN 1 ELSE 0 END;
            RETURN CASE part
                WHEN 'year' THEN year
                WHEN 'month' THEN month
                WHEN 'quarter' THEN (month + 2) / 3
                WHEN 'week' THEN CASE
                    WHEN month <= 2 THEN number - 306
                    WHEN year % 4 = 0 AND (year % 100 <> 0 OR year % 400 = 0) THEN number + 60
                    ELSE number + 59 END / 7 + 1
            END;
        END
        """#
}
