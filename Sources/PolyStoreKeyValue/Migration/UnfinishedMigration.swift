/// Thrown if a transaction may not write because a migration of the store is in progress or was interrupted.
struct UnfinishedMigration: Error {}
