import PolyStoreBackend

/// The functions of a store's schema, for what PostgreSQL's own functions compute in another way. They never fail, so that a condition of one row does not end a request.
///
/// Indexes contain their results: what they return for given arguments must not change.
enum ServerFunctions {
    /// The names and the types of the arguments.
    private static let signatures = [
        "json(text, text[])", "json_text(text, text[])", "json_boolean(text, text[])", "json_integer(text, text[])",
        "json_real(text, text[])", "json_uuid(text, text[])", "integer(numeric, text, numeric)",
        "real(double precision, text, double precision)", "date_part(double precision, text, integer)",
    ]

    /// The names of the functions.
    static let names = signatures.map { "polystore_" + $0.prefix { $0 != "(" } }

    /// Returns the statements that remove the functions.
    static func removal(from namespace: String) -> [String] {
        signatures.reversed().map { "DROP FUNCTION IF EXISTS \(namespace).polystore_\($0) CASCADE" }
    }

    /// Returns the statements that create the functions.
    static func creation(in namespace: String) -> [String] {
        [
            function(namespace, "json(document text, keys text[])", "text", member),
            function(namespace, "json_text(document text, keys text[])", "text", text(namespace)),
            function(namespace, "json_boolean(document text, keys text[])", "boolean", boolean(namespace)),
            function(namespace, "json_integer(document text, keys text[])", "bigint", integer(namespace)),
            function(namespace, "json_real(document text, keys text[])", "double precision", real(namespace)),
            function(namespace, "json_uuid(document text, keys text[])", "uuid", uuid(namespace)),
            function(namespace, "integer(a numeric, op text, b numeric)", "bigint", integerArithmetic),
            function(namespace, "real(a double precision, op text, b double precision)", "double precision", realArithmetic),
            function(namespace, "date_part(seconds double precision, part text, zone integer)", "bigint", datePart),
        ]
    }

    private static func function(_ namespace: String, _ signature: String, _ type: String, _ body: String) -> String {
        "CREATE OR REPLACE FUNCTION \(namespace).polystore_\(signature) RETURNS \(type) LANGUAGE plpgsql IMMUTABLE STRICT AS \(SQLNames.literal(body))"
    }

    // MARK: JSON

    /// The text of the member of a JSON document at a path of keys, of which the first of equal ones counts. Null for an invalid document and for one with more than 512 nested levels.
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

    private static func text(_ namespace: String) -> String {
        #"""
        DECLARE
            member text := \#(namespace).polystore_json(document, keys);
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

    private static func boolean(_ namespace: String) -> String {
        #"""
        DECLARE
            member text := \#(namespace).polystore_json(document, keys);
        BEGIN
            RETURN CASE member WHEN 'true' THEN true WHEN 'false' THEN false END;
        END
        """#
    }

    /// The integer of a number, however it is written.
    private static func integer(_ namespace: String) -> String {
        #"""
        DECLARE
            member text := \#(namespace).polystore_json(document, keys);
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
    private static func real(_ namespace: String) -> String {
        #"""
        DECLARE
            member text := \#(namespace).polystore_json(document, keys);
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

    private static func uuid(_ namespace: String) -> String {
        #"""
        DECLARE
            member text := \#(namespace).polystore_json_text(document, keys);
        BEGIN
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

/// A call of a function that reads a field of a JSON document.
enum JSONFunction {
    /// Returns the end of the function's name; nil for a type that the functions do not read.
    private static func suffix(_ type: AttributeType) -> String? {
        switch type {
        case .string, .url: "text"
        case .bool: "boolean"
        case .int64: "integer"
        case .double, .date: "real"
        case .uuid: "uuid"
        default: nil
        }
    }

    /// Returns whether the functions read a field as its type.
    static func reads(_ field: JSONField) -> Bool {
        guard case .value(let type) = field.result else { return false }
        return suffix(type) != nil
    }

    /// Returns a call; nil for a field that the functions do not read. The keys are literals: PostgreSQL uses an index only for an equal call.
    static func call(_ column: String, _ field: JSONField, in namespace: String) -> String? {
        guard case .value(let type) = field.result, let suffix = suffix(type) else { return nil }
        let keys = field.keys.map { SQLNames.literal(NULFreeText.encode($0)) }.joined(separator: ", ")
        let call = "\(namespace).polystore_json_\(suffix)(\(column), ARRAY[\(keys)]::text[])"
        return suffix == "text" ? "(\(call) COLLATE \"C\")" : call
    }

    /// Returns the format of the values of a field.
    static func format(_ field: JSONField) -> ColumnFormat {
        ColumnFormat(field.type, isOptional: true)
    }
}
