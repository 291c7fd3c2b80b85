import PolyStoreCore

/// The ids of the objects of a program.
typealias GraphIDs = [GraphKey: any GraphID]

/// The id of an object of any class.
protocol GraphID: Sendable {
    func fetchExisting(_ context: Context) throws -> (any Model)?
    func object(_ transaction: Transaction) throws -> any Model
    func delete(_ transaction: Transaction) throws
}

extension ObjectID: GraphID {
    func fetchExisting(_ context: Context) throws -> (any Model)? { try context.fetchExisting(self) }
    func object(_ transaction: Transaction) throws -> any Model { try transaction.object(with: self) }
    func delete(_ transaction: Transaction) throws { try transaction.delete(self) }
}
