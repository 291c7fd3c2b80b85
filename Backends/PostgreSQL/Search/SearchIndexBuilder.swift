import Foundation
import PolyStoreBackend
import PolyStoreQuery

/// Builds the full-text indexes that are not complete, in batches, while others read and write.
///
/// A batch is a transaction that holds the lock of the writers, and continues where the last one has ended, of this process or of another one. Writers maintain what is built. A batch
/// changes no object, so it does not increment the version of the store.
struct SearchIndexBuilder {
    let pool: ConnectionPool
    let logger: any StoreLogger

    /// The number of rows of a batch, which tests lower.
    var mostRows = 2_000
    /// The number of bytes of text after which a batch ends.
    private static let mostBytes = 4 << 20
    /// The times between two attempts after an error, and the longest time between two batches, in milliseconds.
    private static let pauses = (first: 1_000, longest: 60_000, batches: 50)

    /// Builds the indexes on a thread of its own, until they are complete or the store is closed.
    func runInBackground() {
        Thread.detachNewThread {
            do { try runPatiently() } catch {
                logger.write(
                    .notice,
                    "The full-text indexes of \(pool.location) are not complete, and the next opening continues to build them: \(error)")
            }
        }
    }

    /// Builds the indexes until they are complete or the store is closed. After an error that can pass it continues later.
    func runPatiently() throws {
        var pause = Self.pauses.first
        while !pool.isClosed {
            do { return try run() } catch let error as StoreError {
                if error.code == .closed || pool.isClosed { return }
                guard [.retryable, .connectionLost, .commitOutcomeUnknown, .timedOut].contains(error.recovery) || error.code == .busy else {
                    throw error
                }
                wait(pause)
                pause = min(2 * pause, Self.pauses.longest)
            }
        }
    }

    private func wait(_ milliseconds: Int) {
        var left = milliseconds
        while left > 0, !pool.isClosed {
            Deadline.pause(milliseconds: min(left, 200))
            left -= 200
        }
    }

    /// Builds all indexes that the store has.
    func run() throws {
        var counts: [UInt32: Int] = [:]
        while !pool.isClosed {
            let began = ContinuousClock.now
            guard let step = try step() else { return }
            let count = counts[step.index.number, default: 0] + step.count
            counts[step.index.number] = count
            pool.search.didBuild(step.index.number, count)
            if step.isLast {
                logger.write(
                    .notice,
                    "The index \(step.index.name(in: pool.tables.schema)) of \(pool.location) is complete: \(count) records were added.")
            }
            // Other threads of this process wait for the lock without an order.
            wait(min((ContinuousClock.now - began).inMilliseconds / 4, Self.pauses.batches))
        }
    }

    /// Adds the next objects to the first index that is not complete.
    /// - Returns: The index, the number of the objects, and whether they were the last ones; nil if all indexes are complete.
    func step() throws -> (index: StoredSearchIndex, count: Int, isLast: Bool)? {
        let transaction = try PostgreSQLWriteTransaction(pool)
        do {
            guard let searches = try transaction.searches(),
                let index = try searches.indexes.first(where: { try searches.set.state(of: $0) != .complete }),
                case .building(let last) = try searches.set.state(of: index)
            else {
                transaction.rollback()
                return nil
            }
            // Pages of an index that is built again, because they were damaged.
            if last == nil { try searches.storage.removePages(of: index) }
            let found = try add(index, after: last, transaction.session, searches)
            let tables = transaction.session.tables
            let state = Statement(
                "UPDATE \(tables.search) SET built = $2, \"isComplete\" = $3 WHERE \"index\" = $1",
                [.small(Int32(index.number)), (found.last ?? last).map { .integer($0) } ?? .null(.int8), .bool(found.isLast)])
            try transaction.commitIndexes(try searches.flush() + [state])
            return (index, found.count, found.isLast)
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Adds objects to an index in the order of their ids.
    private func add(
        _ index: StoredSearchIndex, after last: Int64?, _ session: Session, _ searches: SessionSearches
    ) throws -> (count: Int, last: Int64?, isLast: Bool) {
        let table = session.tables.entities[index.entity]
        let fields = Set(index.fields).sorted()
        let columns = ([SQLNames.objectID] + fields.map { table.columns[$0] }).joined(separator: ", ")
        let condition = last == nil ? "" : "WHERE \(SQLNames.objectID) > $2 "
        let stream = try session.stream(
            Statement(
                "SELECT \(columns) FROM \(table.name) \(condition)ORDER BY \(SQLNames.objectID) LIMIT $1",
                [.integer(Int64(mostRows))] + (last.map { [.integer($0)] } ?? [])))
        let reader = RowReader()
        var (count, bytes) = (0, 0)
        var end = last
        while bytes < Self.mostBytes {
            guard let rows = try session.ending({ try stream.next() }) else {
                return (count, end, count < mostRows)
            }
            guard let id = rows.integer(stream.row, 0) else { continue }
            bytes += try searches.set.build(index, id, try reader.read(rows, stream.row, table, fields: fields))
            count += 1
            end = id
        }
        stream.discard()
        return (count, end, false)
    }
}

extension PostgreSQLWriteTransaction {
    /// Commits changes of the full-text indexes that leave the objects as they are, and therefore the version too.
    func commitIndexes(_ statements: [Statement]) throws {
        let results = try session.ending { try run(statements + [.once("COMMIT")]) }
        guard results.last?.command == "COMMIT" else {
            throw StoreError(
                .conflict, "The server rolled the transaction of \(pool.location) back.", location: pool.location, recovery: .retryable)
        }
        finish()
    }
}
