import PolyStoreBackend

/// Computes groups and aggregates over records of one store or of several, as they are read, without creating objects. This is the reference semantics for every
/// backend.
///
/// A `FieldAggregator` aggregates the records if all groups and operands are fields. Otherwise, the values of the expressions are written to temporary records.
public final class AggregateEvaluator {
    /// The receiver of the rows.
    private enum Input {
        /// Aggregates the fields of the rows.
        case fields(FieldAggregator)
        /// Receive the values of the expressions.
        case expressions(ExpressionAggregator)
    }

    private let request: AggregateRequest
    private let input: Input

    /// Creates an evaluator for a request to one store.
    public convenience init(_ request: AggregateRequest) throws { try self.init([request]) }

    /// Creates an evaluator for requests to several stores.
    /// - Parameter requests: A request for each store, at least one. They may differ only in field indexes, relationships and predicates.
    public init(_ requests: [AggregateRequest]) throws {
        request = requests[0]
        let isSame = requests.dropFirst().allSatisfy { [request] in $0.groupBy == request.groupBy && $0.aggregates == request.aggregates }
        if isSame, let fields = request.fieldGroups {
            input = .fields(FieldAggregator(request.entity, groupBy: fields, request.aggregates))
        } else {
            input = .expressions(try ExpressionAggregator(request))
        }
    }

    /// Adds every row of a cursor.
    /// - Parameters:
    ///   - cursor: The rows. The evaluator reads the cursor to its end.
    ///   - request: The request for the store of the rows.
    ///   - related: Looks up the related objects that the expressions refer to.
    public func add(_ cursor: RecordCursor, of request: AggregateRequest, _ related: any RelatedRecords) throws {
        switch input {
        case .fields(let aggregator): try aggregator.add(cursor)
        case .expressions(let aggregator): try aggregator.add(cursor, of: request, related)
        }
    }

    /// Returns the groups that satisfy `AggregateRequest.having`, in order, after offset and limit.
    /// - Parameter related: Looks up the related objects that `AggregateRequest.having` and the sort keys refer to.
    /// - Throws: `invalidValue` if a sum of integers overflows the widest type of the field.
    public func finish(_ related: (any RelatedRecords)?) throws -> [AggregateRow] {
        let all =
            switch input {
            case .fields(let aggregator): try aggregator.finish()
            case .expressions(let aggregator): try aggregator.finish()
            }
        return try GroupScan(all: all, of: request).completed(for: request, related)
    }
}
