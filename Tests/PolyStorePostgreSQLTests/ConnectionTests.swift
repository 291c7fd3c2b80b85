import Foundation
import PolyStoreBackend
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Connections over libpq: pipelines, prepared statements, binary values, single rows, errors.
@Suite(.withServer) struct ConnectionTests {
    @Test func statementThatCannotBeSentLeavesTheConnectionUsable() throws {
        let connection = try TestServer.connect()
        try connection.run([.once("BEGIN")])
        let parameters = (0...65_535).map { Parameter.integer($0) }
        let error = #expect(throws: StoreError.self) {
            try connection.run([
                Statement("CREATE TEMPORARY TABLE before_it (n bigint)"), Statement("SELECT 1", parameters), .once("ROLLBACK"),
            ])
        }
        #expect(error?.recovery == .permanent)
        #expect(error?.underlying?.contains("65535") == true)
        // The statements before it were executed, and those after it were not.
        #expect(try connection.rows("SELECT count(*) FROM before_it").integer(0, 0) == 0)
        try connection.run([.once("ROLLBACK")])
    }

    @Test func valuesArriveInBinaryForm() throws {
        let connection = try TestServer.connect()
        let rows = try connection.rows(
            "SELECT $1::bigint, $2::double precision, $3::text, $4::bytea, $5::numeric, $6::boolean, $7::bigint[]",
            [
                .integer(.min), .real(-1.5), .text("a\u{0}b\u{1}"), .bytes([0, 255]), .unsigned(.max), .bool(true), .integers([1, -1]),
            ])
        #expect(rows.integer(0, 0) == .min)
        #expect(Array(rows.bytes(0, 3)) == [0, 255])
        #expect(rows.text(0, 2) == NULFreeText.encode("a\u{0}b\u{1}"))
        #expect(Numeric.unsigned(rows.bytes(0, 4)) == .max)
        #expect(rows.bool(0, 5))
    }

    @Test(arguments: [0, 1, 9999, 10_000, 10_001, 100_000_000, 9_223_372_036_854_775_808, 10_000_000_000_000_000_000, .max] as [UInt64])
    func unsignedIntegersAreNumbersOfTheServer(_ value: UInt64) throws {
        let connection = try TestServer.connect()
        let rows = try connection.rows("SELECT $1::numeric = '\(value)', '\(value)'::numeric(20, 0)", [.unsigned(value)])
        #expect(rows.bool(0, 0))
        #expect(Numeric.unsigned(rows.bytes(0, 1)) == value)
    }

    @Test(arguments: [
        "0", "1", "-1", "10", "100", "99.99", "-0.01", "0.001", "10000", "12345.6789", "1e127", "-1e-128",
        "100000000000000000000000000000000000001",
        "0.00000000000000000000000000000000000001", "NaN", "79228162514264337593543950335",
    ])
    func decimalsAreNumbersOfTheServer(_ text: String) throws {
        let decimal = try #require(text == "NaN" ? .nan : Decimal(string: text))
        let parameter = try #require(Parameter.decimal(decimal.orderedBytes))
        let rows = try TestServer.connect().rows("SELECT $1 = '\(text)'::numeric, '\(text)'::numeric", [parameter])
        #expect(rows.bool(0, 0))
        #expect(Numeric.orderedBytes(rows.bytes(0, 1)) == decimal.orderedBytes)
    }

    @Test(arguments: ["1e9000", "1e-9000", "'Infinity'"])
    func numbersBeyondRecordsAreNone(_ text: String) throws {
        let rows = try TestServer.connect().rows("SELECT \(text)::numeric")
        #expect(Numeric.orderedBytes(rows.bytes(0, 0)) == nil)
    }

    @Test(arguments: ["-1", "1.5", "18446744073709551616", "'NaN'"])
    func otherNumbersAreNotUnsigned(_ text: String) throws {
        let rows = try TestServer.connect().rows("SELECT \(text)::numeric")
        #expect(Numeric.unsigned(rows.bytes(0, 0)) == nil)
    }

    @Test func aPipelineIsOneRoundTrip() throws {
        let connection = try TestServer.connect()
        let before = connection.pipelineCount
        let results = try connection.run([.once("BEGIN"), Statement("SELECT $1::bigint", [.integer(7)]), .once("COMMIT")])
        #expect(results.count == 3)
        #expect(results[1].integer(0, 0) == 7)
        #expect(results[2].command == "COMMIT")
        #expect(connection.pipelineCount == before + 1)
    }

    @Test func errorNamesItsStateAndEndsThePipeline() throws {
        let connection = try TestServer.connect()
        let error = #expect(throws: StoreError.self) {
            try connection.run([Statement("SELECT 1 / $1::bigint", [.integer(0)]), Statement("SELECT 1")])
        }
        #expect(error?.sqlState == "22012")
        #expect(try connection.rows("SELECT 2::bigint").integer(0, 0) == 2)
    }

    @Test func statementIsPreparedOnlyIfItsParseSucceeded() throws {
        let connection = try TestServer.connect()
        let later = Statement("SELECT 3::bigint")
        // The parse of the second statement is skipped, because the first one fails.
        #expect(throws: StoreError.self) { try connection.run([Statement("SELECT nothing FROM nowhere"), later]) }
        #expect(try connection.run([later]).first?.integer(0, 0) == 3)
        #expect(throws: StoreError.self) { try connection.run([Statement("SELECT 1 / $1::bigint", [.integer(0)]), later]) }
        #expect(try connection.run([later]).first?.integer(0, 0) == 3)
    }

    @Test func parametersOfOtherTypesAreParsedAgain() throws {
        let connection = try TestServer.connect()
        let sql = "SELECT pg_typeof($1)::text"
        #expect(try connection.rows(sql, [.integer(1)]).text(0, 0) == "bigint")
        #expect(try connection.rows(sql, [.text("a")]).text(0, 0) == "text")
        #expect(try connection.rows(sql, [.integer(2)]).text(0, 0) == "bigint")
    }

    @Test func configurationDoesNotShowItsPasswords() throws {
        let url = "postgresql://user:topsecret@%2Fnowhere/db?sslpassword=othersecret"
        let configuration = try StoreConfiguration.postgreSQL(url)
        var text = "\(configuration) \(String(reflecting: configuration)) \(ServerAddress(try StoreURL(url)))"
        dump(configuration, to: &text)
        dump(ServerAddress(try StoreURL(url)), to: &text)
        #expect(!text.contains("topsecret"))
        #expect(!text.contains("othersecret"))
    }

    @Test func manyParsedStatementsAreFreed() throws {
        let connection = try TestServer.connect()
        for number in 0...400 { _ = try connection.rows("SELECT \(number)::bigint") }
        connection.forgetParsed()
        try connection.run([.once("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")])
        #expect(try connection.rows("SELECT count(*) FROM pg_prepared_statements").integer(0, 0) == 1)
        #expect(try connection.rows("SELECT 7::bigint").integer(0, 0) == 7)
    }

    @Test func aTransactionOfManyStatementsKeepsABoundedNumberOfThem() throws {
        let connection = try TestServer.connect()
        try connection.run([.once("BEGIN")])
        for number in 0..<1000 { #expect(try connection.rows("SELECT \(number)::bigint").integer(0, 0) == Int64(number)) }
        let kept = try #require(try connection.rows("SELECT count(*) FROM pg_prepared_statements").integer(0, 0))
        #expect((400...800).contains(kept))
    }

    @Test func rowsAreReadWhileOthersAreAskedFor() throws {
        let connection = try TestServer.connect()
        let first = try connection.stream(Statement("SELECT generate_series(1, 1000)::bigint"))
        #expect(try first.next()?.integer(0, 0) == 1)
        let second = try connection.stream(Statement("SELECT generate_series(1, 3)::bigint"))
        #expect(try second.next()?.integer(0, 0) == 1)
        #expect(try connection.rows("SELECT 5::bigint").integer(0, 0) == 5)
        var count = 1
        while try first.next() != nil { count += 1 }
        #expect(count == 1000)
        count = 1
        while try second.next() != nil { count += 1 }
        #expect(count == 3)
    }

    @Test func shortResultIsReadAtOnce() throws {
        let connection = try TestServer.connect()
        let stream = try connection.stream(Statement("SELECT generate_series(1, 3)::bigint"), isWhole: true)
        #expect(connection.stream == nil)
        #expect(try connection.rows("SELECT 5::bigint").integer(0, 0) == 5)
        var found: [Int64?] = []
        while let rows = try stream.next() { found.append(rows.integer(stream.row, 0)) }
        #expect(found == [1, 2, 3])
        #expect(try stream.next() == nil)
        #expect(try connection.stream(Statement("SELECT 1 WHERE false"), isWhole: true).next() == nil)
        let discarded = try connection.stream(Statement("SELECT generate_series(1, 3)::bigint"), isWhole: true)
        #expect(try discarded.next() != nil)
        discarded.discard()
        #expect(try discarded.next() == nil)
        #expect(throws: StoreError.self) { try connection.stream(Statement("SELECT 1 / 0"), isWhole: true) }
        #expect(try connection.rows("SELECT 6::bigint").integer(0, 0) == 6)
    }

    @Test func streamThatIsGivenUpIsCancelled() throws {
        let connection = try TestServer.connect()
        let stream = try connection.stream(Statement("SELECT generate_series(1, 100000000)::bigint"))
        #expect(try stream.next() != nil)
        connection.abandonStream()
        #expect(try connection.rows("SELECT 5::bigint").integer(0, 0) == 5)
        #expect(try stream.next() == nil)
    }

    @Test func largePipelineDoesNotBlock() throws {
        let connection = try TestServer.connect()
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        // Each side would wait for the other one if it only sent.
        let results = try connection.run((0..<40).map { _ in Statement("SELECT $1::bytea", [.bytes(bytes)]) })
        #expect(results.count == 40)
        #expect(results.allSatisfy { $0.bytes(0, 0).count == 1 << 20 })
    }

    @Test func responseThatIsLateEndsTheConnection() throws {
        let url = try StoreURL(try TestServer.get().url())
        let connection = try Connection(
            ServerAddress(url), location: "here", connectTimeout: .seconds(600), responseTimeout: .milliseconds(50))
        let error = #expect(throws: StoreError.self) { try connection.rows("SELECT pg_sleep(600)::text") }
        #expect(error?.code == .busy)
        #expect(throws: StoreError.self) { try connection.rows("SELECT 1") }
        connection.cancel()
    }

    @Test func endOfTheConnectionIsReported() throws {
        let connection = try TestServer.connect()
        let number = try #require(try connection.rows("SELECT pg_backend_pid()::bigint").integer(0, 0))
        try TestServer.get().psql("SELECT pg_terminate_backend(\(number), 60000)")
        let error = #expect(throws: StoreError.self) { try connection.rows("SELECT 1") }
        #expect(error?.recovery == .connectionLost)
        #expect(error?.code == .io)
    }

    @Test func failureClosesTheConnectionAndEndsItsStream() throws {
        weak var released: Connection?
        let stream: RowStream
        do {
            let connection = try TestServer.connect()
            released = connection
            let number = try #require(try connection.rows("SELECT pg_backend_pid()::bigint").integer(0, 0))
            stream = try connection.stream(Statement("SELECT generate_series(1, 100000000)::bigint"))
            #expect(try stream.next() != nil)
            try TestServer.get().psql("SELECT pg_terminate_backend(\(number), 60000)")
            let error = #expect(throws: StoreError.self) { while try stream.next() != nil {} }
            #expect(error?.recovery == .connectionLost)
            #expect(connection.handle == nil)
            #expect(connection.stream == nil)
            connection.abandonStream()
        }
        #expect(released == nil)
        #expect(throws: StoreError.self) { try stream.next() }
    }

    @Test func lateRowsEndTheTransactionOnTheServer() throws {
        let url = try StoreURL(try TestServer.get().url(options: "application_name=late"))
        let connection = try Connection(
            ServerAddress(url), location: "here", connectTimeout: .seconds(600), responseTimeout: .milliseconds(50))
        // Each row is larger than the memory in which the server collects rows.
        let sql = "SELECT repeat('x', 20000) || pg_sleep(1)::text FROM generate_series(1, 100000)"
        #expect(throws: StoreError.self) {
            let stream = try connection.stream(Statement(sql))
            while try stream.next() != nil {}
        }
        #expect(connection.handle == nil)
        // The server notices it when it sends the next row.
        while try TestServer.get().psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'late'") != "0" {}
    }

    @Test func hostThatCannotBeReachedIsFollowedByTheNext() throws {
        let folder = try TestServer.get().folder.replacingOccurrences(of: "/", with: "%2F")
        let connection = try TestServer.connect("postgresql://polystore@%2Fnowhere,\(folder)/postgres")
        #expect(try connection.rows("SELECT 7::bigint").integer(0, 0) == 7)
    }

    @Test(arguments: [
        ("postgresql://a:1,b/x", [["a", "1"], ["b", ""]]), ("postgresql://a/x", []), ("postgresql:///x?host=a,b", [["a"], ["b"]]),
    ])
    func hostsAreTriedOneByOne(_ url: String, _ expected: [[String]]) throws {
        let address = ServerAddress(try StoreURL(url))
        #expect(address.alternatives.count == max(1, expected.count))
        for (alternative, values) in zip(address.alternatives, expected) {
            #expect(alternative.pairs.filter { ["host", "port"].contains($0.0) }.map(\.1) == values)
        }
    }

    @Test func unacknowledgedDataEndsTheConnection() throws {
        let limit = { (url: String) in try ServerAddress(StoreURL(url)).pairs.last { $0.0 == "tcp_user_timeout" }?.1 }
        #expect(try limit("postgresql://a/x") == "60000")
        #expect(try limit("postgresql://a/x?tcp_user_timeout=7") == "7")
    }

    @Test func locksAreAwaitedForLessThanTheResponse() throws {
        var options = PostgreSQLOptions()
        let database = { Database(address: ServerAddress(try StoreURL("postgresql://a/x")), location: "here", options: options) }
        options.busyTimeout = .seconds(60)
        #expect(try database().waitingForReaders.sql == "SET LOCAL lock_timeout = 10000")
        #expect(try database().waitingForWriters.sql == "SET LOCAL lock_timeout = 60000")
        options.responseTimeout = .milliseconds(50)
        #expect(try database().waitingForReaders.sql == "SET LOCAL lock_timeout = 25")
        #expect(try database().waitingForWriters.sql == "SET LOCAL lock_timeout = 25")
    }

    @Test func standbysOfAllHostsAreTriedFirst() throws {
        let address = ServerAddress(try StoreURL("postgresql://a,b/x?target_session_attrs=prefer-standby"))
        let tried = address.alternatives.map { alternative in
            ["host", "target_session_attrs"].compactMap { name in alternative.pairs.last { $0.0 == name }?.1 }
        }
        #expect(tried == [["a", "standby"], ["b", "standby"], ["a", "any"], ["b", "any"]])
    }

    @Test func unreachableServerIsAnError() throws {
        let url = try StoreURL("postgresql://user:topsecret@%2Fnowhere/db")
        let error = #expect(throws: StoreError.self) {
            try Connection(ServerAddress(url), location: "here", connectTimeout: .seconds(600), responseTimeout: nil)
        }
        #expect(error?.code == .io)
        #expect(error.map { "\($0)".contains("topsecret") } == false)
    }

    @Test(arguments: [
        ("40001", StoreError.Code.conflict, StoreError.Recovery.retryable), ("40P01", .conflict, .retryable),
        ("40003", .io, .commitOutcomeUnknown), ("08006", .io, .connectionLost), ("57P01", .io, .connectionLost),
        ("55P03", .busy, .timedOut), ("57014", .busy, .timedOut), ("53100", .full, .permanent), ("42501", .io, .permanent),
        ("25006", .readOnly, .permanent), ("23505", .constraint, .permanent), ("XX001", .corrupt, .permanent),
    ])
    func statesHaveCodes(_ state: String, _ code: StoreError.Code, _ recovery: StoreError.Recovery) {
        let error = StoreError(sqlState: state, text: "text", location: "here")
        #expect(error.code == code)
        #expect(error.recovery == recovery)
        #expect(error.sqlState == state)
    }
}
