/// The error that ends a dry run whose changes the stores would have accepted.
package struct DryRunCompleted: Error {}
